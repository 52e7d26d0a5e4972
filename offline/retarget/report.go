package retarget

import (
	"fmt"
	"math"
	"slices"

	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

// Report says how well a clip fits its new skeleton. A joint's error is its distance to its source
// joint in the scaled source, in centimetres, for joints whose position is taken over.
type Report struct {
	Profile string  `json:"profile"`
	Frames  int     `json:"frames"`  // written
	Skipped int     `json:"skipped"` // at the start, showing the rest pose
	FPS     float64 `json:"fps"`

	Up       string `json:"up"`       // the source's axis that points up, one of mocap.Ups
	Ahead    string `json:"ahead"`    // the one nearest to where the person faces in the first frame: x, -x and so on; empty: unknown
	Mirrored bool   `json:"mirrored"` // the source's axes are left-handed, and x was turned round
	Basis    string `json:"basis"`    // what shows how the joints' frames are turned: "rest pose", "motion" or "profile"

	Scale    float64 `json:"scale"`     // metres of the target per unit of the source
	UnitM    float64 `json:"unit_m"`    // metres per unit of the source, from the profile or a guess; 0 if unknown
	LegRatio float64 `json:"leg_ratio"` // length of the target's legs over that of the source's; 0 if the unit is unknown

	MeanCM     float64 `json:"mean_cm"`
	WorstCM    float64 `json:"worst_cm"`
	WorstJoint string  `json:"worst_joint"` // of the target
	WorstFrame int     `json:"worst_frame"` // of the source, from 0
	CopiedCM   float64 `json:"copied_cm"`   // mean error of copied angles alone

	Ground       float64 `json:"ground_m"`        // height of the lowest joint in the lowest frames (5th percentile), m
	SourceGround float64 `json:"source_ground_m"` // the same of the scaled source's joints with a position

	Joints  []JointError `json:"joints"`
	Missing []string     `json:"missing"` // joints that the profile names and the source lacks

	// Of Open alone:
	Guessed []Pair        `json:"guessed,omitempty"` // the joints, if no built-in profile fits and they were guessed from their names
	Notes   []string      `json:"notes,omitempty"`   // what the reader passed over, each with file and line, and a guessed profile
	Faults  []mocap.Fault `json:"-"`                 // frames of the file that hardly show a person's motion
	FileFPS float64       `json:"-"`                 // frames per second of the file
}

// Remarks returns what people should know of the recording of the given name: the notes, a profile that was
// guessed, axes that were turned.
func (r *Report) Remarks(name string) []string {
	out := slices.Clone(r.Notes)
	if r.Guessed != nil {
		out = append(out, fmt.Sprintf("%s: no built-in profile fits; %d joints guessed from their names, see mannequin import --suggest", name, len(r.Guessed)))
	}
	if r.Up != "y" {
		out = append(out, name+": "+r.Up+" is up")
	}
	if r.Mirrored {
		out = append(out, name+": toes and knees point to the back by its left and right: its axes are left-handed, x was turned round")
	}
	return out
}

// FileFrame returns the frame of the file that frame f of the result shows.
func (r *Report) FileFrame(f int) int {
	return int(math.Round(float64(f+r.Skipped) * r.FileFPS / r.FPS))
}

// JointError is the error of one joint over the clip.
type JointError struct {
	Joint   string  `json:"joint"`  // of the target
	Source  string  `json:"source"` // its joint of the source
	MeanCM  float64 `json:"mean_cm"`
	WorstCM float64 `json:"worst_cm"`
	Frame   int     `json:"worst_frame"` // of the source, from 0
	Pull    float64 `json:"pull"`        // share of the way from copied angles to its position, 0 to 1
}

// errors returns the distances from out to goals, in metres, from the first frame written.
func (w *work) errors() []JointError {
	n, k := w.out.Frames, len(w.joints)
	errs := make([]JointError, k)
	for i, j := range w.joints {
		errs[i] = JointError{Joint: w.target.Names[j], Source: w.source.Names[w.from[j]]}
	}
	fk := make([]m3.Xform, w.target.Len())
	for f := range n {
		w.out.Model(fk, f)
		for i, j := range w.joints {
			d := float64(fk[j].Pos.Dist(w.goals[f*k+i]))
			errs[i].MeanCM += d / float64(n)
			if d > errs[i].WorstCM {
				errs[i].WorstCM, errs[i].Frame = d, f
			}
		}
	}
	return errs
}

func meanOf(errs []JointError) (mean float64) {
	for _, e := range errs {
		mean += e.MeanCM / float64(len(errs))
	}
	return mean
}

// report measures the result. copied is the mean error of copied angles in metres, pull the
// result of pulls, skipped the number of frames left out.
func (w *work) report(copied float64, pull []float32, skipped int) *Report {
	r := &Report{Profile: w.job.Profile.Name, Frames: w.out.Frames, Skipped: skipped, FPS: w.out.FPS, Up: w.up, Ahead: w.ahead, Mirrored: w.mirror, Basis: w.basis,
		Scale: float64(w.scale), UnitM: w.metres(), CopiedCM: 100 * copied, Joints: w.errors(), Missing: w.missing}
	if r.UnitM > 0 {
		r.LegRatio = r.Scale / r.UnitM
	}
	if r.Missing == nil {
		r.Missing = []string{}
	}
	for i := range r.Joints {
		e := &r.Joints[i]
		e.MeanCM, e.WorstCM, e.Frame, e.Pull = 100*e.MeanCM, 100*e.WorstCM, e.Frame+skipped, float64(pull[i])
		if e.WorstCM > r.WorstCM || r.WorstJoint == "" {
			r.WorstCM, r.WorstJoint, r.WorstFrame = e.WorstCM, e.Joint, e.Frame
		}
	}
	r.MeanCM = meanOf(r.Joints)
	r.Ground, r.SourceGround = w.grounds()
	return r
}

// grounds returns the height of the lowest joint with a position in the lowest
// frames, of the result and of the scaled source.
func (w *work) grounds() (ours, theirs float64) {
	k := len(w.joints)
	var low [2][]float32
	fk := make([]m3.Xform, w.target.Len())
	for f := range w.out.Frames {
		w.out.Model(fk, f)
		a, b := fk[w.joints[0]].Pos.Y, w.goals[f*k].Y
		for i, j := range w.joints {
			a, b = min(a, fk[j].Pos.Y), min(b, w.goals[f*k+i].Y)
		}
		low[0], low[1] = append(low[0], a), append(low[1], b)
	}
	slices.Sort(low[0])
	slices.Sort(low[1])
	at := w.out.Frames / 20
	return float64(low[0][at]), float64(low[1][at])
}

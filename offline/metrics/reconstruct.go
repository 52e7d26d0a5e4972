package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
)

// Reconstruction is the error of an autoencoder of motion on one clip.
type Reconstruction struct {
	Clip    string  `json:"clip"`
	Frames  int     `json:"frames"`
	Speed   float64 `json:"speed_m_s"`    // mean speed of the body
	RMS     float64 `json:"rms_cm"`       // distance of joints, over frames and joints
	Worst   float64 `json:"worst_cm"`     // largest distance
	Joint   string  `json:"worst_joint"`  //
	Bone    float64 `json:"bone_percent"` // mean change of bone lengths
	Body    float64 `json:"body_mps"`     // mean error of the body's velocity, m/s
	Yaw     float64 `json:"yaw_deg_s"`    // mean error of its turn rate, degrees/s
	Contact float64 `json:"contact"`      // share of correct contacts
}

// Reconstruct runs rows, (frames, columns) raw, through the autoencoder. Positions are compared in
// the body's own frame. An odd last frame is left out.
func Reconstruct(m *manifold.Model, clip string, rows []float32, workers int) (Reconstruction, error) {
	cols, l := m.Layout.Columns(), m.Layout
	frames := len(rows) / cols &^ 1
	if frames == 0 {
		return Reconstruction{}, fmt.Errorf("metrics: %s has less than two frames", clip)
	}
	x := rows[:frames*cols]
	y, err := m.Project(x, workers)
	if err != nil {
		return Reconstruction{}, err
	}
	r := Reconstruction{Clip: clip, Frames: frames}
	var worst, bone, right float64
	bones := m.Bones()
	for f := range frames {
		a, b := x[f*cols:][:cols], y[f*cols:][:cols]
		for j, name := range l.Joints {
			d := 0.0
			for k := range 3 {
				e := float64(a[l.Pos(j)+k] - b[l.Pos(j)+k])
				d += e * e
			}
			if d > worst {
				worst, r.Joint = d, name
			}
		}
		for _, k := range bones {
			d := 0.0
			for i := range 3 {
				e := float64(b[l.Pos(k.From)+i] - b[l.Pos(k.To)+i])
				d += e * e
			}
			bone += math.Abs(math.Sqrt(d)/float64(k.Length) - 1)
		}
		at := l.Body()
		r.Body += math.Hypot(float64(a[at+feature.MotionX]-b[at+feature.MotionX]), float64(a[at+feature.MotionZ]-b[at+feature.MotionZ]))
		r.Yaw += math.Abs(float64(a[at+feature.MotionYaw]-b[at+feature.MotionYaw])) * 180 / math.Pi
		for i := range l.Contacts {
			if (a[l.Contact(i)] > 0.5) == (b[l.Contact(i)] > 0.5) {
				right++
			}
		}
	}
	n := float64(frames)
	r.RMS, r.Worst, r.Speed = JointRMS(l, y, x), 100*math.Sqrt(worst), l.MeanSpeed(x)
	r.Bone = 100 * bone / n / float64(max(1, len(bones)))
	r.Body, r.Yaw, r.Contact = r.Body/n, r.Yaw/n, right/n/float64(max(1, len(l.Contacts)))
	return r, nil
}

// JointRMS returns the root mean square distance between the joints of two motions, (frames,
// columns) of l each, in the body's own frame, cm.
func JointRMS(l *feature.Motion, a, b []float32) float64 {
	cols := l.Columns()
	frames := len(a) / cols
	square := 0.0
	for f := range frames {
		for k := range l.Body() {
			d := float64(a[f*cols+k] - b[f*cols+k])
			square += d * d
		}
	}
	return 100 * math.Sqrt(square/float64(max(1, frames*len(l.Joints))))
}

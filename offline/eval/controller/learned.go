package controller

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Learned compares the poses of networks with the recordings that they have learned: mean distances of joints in the space
// of the root, m, and the memory of both, bytes.
type Learned struct {
	Pose     float64    `json:"pose"`    // of recorded states
	Stepped  [3]float64 `json:"stepped"` // as many ticks after these, as the stepper goes on
	Root     float64    `json:"root"`    // of the root, after the last of these
	Found    float64    `json:"found"`   // of the states that the projector finds for the features of frames
	Networks int        `json:"networks"`
	Database int        `json:"database"`
}

// steppedTicks are those after which poses are compared.
var steppedTicks = [...]int{6, 20, 60}

// MeasureLearned compares on the recordings' own trajectories. latent are the latent values of the database's frames.
func MeasureLearned(d *matching.Database, l *matching.Learned, latent []float32) (out Learned, err error) {
	const most = 2000 // frames
	n, cols := l.Networks(), l.Columns()
	state := cols + l.Latent()
	if len(latent) != d.Frames()*l.Latent() {
		return out, fmt.Errorf("controller: %d latent values of %d frames", len(latent), d.Frames())
	}
	var frames []int
	last := steppedTicks[len(steppedTicks)-1]
	for i := 0; i < d.Frames(); i += max(1, d.Frames()/most) {
		at := i
		for k := 0; k < last && at >= 0; k++ {
			at = d.Next(at)
		}
		if at >= 0 {
			frames = append(frames, i)
		}
	}
	if len(frames) == 0 {
		return out, fmt.Errorf("controller: all clips are shorter than a second")
	}
	// run returns what a network makes of x, valid until it runs again.
	sessions, outputs := map[*netruntime.Net]netruntime.Session{}, map[*netruntime.Net][]float32{}
	for _, net := range [...]*netruntime.Net{n.Decompressor, n.Stepper, n.Projector} {
		s, err := net.NewSession(netruntime.SessionOptions{Batch: len(frames), Workers: 1})
		if err != nil {
			return out, err
		}
		defer s.Close()
		sessions[net], outputs[net] = s, make([]float32, len(frames)*net.Outputs())
	}
	run := func(net *netruntime.Net, x []float32) []float32 {
		err = cmp.Or(err, sessions[net].Run(outputs[net], x, len(frames)))
		return outputs[net]
	}
	query := make([]float32, len(frames)*n.Projector.Inputs())
	var states []float32
	for i, f := range frames {
		q := query[i*n.Projector.Inputs():][:n.Projector.Inputs()]
		d.AppendFeatures(q[:0], f)
		must, _ := d.Wanted(d.TagsOf(f))
		matching.WriteTags(q[cols:], must)
		states = append(d.AppendFeatures(states, f), latent[f*l.Latent():(f+1)*l.Latent()]...)
	}
	at := slices.Clone(frames)
	out.Found = poseDistance(d, l, at, run(n.Decompressor, run(n.Projector, query)))
	out.Pose = poseDistance(d, l, at, run(n.Decompressor, states))
	roots, was := slices.Repeat([]m3.Xform{{Rot: m3.Ident}}, len(frames)), slices.Repeat([]m3.Xform{{Rot: m3.Ident}}, len(frames))
	for tick := 1; tick <= last && err == nil; tick++ {
		change := run(n.Stepper, states)
		for i, f := range at {
			c := change[i*(state+3):][:state+3]
			for k := range state {
				states[i*state+k] += c[k]
			}
			dx, dz, yaw := d.Move(f)
			roots[i], was[i] = moved(roots[i], c[state], c[state+1], c[state+2]), moved(was[i], dx, dz, yaw)
			at[i] = d.Next(f)
		}
		if k := slices.Index(steppedTicks[:], tick); k >= 0 {
			out.Stepped[k] = poseDistance(d, l, at, run(n.Decompressor, states))
		}
	}
	for i, r := range roots {
		out.Root += float64(r.Pos.Dist(was[i].Pos)) / float64(len(roots))
	}
	out.Networks, out.Database = l.Bytes(), d.Bytes()
	return out, err
}

// Plays returns Subject.New of what a file plays.
func Plays(f *matching.File) func(capacity int) (generator.Generator[control.Goal], error) {
	return func(n int) (generator.Generator[control.Goal], error) {
		return f.NewStream(matching.StreamOptions{Capacity: n, Workers: 1})
	}
}

func moved(x m3.Xform, dx, dz, yaw float32) m3.Xform {
	return x.Mul(m3.Xform{Pos: m3.V(dx, 0, dz), Rot: m3.YawQuat(yaw)})
}

// poseDistance returns the mean distance of the joints of outputs of the decompressor from those of frames.
func poseDistance(d *matching.Database, l *matching.Learned, frames []int, y []float32) float64 {
	n, outputs := d.Skel.Len(), len(y)/len(frames)
	pos, rot, scratch := make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Quat, n)
	a, b := make([]m3.Xform, n), make([]m3.Xform, n)
	var sum float64
	for i, f := range frames {
		l.Pose(y[i*outputs:][:outputs], pos, rot, scratch)
		d.Skel.LocalToModel(a, pos, rot)
		d.Pose(f, pos, rot)
		d.Skel.LocalToModel(b, pos, rot)
		for j := range a {
			sum += float64(a[j].Pos.Dist(b[j].Pos))
		}
	}
	return sum / float64(n*len(frames))
}

// Print writes the table. size is the metres of a unit of the skeleton's.
func (r *Learned) Print(w io.Writer, size float32) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	cm := func(v float64) float64 { return 100 * v * float64(size) }
	fmt.Fprintf(t, "joints beside the recordings\t%.1f cm\tafter %.1f, %.1f and %.1f s: %.1f, %.1f and %.1f cm\n", cm(r.Pose),
		float64(steppedTicks[0])/matching.TickRate, float64(steppedTicks[1])/matching.TickRate, float64(steppedTicks[2])/matching.TickRate,
		cm(r.Stepped[0]), cm(r.Stepped[1]), cm(r.Stepped[2]))
	fmt.Fprintf(t, "found by features\t%.1f cm\n", cm(r.Found))
	fmt.Fprintf(t, "memory\t%.1f MB\tthe recordings' %.1f MB\n", float64(r.Networks)/1e6, float64(r.Database)/1e6)
	return t.Flush()
}

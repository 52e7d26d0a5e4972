package dataset

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Replay returns the motion in the outputs of rows from to to−1, as a clip in metres at
// the rows' rate, 60 frames per second with a stride of 1. Frame k is the recording's frame
// a stride after Frame[from+k]. The rows must follow each other within one recording (see
// Runs). The root of the first row's own frame is the origin, facing +Z. Rotations come
// from the bones' axes and positions from the skeleton's bone lengths.
func (m *MANN) Replay(from, to int) *skel.Clip {
	c := skel.NewClip(m.Skeleton, m.rate(), to-from)
	model := make([]m3.Xform, m.Skeleton.Len())
	root := ground{fz: 1}
	for k := range c.Frames {
		y := m.Output(from + k)
		yaw := math.Atan2(root.fx, root.fz)
		place := m3.Xform{Pos: m3.V(float32(root.px), 0, float32(root.pz)), Rot: m3.YawQuat(float32(yaw))}
		for b := range model {
			v := y[m.Layout.OutBone(b):]
			at := func(k int) m3.Vec3 { return m3.V(v[k], v[k+1], v[k+2]) }
			model[b] = place.Mul(m3.Xform{
				Pos: at(feature.BonePos),
				Rot: m3.LookRotation(at(feature.BoneForward), at(feature.BoneUp)),
			})
		}
		pos, rot := c.Frame(k)
		m.Skeleton.ModelToLocal(pos, rot, model)
		copy(pos[1:], m.Skeleton.Offsets[1:])
		root = root.moved(y[m.Layout.OutRoot():], m.rate())
	}
	return c
}

func (m *MANN) rate() float64 { return fps / float64(m.Layout.Step()) }

// moved returns g after a row's step, 1/rate s, of the motion in its root output.
func (g ground) moved(out []float32, rate float64) ground {
	dx, dz := float64(out[feature.RootX])/rate, float64(out[feature.RootZ])/rate
	s, c := math.Sincos(float64(out[feature.RootYaw]) / rate * math.Pi / 180)
	return ground{
		px: g.px + dx*g.fz + dz*g.fx, pz: g.pz - dx*g.fx + dz*g.fz,
		fx: g.fx*c + g.fz*s, fz: g.fz*c - g.fx*s,
	}
}

// Runs returns the runs of consecutive rows within one recording, without mirrored ones,
// each as its first row and the one after its last.
func (m *MANN) Runs() [][2]int {
	var runs [][2]int
	for r := range m.Rows / 2 {
		if r > 0 && m.Clip[r] == m.Clip[r-1] && int(m.Frame[r]-m.Frame[r-1]) == m.Layout.Step() {
			runs[len(runs)-1][1]++
		} else {
			runs = append(runs, [2]int{r, r + 1})
		}
	}
	return runs
}

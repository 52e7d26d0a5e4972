package controller

import (
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// poses are joints of many poses, relative to the middle of their joints on the ground.
type poses struct {
	joints int
	at     []m3.Vec3 // (poses, joints)
}

func (p *poses) add(bones []m3.Xform) {
	p.joints = len(bones)
	var middle m3.Vec3
	for _, x := range bones {
		middle = middle.Add(x.Pos)
	}
	middle = middle.Scale(1 / float32(len(bones))).Flat()
	for _, x := range bones {
		p.at = append(p.at, x.Pos.Sub(middle))
	}
}

func (p *poses) len() int { return len(p.at) / max(p.joints, 1) }

func (p *poses) of(i int) []m3.Vec3 { return p.at[i*p.joints:][:p.joints] }

// sampled returns at most about n poses of clips, evenly.
func sampled(clips []*skel.Clip, n int) (p poses) {
	frames := 0
	for _, c := range clips {
		frames += c.Frames
	}
	every := max(1, frames/n)
	for _, c := range clips {
		model := make([]m3.Xform, c.Skel.Len())
		for f := 0; f < c.Frames; f += every {
			c.Model(model, f)
			p.add(model)
		}
	}
	return p
}

// distance returns the mean distance of the joints of two poses, m, turned about the vertical so that they fit best.
func distance(a, b []m3.Vec3) float32 {
	var along, across float32
	for i, p := range a {
		q := b[i]
		along += p.X*q.X + p.Z*q.Z
		across += p.X*q.Z - p.Z*q.X
	}
	sin, cos := float32(0), float32(1)
	if l := m3.Sqrt(along*along + across*across); l > 0 {
		sin, cos = across/l, along/l
	}
	var sum float32
	for i, p := range a {
		x, z := cos*p.X-sin*p.Z, sin*p.X+cos*p.Z
		sum += b[i].Sub(m3.V(x, p.Y, z)).Len()
	}
	return sum / float32(len(a))
}

// beside returns the mean distance of poses from the nearest of the clips', m, and the share of the clips' poses that have
// one of these within reach.
func (p *poses) beside(clips *poses, reach float32) (mean, covered float64) {
	n := clips.len()
	if p.len() == 0 || n == 0 {
		return 0, 0
	}
	near := make([]bool, n)
	for i := range p.len() {
		least := float32(math.Inf(1))
		for k := range n {
			d := distance(clips.of(k), p.of(i))
			near[k] = near[k] || d < reach
			least = min(least, d)
		}
		mean += float64(least) / float64(p.len())
	}
	for _, is := range near {
		if is {
			covered += 1 / float64(n)
		}
	}
	return mean, covered
}

package procgen

import (
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// Take is a clip of motion and its parts.
type Take struct {
	Name   string
	Clip   *skel.Clip // metres, 60 frames per second, flat ground at height 0
	Parts  []Part     // stretches of one gait or action, without transitions
	labels []label
}

func (tl *timeline) finish(name string) *Take {
	w := newWalker(tl)
	c := skel.NewClip(Skeleton(), fps, w.frames)
	w.tail()
	for f := range w.frames {
		p := w.pose(f)
		w.swing(&p, f)
		pos, rot := c.Frame(f)
		pos[0] = p.root
		for j := range rot {
			if parent := c.Skel.Parents[j]; parent >= 0 {
				rot[j] = p.rot[parent].Conj().Mul(p.rot[j]).Normalize()
			} else {
				rot[j] = p.rot[j]
			}
			if c.Skel.EndSite[j] {
				rot[j] = m3.Ident
			}
		}
	}
	return &Take{Name: name, Clip: c, Parts: tl.parts, labels: tl.labels}
}

// spring is an angle that follows a goal with delay and overshoot.
type spring struct{ x, v float64 }

// to moves the spring toward goal for a time dt, at natural frequency hz and damping ratio zeta.
func (s *spring) to(goal, hz, zeta, dt float64) {
	w := smooth.Tau * hz
	const sub = 8
	for range sub {
		a := w*w*(goal-s.x) - 2*zeta*w*s.v
		s.v += a * dt / sub
		s.x += s.v * dt / sub
	}
}

// tail puts the tail at rest for the first frame.
func (w *walker) tail() {
	tr := w.trunk(0)
	w.tailSprings[0].x, w.tailSprings[1].x = yawOf(tr.pelvis), w.param(tailPitch, 0)
	w.wag = smooth.NewNoise(w.tl.rng, 0.6)
}

func yawOf(q m3.Quat) float64 {
	d := q.Forward()
	return math.Atan2(float64(d.X), float64(d.Z))
}

// swing adds the tail, which follows the pelvis with a delay.
func (w *walker) swing(p *pose, f int) {
	t := float64(f) / fps
	tr := w.trunk(f)
	d := tr.pelvis.Forward()
	yaw := yawOf(tr.pelvis)
	// The goal turns as many full turns as the heading.
	yaw += smooth.Tau * math.Round((w.tailSprings[0].x-yaw)/smooth.Tau)
	up := -math.Asin(float64(d.Y)) * 0.3
	w.tailSprings[0].to(yaw+0.10*w.wag.At(t), 1.6, 0.45, 1.0/fps)
	w.tailSprings[1].to(w.param(tailPitch, t)+up*(1-w.param(heel, t)), 1.8, 0.5, 1.0/fps)
	// Straight back is 0 and hanging is below, but never into the ground.
	base := p.root.Add(p.rot[hips].Rotate(m3.V(tailBehind, 0, 0)))
	first := aboveGround(w.tailSprings[1].x, float64(base.Y))
	second := aboveGround(first+w.param(tailCurl, t), float64(base.Y)+tailLen*math.Sin(first))
	lag := wrapAngle(w.tailSprings[0].x - yaw)
	p.rot[tail] = turned(yaw+0.6*lag, -first, 0).Mul(pelvisFrame)
	p.rot[tail1] = turned(yaw+1.7*lag, -second, 0).Mul(pelvisFrame)
	p.rot[tail1Site] = p.rot[tail1]
}

// aboveGround returns the pitch of a tail bone from a height, raised until its end is above ground.
func aboveGround(pitch, height float64) float64 {
	const least, soft = 0.025, 0.08
	lowest := math.Asin(min(max((least-height)/tailLen, -1), 1))
	return lowest + soft*math.Log1p(math.Exp((pitch-lowest)/soft))
}

func wrapAngle(x float64) float64 { return smooth.Tau * wrap(x/smooth.Tau) }

package procgen

import (
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Take is a clip of motion and what happens in it.
type Take struct {
	Name   string
	Clip   *skel.Clip // metres, 60 frames per second, flat ground at height 0
	Parts  []Part     // stretches of one gait or action, without transitions
	labels []label
}

// finish poses the timeline.
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

// spring is an angle that follows a goal with some delay and swing.
type spring struct{ x, v float64 }

// to moves the spring toward goal for a time dt, at natural frequency hz and
// damping ratio zeta.
func (s *spring) to(goal, hz, zeta, dt float64) {
	w := tau * hz
	const sub = 8
	for range sub {
		a := w*w*(goal-s.x) - 2*zeta*w*s.v
		s.v += a * dt / sub
		s.x += s.v * dt / sub
	}
}

// tail lets the tail come to rest for the first frame.
func (w *walker) tail() {
	tr := w.trunk(0)
	w.swish[0].x, w.swish[1].x = yawOf(tr.pelvis), w.param(tailPitch, 0)
	w.wag = newNoise(w.tl.rng, 0.6)
}

func yawOf(q m3.Quat) float64 {
	d := q.Forward()
	return math.Atan2(float64(d.X), float64(d.Z))
}

// swing adds the tail, which follows the pelvis late.
func (w *walker) swing(p *pose, f int) {
	t := float64(f) / fps
	tr := w.trunk(f)
	d := tr.pelvis.Forward()
	yaw := yawOf(tr.pelvis)
	// The goal winds as far as the heading did.
	yaw += tau * math.Round((w.swish[0].x-yaw)/tau)
	up := -math.Asin(float64(d.Y)) * 0.3
	w.swish[0].to(yaw+0.10*w.wag.at(t), 1.6, 0.45, 1.0/fps)
	w.swish[1].to(w.param(tailPitch, t)+up*(1-w.param(heel, t)), 1.8, 0.5, 1.0/fps)
	// Straight back is 0, hanging is below; but not into the ground.
	base := p.root.Add(p.rot[hips].Rotate(m3.V(tailBehind, 0, 0)))
	first := aloft(w.swish[1].x, float64(base.Y))
	second := aloft(first+w.param(tailCurl, t), float64(base.Y)+tailLen*math.Sin(first))
	lag := wrapAngle(w.swish[0].x - yaw)
	p.rot[tail] = turned(yaw+0.6*lag, -first, 0).Mul(pelvisFrame)
	p.rot[tail1] = turned(yaw+1.7*lag, -second, 0).Mul(pelvisFrame)
	p.rot[tail1Site] = p.rot[tail1]
}

// aloft returns the pitch of a tail bone that begins at a height, raised as far
// as its end needs to stay above the ground.
func aloft(pitch, height float64) float64 {
	const least, soft = 0.025, 0.08
	lowest := math.Asin(min(max((least-height)/tailLen, -1), 1))
	return lowest + soft*math.Log1p(math.Exp((pitch-lowest)/soft))
}

func wrapAngle(x float64) float64 { return tau * wrap(x/tau) }

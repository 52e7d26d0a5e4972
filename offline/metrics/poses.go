package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Poses are the recorded poses of an action. A motion close to one has reached the action.
type Poses struct {
	Action control.Action
	// Spread is the distance within which nine of ten poses have one of another recording, m: at
	// least 3 cm, because procedural dogs all sit alike. A jump's poses are all poses in the air;
	// its spread is 0.
	Spread float64
	Frames int

	joints int
	pos    []m3.Vec3 // (n, joints) seen from the root
	clip   []int32   // (n) the recording
}

// posePlace writes frame f's joints, seen from the ground under joint 0, facing the joint neck.
func posePlace(dst []m3.Vec3, model []m3.Xform, c *skel.Clip, f, neck int) {
	c.Model(model, f)
	at := model[0].Pos.Flat()
	turn := m3.YawQuat(-m3.YawOf(model[neck].Pos.Sub(model[0].Pos)))
	for j, x := range model {
		dst[j] = turn.Rotate(x.Pos.Sub(at))
	}
}

func poseGap(a, b []m3.Vec3) float64 {
	var sum float32
	for j := range a {
		d := a[j].Sub(b[j])
		sum += d.Dot(d)
	}
	return math.Sqrt(float64(sum) / float64(len(a)))
}

const (
	held     = 10   // frames to either side with the action at full weight
	stillWay = 0.02 // m: the most that hips and neck move over held frames
	airborne = 0.05 // m: the least height of all joints in a jump
	leastGap = 0.03 // m: too small to see
	poseStep = 4    // frames between poses
)

// ActionPoses collects the poses of sit, lie, stand, idle and jump (in the air) from recordings and
// their mirror images. Except for jumps, they are held: at full weight for a while, and still.
func ActionPoses(sets ...*dataset.MANN) ([control.NumActions]*Poses, error) {
	var out [control.NumActions]*Poses
	clips := int32(0)
	for _, set := range sets {
		neck, err := neckOf(set.Skeleton)
		if err != nil {
			return out, err
		}
		model, pose := make([]m3.Xform, set.Skeleton.Len()), make([]m3.Vec3, set.Skeleton.Len())
		mirror, err := skel.NewMirror(set.Skeleton)
		if err != nil {
			return out, fmt.Errorf("metrics: %w", err)
		}
		jump := slices.Index(set.Layout.Actions, control.Jump.String())
		for _, run := range set.Runs() {
			c := set.Replay(run[0], run[1])
			full := fullActions(set, run[0], c.Frames)
			for f := held; f+held < c.Frames; f += poseStep {
				a := full[f]
				if x := set.Input(run[0] + f)[set.Layout.InActions(feature.TrajNow):]; jump >= 0 && x[jump] > 0 {
					a = control.Jump // labels fade before the dog has landed
				}
				if a == control.NumActions || a == control.Move {
					continue
				}
				posePlace(pose, model, c, f, neck)
				other := func(b control.Action) bool { return b != a }
				switch {
				case a == control.Jump && lowestOf(pose) < airborne:
					continue
				case a != control.Jump && (slices.ContainsFunc(full[f-held:f+held+1], other) || !still(c, model, f, neck)):
					continue
				}
				p := out[a]
				if p == nil {
					p = &Poses{Action: a, joints: len(pose)}
					out[a] = p
				}
				p.pos = append(p.pos, pose...)
				for _, q := range mirror.Pair {
					p.pos = append(p.pos, m3.V(-pose[q].X, pose[q].Y, pose[q].Z))
				}
				p.clip = append(p.clip, clips+set.Clip[run[0]], clips+set.Clip[run[0]])
			}
		}
		clips += int32(len(set.Clips))
	}
	for _, p := range out {
		if p != nil {
			p.Frames = len(p.clip)
			p.spread()
		}
	}
	return out, nil
}

// fullActions returns the action at full weight in each row from first on; NumActions: none.
func fullActions(set *dataset.MANN, first, rows int) []control.Action {
	full := make([]control.Action, rows)
	for r := range full {
		a, w := rowAction(set, first+r)
		if full[r] = a; w < 1 {
			full[r] = control.NumActions
		}
	}
	return full
}

// still reports whether hips and neck hardly move around frame f of c.
func still(c *skel.Clip, model []m3.Xform, f, neck int) bool {
	c.Model(model, f-held/2)
	a, b := model[0].Pos, model[neck].Pos
	c.Model(model, f+held/2)
	return max(a.Dist(model[0].Pos), b.Dist(model[neck].Pos)) < stillWay
}

func lowestOf(pose []m3.Vec3) float32 {
	return slices.MinFunc(pose, func(a, b m3.Vec3) int { return cmp.Compare(a.Y, b.Y) }).Y
}

// spread sets Spread. If there is only one recording, its poses are compared with each other.
func (p *Poses) spread() {
	if p.Action == control.Jump {
		return
	}
	alone := !slices.ContainsFunc(p.clip, func(c int32) bool { return c != p.clip[0] })
	var gaps []float64
	for i := 0; i < len(p.clip); i += 8 {
		best := math.Inf(1)
		for k, c := range p.clip {
			if c != p.clip[i] || alone && k != i {
				best = min(best, poseGap(p.at(i), p.at(k)))
			}
		}
		gaps = append(gaps, best)
	}
	p.Spread = max(Quantile(gaps, 0.9), leastGap)
}

func (p *Poses) at(i int) []m3.Vec3 { return p.pos[i*p.joints : (i+1)*p.joints] }

// gap returns a pose's distance from the nearest of p, m; in a jump, what its lowest joint lacks.
func (p *Poses) gap(pose []m3.Vec3) float64 {
	if p.Action == control.Jump {
		return max(airborne-float64(lowestOf(pose)), 0)
	}
	best := math.Inf(1)
	for i := range p.clip {
		best = min(best, poseGap(pose, p.at(i)))
	}
	return best
}

func (p *Poses) gaps(c *skel.Clip) []float64 {
	neck := c.Skel.Index("Neck")
	model, pose, out := make([]m3.Xform, c.Skel.Len()), make([]m3.Vec3, c.Skel.Len()), make([]float64, c.Frames)
	for f := range out {
		posePlace(pose, model, c, f, neck)
		out[f] = p.gap(pose)
	}
	return out
}

// Quantile returns the value that a share q of v does not exceed. It sorts v.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return v[int(q*float64(len(v)-1)+0.5)]
}

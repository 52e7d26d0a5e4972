package clipset

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/label"
)

const (
	strideMin   = FPS * 2 / 5 // frames of a stride
	strideMax   = FPS * 8 / 5
	strideStray = 0.25 // rad by which a recorded one may turn, or go aside
)

// stride returns a loop of a slow walk straight ahead, of one stride: a loop of the set, or the stride of a recording that ends
// most as it begins. It is nil if there is none.
func (s *Set) stride() (best *Clip, err error) {
	usual := s.slowWalk()
	off := func(c *Clip) float64 { return math.Abs(math.Log(s.goes(c) / usual)) }
	for i := range s.Clips {
		c := &s.Clips[i]
		if c.made || !c.Loop || c.mostly() != label.Move || !s.steps(c.Motion) || best != nil && off(c) >= off(best) {
			continue
		}
		ways, _, err := s.ways(c)
		if err != nil {
			return nil, err
		}
		if ways[0] == wayAhead && math.Abs(s.turned(c.Motion, 0, c.Motion.Frames-1)) < strideStray {
			best = c
		}
	}
	if best != nil {
		out := *best
		return &out, nil
	}
	return s.recordedStride()
}

// strides cuts a stride out of each recording that walks, at about its own speed.
func (s *Set) strides() (out []Clip) {
	for i := range s.Clips {
		if c := &s.Clips[i]; !c.Loop && c.mostly() == label.Move {
			if stride, err := s.strideNear(s.Clips[i:i+1], s.goes(c), ownSpeed); stride != nil && err == nil {
				stride.made, stride.Actions = true, slices.Repeat([]string{label.Move}, stride.Motion.Frames)
				out = append(out, *stride)
			}
		}
	}
	return out
}

// recordedStride cuts a stride of a slow walk out of a recording, or of one that is faster or slower if there is none.
func (s *Set) recordedStride() (best *Clip, err error) {
	for _, off := range [...]float64{ownSpeed, 2.5} {
		if best, err = s.strideNear(s.Clips, s.slowWalk(), off); best != nil || err != nil {
			break
		}
	}
	return best, err
}

// ownSpeed is the factor by which a stride may be faster or slower than it should.
const ownSpeed = 1.4

// strideNear cuts a stride at a speed, m/s, times or divided by a factor at most, out of recordings.
func (s *Set) strideNear(clips []Clip, usual, off float64) (*Clip, error) {
	const (
		every = 3   // frames between those at which strides begin
		ahead = 0.1 // s by which velocities count
	)
	least := math.Inf(1)
	var best *skel.Clip
	var of *Clip
	var at int
	for i := range clips {
		c := &clips[i]
		walks, roots, err := s.walking(c)
		if err != nil {
			return nil, err
		}
		if slices.Max(walks) <= strideMin {
			continue
		}
		joints := s.Skel.Len()
		var poses []m3.Vec3 // (frames, joints) seen from the root
		for f := range c.Motion.Frames {
			poses = append(poses, s.seen(c.Motion, f)...)
		}
		for from := 0; from < c.Motion.Frames; from += every {
			for to := from + strideMin; to < from+min(walks[from], strideMax); to++ {
				v, turn := course(roots, from, to)
				speed, seconds := float64(v.Len()), float32(to-from)/FPS
				if speed < usual/off || speed > usual*off || m3.Abs(turn*seconds) > strideStray || m3.Abs(v.X) > strideStray*v.Len() {
					continue
				}
				a, b := poses[from*joints:][:2*joints], poses[to*joints:][:2*joints]
				var apart float64
				for j := range joints {
					moves, comes := a[joints+j].Sub(a[j]), b[joints+j].Sub(b[j])
					apart += float64(a[j].Dist(b[j])) + ahead*FPS*float64(moves.Dist(comes))
				}
				if apart >= least {
					continue
				}
				if loop := s.closed(c.Motion, from, to); s.steps(loop) {
					least, best, of, at = apart, loop, c, from
				}
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	out := *of
	out.Name, out.Motion, out.Loop = fmt.Sprintf("%s at %.2f s", of.Name, float64(at)/FPS), best, true
	return &out, nil
}

// walking returns for how many frames a recording walks ahead from each frame on, and its roots.
func (s *Set) walking(c *Clip) (out []int, roots []feature.Place, err error) {
	out = make([]int, c.Motion.Frames+1)
	if c.Loop {
		return out, nil, nil
	}
	ways, roots, err := s.ways(c)
	for i, way := range slices.Backward(ways) {
		if f := i + wayWindow; way == wayAhead && c.Actions[f] == label.Move {
			out[f] = out[f+1] + 1
		}
	}
	return out, roots, err
}

// steps reports whether at least three feet of four stand in a loop, and not all the time.
func (s *Set) steps(c *skel.Clip) bool {
	step := 0
	for _, all := range s.stances(c) {
		if len(all) > 0 {
			step++
		}
	}
	legs := len(s.Roles.Legs)
	return step >= legs-legs/4
}

// closed returns frames of a clip as a loop that goes straight: what its ends differ by is spread over all frames.
func (s *Set) closed(c *skel.Clip, first, last int) *skel.Clip {
	n, end := s.Skel.Len(), last-first
	out := &skel.Clip{Skel: c.Skel, FPS: FPS, Frames: end + 1, Pos: slices.Clone(c.Pos[first*n : (last+1)*n]), Rot: slices.Clone(c.Rot[first*n : (last+1)*n])}
	drift := m3.WrapAngle(out.Rot[end*n].Yaw() - out.Rot[0].Yaw())
	start, way := out.Pos[0].Flat(), out.Pos[end*n].Flat().Sub(out.Pos[0].Flat())
	for f := range out.Frames {
		u := float32(f) / float32(end)
		pos, rot := out.Frame(f)
		at, back := start.Add(way.Scale(u)), m3.YawQuat(-drift*u)
		pos[0], rot[0] = at.Add(back.Rotate(pos[0].Sub(at))), back.Mul(rot[0]).Normalize()
	}
	pos, rot := out.Frame(0)
	endPos, endRot := out.Frame(end)
	pos, rot, endPos, endRot = slices.Clone(pos), slices.Clone(rot), slices.Clone(endPos), slices.Clone(endRot)
	endPos[0] = m3.V(pos[0].X, endPos[0].Y, pos[0].Z) // where it goes is no difference
	for f := range out.Frames {
		u := float32(f) / float32(end)
		p, q := out.Frame(f)
		for j := range n {
			p[j] = p[j].Add(pos[j].Sub(endPos[j]).Scale(u))
			q[j] = q[j].Mul(m3.Ident.Slerp(endRot[j].Conj().Mul(rot[j]), u)).Normalize()
		}
	}
	return out
}

package clipset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/label"
)

// What loops are made into: turn rates to either side, rad/s, and tempos, shares of their own.
var (
	bends  = []float64{0, 0.5, 1, 1.8}
	tempos = []float64{0.75, 1, 1.3}
)

// Weights of sets of loops.
const bentPlace, bentFacing = 4, 3

// lean is the share of the lean that would balance a body in a curve.
const lean = 0.5

// goes is the speed of loops that go somewhere, heights of the hips a second.
const goes = 0.3

// enough is the time that clips turn at more than a rate, s, from which on they need no bending.
const enough = 5.0

// Bend adds what packs of loops lack: loops that walk straight, bent into curves to both sides, leaning into them,
// and slower and faster ones. Feet stay where they stand, and standing poses are added to actions that only go. Of a set without
// such loops a stride of each recording is bent. It does nothing for sets whose clips turn by themselves, as recordings do, and
// reports how many clips it added.
func (s *Set) Bend() (added int) {
	const half = FPS / 2 // of a second about, in which hips swing to and fro
	turning := 0.0
	for _, c := range s.Clips {
		for f := half; f+half < c.Motion.Frames; f++ {
			if c.Actions[f] == label.Move && math.Abs(s.turned(c.Motion, f-half, f+half)) > 0.5*bends[1] {
				turning += 1.0 / FPS
			}
		}
	}
	if turning > enough {
		return 0
	}
	if !slices.ContainsFunc(s.Clips, s.bends) {
		strides := s.strides()
		s.Clips, added = append(s.Clips, strides...), len(strides)
	}
	recorded := s.Clips
	s.Clips = slices.Clone(recorded)
	for i, c := range recorded {
		if !s.bends(c) {
			continue
		}
		action := c.mostly()
		s.Clips[i].Motion = s.planted(c.Motion, c.Motion)
		for _, tempo := range tempos {
			for _, bend := range bends {
				for _, rate := range []float64{bend, -bend} {
					if bend == 0 && (tempo == 1 || math.Signbit(rate)) {
						continue // the clip itself, and zero once
					}
					out := c
					out.made = true
					straight := slower(c.Motion, tempo)
					out.Motion = s.planted(s.curve(straight, rate*tempo), straight)
					out.Name = fmt.Sprintf("%s, turn %+.1f, tempo %.2f", c.Name, rate*tempo, tempo)
					out.Actions = slices.Repeat([]string{action}, out.Motion.Frames)
					s.Clips = append(s.Clips, out)
					added++
				}
			}
		}
	}
	s.bent = added > 0
	return added
}

// bends reports whether a clip is a loop that walks straight.
func (s *Set) bends(c Clip) bool {
	once, _ := s.once(&c)
	return c.Loop && !once && c.mostly() != label.Idle && s.goes(&c) >= goes*s.leg && math.Abs(s.turned(c.Motion, 0, c.Motion.Frames-1)) <= 0.2
}

// Stand adds a pose that stands for each action of which all clips go, such as a crouched walk. It is a frame of the slowest loop, without
// loops of any recording: one in which the feet are low, and below the hips. Stand returns how many poses it added.
func (s *Set) Stand() (added int) {
	names, _ := s.Actions()
	recorded := slices.DeleteFunc(slices.Clone(s.Clips), func(c Clip) bool { once, _ := s.once(&c); return c.made || once })
	for _, a := range slices.Sorted(slices.Values(names)) {
		from := slices.DeleteFunc(slices.Clone(recorded), func(c Clip) bool { return !slices.Contains(c.Actions, a) })
		if a == label.Idle || a == label.Move || a == label.Jump || slices.ContainsFunc(from, func(c Clip) bool { return s.stays(&c, a) }) {
			continue
		}
		if loops := slices.DeleteFunc(slices.Clone(from), func(c Clip) bool { return !c.Loop || c.mostly() != a }); len(loops) > 0 {
			from = []Clip{slices.MinFunc(loops, func(c, o Clip) int { return cmp.Compare(s.goes(&c), s.goes(&o)) })}
		} else if !slices.Contains(lasting, a) {
			continue
		}
		pose, least := 0, math.Inf(1)
		var of Clip
		for _, c := range from {
			for f, off := range s.unsteady(c.Motion) {
				if off < least && c.Actions[f] == a {
					of, least, pose = c, off, f
				}
			}
		}
		if math.IsInf(least, 1) {
			continue
		}
		still := skel.NewClip(s.Skel, FPS, FPS/2+1)
		for f := range still.Frames {
			p, r := still.Frame(f)
			pos, rot := of.Motion.Frame(pose)
			copy(p, pos)
			copy(r, rot)
		}
		s.Clips = append(s.Clips, Clip{Name: of.Name + ", still", File: of.File, Motion: still, Loop: true, made: true, take: of.take, Actions: slices.Repeat([]string{a}, still.Frames)})
		s.Notes = append(s.Notes, fmt.Sprintf("no clip of %s stays in place: the pose of %s at %.2f s was added as one that does", a, of.Name, float64(pose)/FPS))
		added++
	}
	return added
}

// stays reports whether a clip shows an action for a second in which the body stays where it is.
func (s *Set) stays(c *Clip, action string) bool {
	if c.Loop {
		return c.mostly() == action && s.goes(c) < goes*s.leg
	}
	n, since := s.Skel.Len(), 0
	for f, a := range c.Actions {
		if a != action || float64(c.Motion.Pos[f*n].Flat().Dist(c.Motion.Pos[since*n].Flat())) > still*s.leg {
			since = f
		}
		if f-since >= FPS {
			return true
		}
	}
	return false
}

// unsteady returns for each frame of a clip how far a body is from standing there: the heights of its feet, and their ways from below the hips, m.
func (s *Set) unsteady(c *skel.Clip) (off []float64) {
	n, legs, feet := s.Skel.Len(), len(s.Roles.Legs), s.feet(c)
	for f := range c.Frames {
		var middle m3.Vec3
		sum := 0.0
		for _, p := range feet[f*legs:][:legs] {
			middle = middle.Add(p.Flat().Scale(1 / float32(legs)))
		}
		for _, p := range feet[f*legs:][:legs] {
			sum += float64(p.Y + p.Flat().Dist(middle))
		}
		off = append(off, sum+float64(middle.Dist(c.Pos[f*n].Flat())))
	}
	return off
}

// mostly returns the action of most frames of a clip.
func (c *Clip) mostly() (action string) {
	frames, most := map[string]int{}, 0
	for _, a := range c.Actions {
		if frames[a]++; frames[a] > most {
			action, most = a, frames[a]
		}
	}
	return action
}

// goes returns the speed of a clip over the ground, a second.
func (s *Set) goes(c *Clip) float64 {
	return float64(s.velocity(c.Motion).Len())
}

// turned returns by how much the hips of a clip turn between two frames, rad a second.
func (s *Set) turned(c *skel.Clip, from, to int) float64 {
	n := s.Skel.Len()
	yaw := m3.WrapAngle(c.Rot[to*n].Yaw() - c.Rot[from*n].Yaw())
	return float64(yaw) * FPS / float64(max(to-from, 1))
}

// slower returns a clip at a tempo.
func slower(c *skel.Clip, tempo float64) *skel.Clip {
	out := *c
	out.FPS = FPS * tempo
	return out.Resampled(FPS)
}

// planted returns a loop with feet that stay where they stand, when they stand in the straight loop, and as high as there.
func (s *Set) planted(c, straight *skel.Clip) *skel.Clip {
	out, err := s.plant(c, straight, s.stances(straight))
	if err != nil {
		return c // a skeleton without such legs
	}
	return out
}

// curve returns a loop along a curve with a turn rate, rad/s, in place of its straight way.
func (s *Set) curve(c *skel.Clip, rate float64) *skel.Clip {
	return s.led(c, s.velocity(c), rate)
}

// led returns a loop moved along another way: with a velocity in place of its own, m/s, that turns with the body at a rate, rad/s. The
// body leans into curves, and looks where it will face.
func (s *Set) led(c *skel.Clip, velocity m3.Vec3, rate float64) *skel.Clip {
	out := &skel.Clip{Skel: c.Skel, FPS: FPS, Frames: c.Frames, Pos: slices.Clone(c.Pos), Rot: slices.Clone(c.Rot)}
	start, v := c.Pos[0].Flat(), s.velocity(c)
	side := m3.Up.Cross(velocity) // to the left
	roll := m3.AxisAngle(velocity.Normalize(m3.V(0, 0, 1)), float32(-lean*math.Atan(float64(velocity.Len())*rate/9.81)))
	for f := range c.Frames {
		t := float64(f) / FPS
		straight := start.Add(v.Scale(float32(t)))
		along, turn := start.Add(velocity.Scale(float32(t))), m3.Ident
		if rate != 0 {
			turn = m3.YawQuat(float32(rate * t))
			along = start.Add(velocity.Scale(float32(math.Sin(rate*t) / rate))).Add(side.Scale(float32((1 - math.Cos(rate*t)) / rate)))
		}
		turn = turn.Mul(roll)
		pos, rot := out.Frame(f)
		pos[0] = along.Add(turn.Rotate(pos[0].Sub(straight)))
		rot[0] = turn.Mul(rot[0]).Normalize()
	}
	s.look(out, float32(rate))
	return out
}

// look turns the head of a clip to where a body that turns at a rate, rad/s, will face.
func (s *Set) look(c *skel.Clip, rate float32) {
	seconds, most := float32(0.75), float32(0.7) // ahead; rad: recorded dogs turn it by up to 0.9
	if s.Kind == anatomy.TwoLegs {
		seconds, most = 0.35, 0.5
	}
	angle, bends := m3.Clamp(rate*seconds, -most, most), len(s.Roles.Head)-1
	if angle == 0 || bends < 1 {
		return
	}
	model := make([]m3.Xform, s.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		_, rot := c.Frame(f)
		before := m3.Ident
		for i, j := range s.Roles.Head[:bends] {
			now, parent := m3.YawQuat(angle*float32(i+1)/float32(bends)), m3.Ident
			if p := s.Skel.Parents[j]; p >= 0 {
				parent = before.Mul(model[p].Rot)
			}
			rot[j] = parent.Conj().Mul(now.Mul(model[j].Rot)).Normalize()
			before = now
		}
	}
}

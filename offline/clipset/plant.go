package clipset

import (
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// stance is a stretch of frames of a loop in which a foot stands: from lies in the first round, to may lie in the next.
type stance struct{ from, to int }

// holds reports whether a frame of a loop with so many frames in a round is in the stance.
func (k stance) holds(f, round int) bool { return f >= k.from && f <= k.to || f+round <= k.to }

// stances returns when each foot of a loop stands: low, and slower than half the body. A loop whose feet glide all the time
// has none.
func (s *Set) stances(c *skel.Clip) [][]stance {
	const (
		low      = 0.06 // height of a standing foot over its lowest, of the hips'
		slow     = 0.5  // speed of a standing foot, of the body's
		gap      = 2    // frames that a foot may be faster, or higher, in the midst of standing
		shortest = 2    // frames
	)
	round, legs, feet := c.Frames-1, len(s.Roles.Legs), s.feet(c)
	out := make([][]stance, legs)
	if round < 2*(shortest+gap) {
		return out
	}
	body := c.Pos[round*s.Skel.Len()].Sub(c.Pos[0]).Flat().Len() / float32(round)
	for leg := range legs {
		at := func(f int) m3.Vec3 { return feet[f*legs+leg] }
		lowest := at(0).Y
		for f := range round {
			lowest = min(lowest, at(f).Y)
		}
		stands := make([]bool, round)
		for f := range stands {
			a, b := at(f), at(f+1)
			stands[f] = max(a.Y, b.Y) < lowest+low*float32(s.leg) && b.Sub(a).Flat().Len() < slow*body
		}
		begin := slices.Index(stands, false) // not in the midst of a stance
		if begin < 0 {
			continue
		}
		for k := 0; k < round; k++ {
			if !stands[(begin+k)%round] {
				continue
			}
			end := k // the last frame before a gap
			for i := k; i < round && i-end <= gap; i++ {
				if stands[(begin+i)%round] {
					end = i + 1
				}
			}
			if end-k >= shortest {
				from := begin + k
				to := from + end - k
				if from >= round {
					from, to = from-round, to-round
				}
				out[leg] = append(out[leg], stance{from, to})
			}
			k = end
		}
		slices.SortFunc(out[leg], func(a, b stance) int { return a.from - b.from })
	}
	return out
}

// plant makes the feet of a loop stay where they stand, and as high as in the straight one. Its legs are solved again, and between two stances a foot is carried
// over from what it is moved by in the one to that in the other.
func (s *Set) plant(c, straight *skel.Clip, stances [][]stance) (*skel.Clip, error) {
	tree, err := ik.NewTree(s.Skel.Parents)
	if err != nil {
		return nil, err
	}
	rig, err := ik.NewRig(tree, s.Roles)
	if err != nil {
		return nil, err
	}
	out := &skel.Clip{Skel: c.Skel, FPS: c.FPS, Frames: c.Frames, Pos: slices.Clone(c.Pos), Rot: slices.Clone(c.Rot)}
	round, legs := c.Frames-1, len(s.Roles.Legs)
	by := s.shifts(c, stances)
	model, level, feet := make([]m3.Xform, s.Skel.Len()), make([]m3.Xform, s.Skel.Len()), make([]ik.Foot, legs)
	for f := range 2 * round { // the first round is for what the legs remember
		f %= round
		c.Model(model, f)
		straight.Model(level, f)
		for leg, l := range s.Roles.Legs {
			if len(stances[leg]) > 0 {
				at := model[l[len(l)-2]].Pos.Add(by[f*legs+leg])
				at.Y = level[l[len(l)-2]].Pos.Y
				rig.Reach(model, leg, at, &feet[leg])
			}
		}
		pos, rot := out.Frame(f)
		s.Skel.ModelToLocal(pos, rot, model)
	}
	_, first := out.Frame(0)
	_, last := out.Frame(round)
	copy(last[1:], first[1:])
	return out, nil
}

// softly returns the steps of its own that a foot has not yet taken some frames after it left.
func softly(frames int) float32 {
	const whole = 3 // frames until it goes as it did
	rest := max(1-float32(frames)/whole, 0)
	return float32(frames) * rest * rest
}

// shifts returns by how much each foot is moved over the ground, (frames, legs), so that it stays where it stands.
func (s *Set) shifts(c *skel.Clip, stances [][]stance) []m3.Vec3 {
	round, legs, feet := c.Frames-1, len(s.Roles.Legs), s.feet(c)
	lap := root(c, round).Mul(root(c, 0).Inv()) // from a round to the next
	turn := func(v m3.Vec3, rounds int) m3.Vec3 {
		for ; rounds > 0; rounds-- {
			v = lap.Rot.Rotate(v)
		}
		for ; rounds < 0; rounds++ {
			v = lap.Rot.Conj().Rotate(v)
		}
		return v
	}
	out := make([]m3.Vec3, c.Frames*legs)
	for leg, all := range stances {
		// at is where the foot is in a frame of the round or the next.
		at := func(f int) m3.Vec3 {
			if f < round {
				return feet[f*legs+leg]
			}
			return lap.Apply(feet[(f-round)*legs+leg])
		}
		set := func(f int, v m3.Vec3) {
			if f >= round {
				f, v = f-round, turn(v, -1)
			}
			out[f*legs+leg] = v.Flat()
		}
		place := make([]m3.Vec3, len(all)) // where it stands
		for i, k := range all {
			for f := k.from; f <= k.to; f++ {
				place[i] = place[i].Add(at(f).Scale(1 / float32(k.to-k.from+1)))
			}
			for f := k.from; f <= k.to; f++ {
				set(f, place[i].Sub(at(f)))
			}
		}
		for i, k := range all {
			next, begins, lift := all[(i+1)%len(all)], 0, place[i].Sub(at(k.to))
			land := place[(i+1)%len(all)].Sub(at(next.from))
			if begins = next.from; i+1 == len(all) {
				begins, land = begins+round, turn(land, 1)
			}
			// It leaves as fast as it stood, and lands so: its own steps beside the stance are taken off, ever less.
			leaves, lands := at(k.to+1).Sub(at(k.to)), at(begins).Sub(at(begins-1))
			for f := k.to + 1; f < begins; f++ {
				u := float32(f-k.to) / float32(begins-k.to)
				by := lift.Lerp(land, u*u*(3-2*u))
				by = by.Sub(leaves.Scale(softly(f - k.to))).Add(lands.Scale(softly(begins - f)))
				set(f, by)
			}
		}
	}
	for leg := range legs {
		out[round*legs+leg] = turn(out[leg], 1)
	}
	return out
}

package clipset

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
)

// gait returns a set's loop of 40 frames at a speed. Each foot is on the ground in 20 of them, where it slides at a share of the
// speed, and swings in the others.
func gait(t *testing.T, s *Set, speed, slides float32) *skel.Clip {
	t.Helper()
	tree := must.Get(ik.NewTree(s.Skel.Parents))(t)
	rig := must.Get(ik.NewRig(tree, s.Roles))(t)
	i := slices.IndexFunc(s.Clips, func(c Clip) bool { return c.Name == "Idle" })
	stand := s.Clips[i].Motion
	const round, half = 40, 20
	c := skel.NewClip(s.Skel, FPS, round+1)
	model, feet := make([]m3.Xform, s.Skel.Len()), make([]ik.Foot, len(s.Roles.Legs))
	for f := range c.Frames {
		stand.Model(model, 0)
		for j := range model {
			model[j].Pos.Z += speed * float32(f) / FPS
		}
		for leg, l := range s.Roles.Legs {
			k := (f + half*(leg%2)) % round
			back := (1 - slides) * speed / FPS // in a frame, seen from the body
			away := m3.V(0, 0, back*(half/2-float32(k)))
			if k > half {
				u := float32(k-half) / half
				away = m3.V(0, 0.08*m3.Sin(math.Pi*u), back*half*(u*u*(3-2*u)-0.5))
			}
			rig.Reach(model, leg, model[l[len(l)-2]].Pos.Add(away), &feet[leg])
		}
		pos, rot := c.Frame(f)
		s.Skel.ModelToLocal(pos, rot, model)
	}
	return c
}

// sliding returns the greatest speed of a foot in its stances, m/s, and whether each foot has one of 15 frames or more.
func sliding(s *Set, c *skel.Clip, stances [][]stance) (fastest float32, all bool) {
	all = true
	feet, legs := s.feet(c), len(s.Roles.Legs)
	for leg := range legs {
		long := false
		for _, k := range stances[leg] {
			long = long || k.to-k.from >= 15
			for f := k.from; f < min(k.to, c.Frames-1); f++ {
				fastest = max(fastest, FPS*feet[(f+1)*legs+leg].Sub(feet[f*legs+leg]).Flat().Len())
			}
		}
		all = all && long
	}
	return fastest, all
}

// Feet of loops that slide, because they do or because they are bent, stay where they stand. The rest of the body and the
// loop's end stay as they were.
func TestFeetStay(t *testing.T) {
	s := pack(t)
	straight := gait(t, s, 0.5, 0.25)
	stances := s.stances(straight)
	for name, c := range map[string]*skel.Clip{"straight": straight, "bent": s.curve(straight, 2)} {
		before, all := sliding(s, c, stances)
		if !all || before < 0.12 {
			t.Fatalf("%s: the feet stand in %v, and slide at %.2f m/s", name, stances, before)
		}
		out := must.Get(s.plant(c, straight, stances))(t)
		if after, _ := sliding(s, out, stances); after > before/8 { // legs that are nearly straight give a little
			t.Errorf("%s: feet that stand slide at %.3f m/s, before at %.2f", name, after, before)
		}
		n := s.Skel.Len()
		legs := map[int]bool{}
		for _, l := range s.Roles.Legs {
			for _, j := range l {
				legs[j] = true
			}
		}
		a, b, flat := make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, n)
		for f := range c.Frames {
			c.Model(a, f)
			out.Model(b, f)
			straight.Model(flat, f)
			for _, l := range s.Roles.Legs {
				if ankle := l[len(l)-2]; flat[ankle].Pos.Y-b[ankle].Pos.Y > 2e-3 { // the body leans; legs that are nearly straight do not reach down
					t.Fatalf("%s: %s is %.4f m high in frame %d, want %.4f", name, s.Skel.Names[ankle], b[ankle].Pos.Y, f, flat[ankle].Pos.Y)
				}
			}
			for j := range n {
				if !legs[j] && a[j].Pos.Dist(b[j].Pos) > 1e-4 {
					t.Fatalf("%s: %s has moved in frame %d", name, s.Skel.Names[j], f)
				}
			}
		}
		_, first := out.Frame(0)
		if _, last := out.Frame(c.Frames - 1); !slices.Equal(first[1:], last[1:]) {
			t.Errorf("%s: it ends in another pose than it begins", name)
		}
	}
	// A foot that glides all the time does not stand.
	if st := s.stances(gait(t, s, 0.5, 0.8)); slices.ContainsFunc(st, func(k []stance) bool { return len(k) > 0 }) {
		t.Errorf("feet that glide stand in %v", st)
	}
}

// Bend leaves the recordings that it was given as they are.
func TestBendKeepsRecordings(t *testing.T) {
	s := pack(t)
	recorded := s.Clips
	var was []*skel.Clip
	for _, c := range recorded {
		m := *c.Motion
		m.Pos, m.Rot = slices.Clone(m.Pos), slices.Clone(m.Rot)
		was = append(was, &m)
	}
	s.Bend()
	for i, c := range recorded {
		if !slices.Equal(c.Motion.Pos, was[i].Pos) || !slices.Equal(c.Motion.Rot, was[i].Rot) {
			t.Errorf("%s has changed", c.Name)
		}
	}
}

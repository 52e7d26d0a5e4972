package keypose

import (
	"math/rand/v2"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/human"
	"mannequin/offline/retarget"
)

// sliding returns a procedural walk whose root moves farther than its steps, and its contacts.
func sliding(t *testing.T) (*Layout, *skel.Clip, []float32) {
	t.Helper()
	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.2, Styles: []string{"neutral"}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range takes {
		if take.Content != "walk-straight" {
			continue
		}
		c := take.Clip
		l := must.Get(NewLayout(c.Skel))(t)
		h := must.Get(l.NewFootLock())(t)
		stand := make([]float32, c.Frames*Feet)
		for i, leg := range h.rig.Roles.Legs {
			var last m3.Vec3
			for f := range c.Frames {
				c.Model(h.model, f)
				toe := h.model[leg[3]].Pos
				if f > 0 && toe.Dist(last)*60 < 0.2 {
					stand[f*Feet+i] = 1
				}
				last = toe
			}
		}
		for f := range c.Frames {
			pos, _ := c.Frame(f)
			pos[0] = pos[0].Add(pos[0].Flat().Scale(0.1))
		}
		return l, c, stand
	}
	t.Fatal("there is no walk")
	return nil, nil, nil
}

// slides returns the mean movement of standing toes, m per frame.
func slides(h *FootLock, t *Track, stand []float32) (mean float64) {
	c, n := t.Clip(), 0
	for i, leg := range h.rig.Roles.Legs {
		var last m3.Vec3
		for f := range c.Frames {
			c.Model(h.model, f)
			toe := h.model[leg[3]].Pos
			if f > 0 && stand[f*Feet+i] > 0 && stand[(f-1)*Feet+i] > 0 {
				mean += float64(toe.Dist(last))
				n++
			}
			last = toe
		}
	}
	return mean / float64(max(1, n))
}

// Sliding feet are locked. Keys and everything except the legs stay, soles hardly turn, and nothing
// jerks.
func TestFootLock(t *testing.T) {
	l, c, stand := sliding(t)
	h := must.Get(l.NewFootLock())(t)
	was, track := l.NewTrack(c.Frames, 60), l.NewTrack(c.Frames, 60)
	for _, track := range []*Track{was, track} {
		track.SetClip(c, 0, 1)
		for f := 0; f < c.Frames; f += 60 {
			track.Key(f)
		}
		track.Interpolate()
		track.SetClip(c, 0, 1)
	}
	must.Do(t, h.Apply(track, stand))
	before, after := slides(h, was, stand), slides(h, track, stand)
	if before < 1e-3 || after > 0.4*before {
		t.Errorf("feet slide by %g m per frame, %g before", after, before)
	}
	for f := 0; f < c.Frames; f += 60 {
		if d := apart(was, track, f); d > 1e-5 {
			t.Errorf("the key at frame %d is missed by %g m", f, d)
		}
		if by := h.moves.at(f); by != (m3.Vec3{}) { // the right foot
			t.Errorf("at the key of frame %d a foot is moved by %v", f, by)
		}
	}
	a, b := was.Clip(), track.Clip()
	m, n := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	var moved, push float32
	var last [2]m3.Vec3
	for f := range c.Frames {
		a.Model(m, f)
		b.Model(n, f)
		for j, name := range c.Skel.Names {
			switch name {
			case "LeftLeg", "RightLeg":
			case "LeftFoot", "RightFoot", "LeftToeBase", "RightToeBase", "LeftToeBaseSite", "RightToeBaseSite":
				if d := m[j].Rot.Angle(n[j].Rot); d > 0.15 { // feet out of reach turn
					t.Fatalf("frame %d: %s is turned by %g rad", f, name, d)
				}
			default:
				if d := m[j].Pos.Dist(n[j].Pos); d > 1e-4 {
					t.Fatalf("frame %d: %s is moved by %g m", f, name, d)
				}
			}
		}
		// The second difference of the left foot's move is the push.
		j := c.Skel.Index("LeftFoot")
		by := n[j].Pos.Sub(m[j].Pos)
		moved = max(moved, by.Len())
		if f > 1 {
			push = max(push, by.Sub(last[0].Scale(2)).Add(last[1]).Len())
		}
		last[0], last[1] = by, last[0]
	}
	if moved < 0.01 || push > 0.012 { // m per frame²: 0.012 is 43 m/s²; recorded feet touch down at 100
		t.Errorf("feet are moved by up to %g m, and pushed by %g m per frame²", moved, push)
	}
}

// Without contacts nothing moves. Wrong lengths and skeletons are refused.
func TestFootLockNothing(t *testing.T) {
	l, c, stand := sliding(t)
	h := must.Get(l.NewFootLock())(t)
	was, track := keyed(l, c, 60, 0), keyed(l, c, 60, 0)
	for _, track := range []*Track{was, track} {
		track.Interpolate()
		track.SetClip(c, 0, 1)
	}
	clear(stand)
	must.Do(t, h.Apply(track, stand))
	for f := range track.Frames {
		if d := apart(was, track, f); d > 1e-4 {
			t.Fatalf("frame %d: joints move by %g m without contacts", f, d)
		}
	}
	if h.Apply(track, stand[1:]) == nil {
		t.Error("contacts of half a frame: accepted")
	}
	none := must.Get(NewLayout(&skel.Skeleton{Names: []string{"Hips", "Neck"}, Parents: []int16{-1, 0},
		Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}))(t)
	if _, err := none.NewFootLock(); err == nil {
		t.Error("a skeleton without legs: accepted")
	}
	if h.Apply(none.NewTrack(3, 60), make([]float32, 3*Feet)) == nil {
		t.Error("a track of another skeleton: accepted")
	}
}

// A foot that steps although it is marked as standing still steps, and stands before and after.
func TestFootLockSteps(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	const frames, from, to = 61, 25, 35
	track := l.NewTrack(frames, 60)
	track.Key(0)
	track.Key(frames - 1)
	stand := make([]float32, frames*Feet)
	h.slip, h.slides = make([]m3.Vec3, frames), make([]float32, frames)
	at := m3.Vec3{}
	for f := range frames {
		if f > from && f <= to {
			at.X += 0.05
		}
		stand[f*Feet] = 1
		h.heel, h.toe = append(h.heel, at), append(h.toe, at)
	}
	h.solve(track, stand, h.rig.Roles.Legs[0][:3])
	for f := 1; f < frames; f++ {
		way := h.heel[f].Add(h.moves.at(f)).Sub(h.heel[f-1].Add(h.moves.at(f - 1))).X
		if even := float32(0.5) / (frames - 1); (f < from-10 || f > to+10) && way > even/2 {
			t.Errorf("frame %d: the foot moves %g m, %g if it slid all the time", f, way, even)
		}
	}
	if a, b := h.moves.at(0), h.moves.at(frames-1); a != b || a != (m3.Vec3{}) {
		t.Errorf("at its keys it is moved by %v and %v", a, b)
	}
}

// At the solution the gradient of the sum of squares vanishes, and fixed values are 0.
func TestBand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 9
	var on, bend, stay [n]float32
	var by [n]m3.Vec3
	var s band
	s.reset(n)
	for f := range n {
		on[f], bend[f], stay[f] = r.Float32(), r.Float32(), 0.1+r.Float32()
		by[f] = m3.V(r.Float32(), 0, r.Float32())
		s.place(f, stay[f])
		if f > 0 {
			s.step(f, on[f], by[f])
		}
		if f > 1 {
			s.turn(f-1, bend[f-1])
		}
	}
	fixed := map[int]bool{0: true, 4: true, 5: true}
	for f := range fixed {
		s.fix(f)
	}
	s.solve()
	var grad [n]m3.Vec3
	add := func(f int, v m3.Vec3, w float32) { grad[f] = grad[f].Add(v.Scale(w)) }
	for f := range n {
		add(f, s.at(f), stay[f])
		if f > 0 {
			d := s.at(f).Sub(s.at(f - 1)).Add(by[f])
			add(f, d, on[f])
			add(f-1, d, -on[f])
		}
		if f > 1 {
			e := s.at(f - 2).Sub(s.at(f - 1).Scale(2)).Add(s.at(f))
			add(f-2, e, bend[f-1])
			add(f-1, e, -2*bend[f-1])
			add(f, e, bend[f-1])
		}
	}
	for f := range n {
		if fixed[f] {
			if s.at(f) != (m3.Vec3{}) {
				t.Errorf("x[%d] is fixed and %v", f, s.at(f))
			}
		} else if grad[f].Len() > 1e-5 {
			t.Errorf("the gradient at x[%d] is %v", f, grad[f])
		}
	}
}

// BenchmarkFootLock locks the feet of four seconds.
func BenchmarkFootLock(b *testing.B) {
	l := must.Get(NewLayout(retarget.Human()))(b)
	h := must.Get(l.NewFootLock())(b)
	track := keyed(l, swaying(241, 1), 60, 0, 240)
	track.Interpolate()
	stand := make([]float32, track.Frames*Feet)
	for i := range stand {
		stand[i] = float32(i / 60 % 2)
	}
	for b.Loop() {
		must.Do(b, h.Apply(track, stand))
	}
}

package keypose

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
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
		for i := range h.feet {
			if by := h.feet[i].goal(f).Sub(h.feet[i].heel[f]); by != (m3.Vec3{}) {
				t.Errorf("at the key of frame %d foot %d is moved by %v", f, i, by)
			}
		}
	}
	a, b := was.Clip(), track.Clip()
	m, n := make([]m3.Xform, c.Skel.Len()), make([]m3.Xform, c.Skel.Len())
	var moved, push, sank float32
	var last [2]m3.Vec3
	for f := range c.Frames {
		a.Model(m, f)
		b.Model(n, f)
		sink := m[0].Pos.Sub(n[0].Pos)
		sank = max(sank, sink.Y)
		for j, name := range c.Skel.Names {
			switch name {
			case "LeftLeg", "RightLeg":
			case "LeftFoot", "RightFoot", "LeftToeBase", "RightToeBase", "LeftToeBaseSite", "RightToeBaseSite":
				if d := m[j].Rot.Angle(n[j].Rot); d > 0.15 { // feet out of reach turn
					t.Fatalf("frame %d: %s is turned by %g rad", f, name, d)
				}
			default:
				if d := m[j].Pos.Sub(m3.V(0, sink.Y, 0)).Dist(n[j].Pos); d > 1e-4 {
					t.Fatalf("frame %d: %s is moved by %g m, more than the hips sink", f, name, d)
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
	if sank < 1e-3 || sank > 0.04 {
		t.Errorf("the hips sink by up to %g m", sank)
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
	o := &h.feet[0]
	o.resize(frames)
	at := m3.Vec3{}
	for f := range frames {
		if f > from && f <= to {
			at.X += 0.05
		}
		stand[f*Feet] = 1
		o.heel[f], o.toe[f] = at, at
	}
	o.solve(track, stand)
	for f := 1; f < frames; f++ {
		way := o.heel[f].Add(o.moves.ground(f)).Sub(o.heel[f-1].Add(o.moves.ground(f - 1))).X
		if even := float32(0.5) / (frames - 1); (f < from-10 || f > to+10) && way > even/2 {
			t.Errorf("frame %d: the foot moves %g m, %g if it slid all the time", f, way, even)
		}
	}
	if a, b := o.moves.ground(0), o.moves.ground(frames-1); a != b || a != (m3.Vec3{}) {
		t.Errorf("at its keys it is moved by %v and %v", a, b)
	}
}

// At the solution the gradient of the sum of squares vanishes, and fixed values are 0.
func TestBand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 9
	var on, bend, stay [n]float64
	var by, corner [n]m3.Vec3
	var s band
	s.reset(n, 2)
	for f := range n {
		on[f], bend[f], stay[f] = r.Float64(), r.Float64(), 0.1+r.Float64()
		by[f], corner[f] = m3.V(r.Float32(), 0, r.Float32()), m3.V(r.Float32(), 0, r.Float32())
		s.place(f, stay[f])
		if f > 0 {
			s.step(f, on[f], by[f])
		}
		if f > 1 {
			s.turn(f-1, bend[f-1], []float64{float64(corner[f-1].X), float64(corner[f-1].Z)})
		}
	}
	fixed := map[int]bool{0: true, 4: true, 5: true}
	for f := range fixed {
		s.fix(f)
	}
	s.solve()
	var grad [n]m3.Vec3
	add := func(f int, v m3.Vec3, w float64) { grad[f] = grad[f].Add(v.Scale(float32(w))) }
	for f := range n {
		add(f, s.ground(f), stay[f])
		if f > 0 {
			d := s.ground(f).Sub(s.ground(f - 1)).Add(by[f])
			add(f, d, on[f])
			add(f-1, d, -on[f])
		}
		if f > 1 {
			e := s.ground(f - 2).Sub(s.ground(f - 1).Scale(2)).Add(s.ground(f)).Add(corner[f-1])
			add(f-2, e, bend[f-1])
			add(f-1, e, -2*bend[f-1])
			add(f, e, bend[f-1])
		}
	}
	for f := range n {
		if fixed[f] {
			if s.ground(f) != (m3.Vec3{}) {
				t.Errorf("x[%d] is fixed and %v", f, s.ground(f))
			}
		} else if grad[f].Len() > 1e-5 {
			t.Errorf("the gradient at x[%d] is %v", f, grad[f])
		}
	}
}

// The curve that cover computes is smooth and reaches the needed values, except near their corners. It
// is 0 in fixed frames and far from the needed values.
func TestCover(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	const frames = 120
	track := l.NewTrack(frames, 60)
	h.need, h.short = make([]float32, frames), make([]bool, frames)
	for f := 40; f < 60; f++ {
		h.need[f] = 0.05
	}
	var s band
	h.cover(&s, track, dropTime, func(f int) bool { return f == 20 })
	for f := range frames {
		x := s.x(f)[0]
		switch {
		case f == 20 && x != 0, (f < 5 || f > 110) && math.Abs(x) > 5e-4, x > 0.065, x < -0.01,
			f >= 45 && f < 55 && x < 0.049, f >= 40 && f < 60 && x < 0.035:
			t.Errorf("frame %d: %g", f, x)
		}
		if f > 2 {
			if jerk := math.Abs(x-3*s.x(f - 1)[0]+3*s.x(f - 2)[0]-s.x(f - 3)[0]) * 60 * 60 * 60; jerk > 300 {
				t.Errorf("frame %d: a jerk of %g m/s³", f, jerk)
			}
		}
	}
}

// standing returns a track of a second that is keyed at its ends, of a person who stands on both
// feet with bent knees and sways ahead by way, and the contacts.
func standing(l *Layout, bend, way float32) (*Track, []float32) {
	const frames = 61
	track := l.NewTrack(frames, 60)
	track.Key(0)
	track.Key(frames - 1)
	track.Interpolate()
	stand := make([]float32, frames*Feet)
	x := m3.V(1, 0, 0)
	for f := range frames {
		stand[f*Feet], stand[f*Feet+1] = 1, 1
		track.Height[f] = 0.98
		track.Place[f].Pos.Z = way * m3.Sin(math.Pi*float32(f)/(frames-1))
		for i, j := range l.Joints {
			switch at := f*len(l.Joints) + i; l.Skel.Names[j] {
			case "LeftUpLeg", "RightUpLeg", "LeftFoot", "RightFoot":
				track.Rot[at] = m3.AxisAngle(x, -bend/2)
			case "LeftLeg", "RightLeg":
				track.Rot[at] = m3.AxisAngle(x, bend)
			}
		}
	}
	return track, stand
}

// The hips sink for feet that stay behind, and for straight knees between keys. No knee is
// straightened.
func TestFootLockSinks(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	m := make([]m3.Xform, l.Skel.Len())
	for _, v := range []struct {
		bend, way   float32 // rad, m
		least, most float32 // the hips sink in the middle, m
		bends       float32 // a knee there at least, rad
	}{
		{0.26, 0.3, 0.02, 0.11, 0.2},
		{0.01, 0, 5e-4, 2e-3, 0.09},
		{0.26, 0, 0, 1e-5, 0.25},
	} {
		track, stand := standing(l, v.bend, v.way)
		must.Do(t, h.Apply(track, stand))
		c := track.Clip()
		knee := func(f int) float32 {
			c.Model(m, f)
			hip, knee, ankle := m[l.Skel.Index("LeftUpLeg")].Pos, m[l.Skel.Index("LeftLeg")].Pos, m[l.Skel.Index("LeftFoot")].Pos
			a, b := knee.Sub(hip), ankle.Sub(knee)
			return m3.Atan2(a.Cross(b).Len(), a.Dot(b))
		}
		knee(0)
		first := m[l.Skel.Index("LeftFoot")].Pos.Z
		if bend := knee(30); bend < v.bends {
			t.Errorf("%+v: the knee bends by %g rad", v, bend)
		}
		if sank := 0.98 - m[0].Pos.Y; sank < v.least || sank > v.most {
			t.Errorf("%+v: the hips sink by %g m", v, sank)
		}
		if by := m3.Abs(m[l.Skel.Index("LeftFoot")].Pos.Z - first); by > v.way/3+1e-3 {
			t.Errorf("%+v: the foot slides %g m", v, by)
		}
		for f := range track.Frames {
			if bend := knee(f); bend < 0.65*v.bend {
				t.Errorf("%+v: the knee bends by %g rad in frame %d", v, bend, f)
			}
		}
	}
}

// A foot that is led out of reach does not snap its knee straight. At keys the knee stays.
func TestFootLockKnees(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	track, stand := standing(l, 0.5, 0)
	clear(stand)
	must.Do(t, h.Apply(track, stand))
	o := &h.feet[0]
	for f := 25; f < 45; f++ { // 3 cm a frame, and back
		o.moves.x(f)[1] = 0.03 * float64(min(f-25, 45-f))
	}
	h.bend(track, o)
	wanted := func(f int) float64 { return 0.5 + o.changes[f] }
	var corner, was float64
	for f := 1; f+1 < track.Frames; f++ {
		corner = max(corner, math.Abs(o.bends[f-1]-2*o.bends[f]+o.bends[f+1]))
		was = max(was, math.Abs(wanted(f-1)-2*wanted(f)+wanted(f+1)))
		if o.bends[f] < 0.5*leastBend {
			t.Errorf("frame %d: the knee bends by %g rad", f, o.bends[f])
		}
	}
	if was < 0.1 || corner > 0.5*was {
		t.Errorf("the knee's angle has a corner of %g rad, %g as the foot wants it", corner, was)
	}
	for _, f := range []int{0, track.Frames - 1} {
		if math.Abs(o.bends[f]-0.5) > 1e-3 {
			t.Errorf("at the key of frame %d the knee bends by %g rad, want 0.5", f, o.bends[f])
		}
	}
}

// The body sinks where its standing feet float, and where one of two may stand, and not where they do not.
func TestFootLockSettles(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	for _, sure := range []float32{1, 0.3, 0.1} {
		track, stand := standing(l, 0.5, 0)
		for f := 10; f <= 50; f++ {
			track.Height[f] += 0.03 * (1 - m3.Cos(math.Pi*float32(f-10)/20))
			stand[f*Feet], stand[f*Feet+1] = sure, sure*sure
		}
		must.Do(t, h.Apply(track, stand))
		if up := track.Height[30] - 0.98; sure > 0.1 && (up < 0 || up > 0.02) || sure <= 0.1 && m3.Abs(up-0.06) > 1e-4 {
			t.Errorf("standing by %g and %g: the hips are %g m up, 0.06 before", sure, sure*sure, up)
		}
	}
}

// Feet stand as high between keys as in them, also where the whole body sinks: it rises. Without a contact
// in a key it does not.
func TestFootLockFloor(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	for _, inKeys := range []bool{true, false} {
		track, stand := standing(l, 0.5, 0)
		for i := range track.Height { // above the ground
			track.Height[i] += 0.2
		}
		for f := 10; f <= 50; f++ {
			track.Height[f] -= 0.015 * (1 - m3.Cos(math.Pi*float32(f-10)/20))
		}
		if !inKeys {
			for _, f := range []int{0, track.Frames - 1} {
				clear(stand[f*Feet:][:Feet])
			}
		}
		must.Do(t, h.Apply(track, stand))
		c := track.Clip()
		for i, leg := range h.rig.Roles.Legs {
			c.Model(h.model, 0)
			heel, toe := h.model[leg[2]].Pos.Y, h.model[leg[3]].Pos.Y
			c.Model(h.model, 30)
			down := max(heel-h.model[leg[2]].Pos.Y, toe-h.model[leg[3]].Pos.Y)
			if inKeys && down > 0.004 || !inKeys && down < 0.02 {
				t.Errorf("keys show the floor: %v: foot %d is %g m below its keys", inKeys, i, down)
			}
		}
		if up := track.Height[30] - 1.15; inKeys && up < 0.015 || !inKeys && m3.Abs(up) > 0.005 {
			t.Errorf("keys show the floor: %v: the body rises by %g m", inKeys, up)
		}
	}
}

// A foot that skims the ground is lifted, and more the faster it goes.
func TestFootLockClears(t *testing.T) {
	l := layout(t)
	h := must.Get(l.NewFootLock())(t)
	track, stand := standing(l, 0.5, 0)
	must.Do(t, h.Apply(track, stand))
	o := &h.feet[0]
	o.moves.reset(track.Frames, 2)
	for _, v := range []struct{ speed, least, most float32 }{{0.1, -1e-4, 1e-4}, {1, 0.01, 0.02}, {3, clearance - 1e-4, clearance + 1e-4}} {
		for f := range o.toe {
			o.toe[f] = m3.V(0, o.floor[toePart], v.speed/60*float32(f))
			o.heel[f].Y, o.low[f] = o.floor[heelPart], 0.01
		}
		if up := o.sunk(30, 60); up < v.least || up > v.most {
			t.Errorf("at %g m/s it is too low by %g m", v.speed, up)
		}
	}
}

// With Loose, feet that skim the ground behind the keys are lifted, feet that stand stay and slide less, and neither keys
// nor hips move.
func TestFootLockLoose(t *testing.T) {
	l, c, stand := sliding(t)
	h := must.Get(l.NewFootLock())(t)
	h.Loose = true
	const have = 60 // frames that are keys
	was, track := l.NewTrack(c.Frames, 60), l.NewTrack(c.Frames, 60)
	toe := func(f, i int) m3.Vec3 {
		c.Model(h.model, f)
		return h.model[h.rig.Roles.Legs[i][3]].Pos
	}
	const low = 0.9 // how far swinging toes come down to the ground, a share
	floor := [Feet]float32{toe(0, 0).Y, toe(0, 1).Y}
	for f := range c.Frames {
		for i := range floor {
			floor[i] = min(floor[i], toe(f, i).Y)
		}
	}
	for f := have; f < c.Frames; f++ { // knees bend less in the swing
		for i, leg := range h.rig.Roles.Legs {
			c.Model(h.model, f)
			at := h.model[leg[2]].Pos
			by := low * max(0, h.model[leg[3]].Pos.Y-floor[i]-0.01)
			var memory ik.Foot
			h.rig.Reach(h.model, i, at.Sub(m3.V(0, by, 0)), &memory)
			_, rot := c.Frame(f)
			for _, j := range leg[len(leg)-4 : len(leg)-1] {
				rot[j] = h.model[l.Skel.Parents[j]].Rot.Conj().Mul(h.model[j].Rot).Normalize()
			}
		}
	}
	for _, track := range []*Track{was, track} {
		for f := range have {
			track.Key(f)
		}
		track.Interpolate()
		track.SetClip(c, 0, 1)
	}
	// skims counts frames in which a toe goes at more than 2 m/s within 2.5 cm of its floor.
	skims := func(c *skel.Clip) (n int) {
		model := make([]m3.Xform, c.Skel.Len())
		var last [Feet]m3.Vec3
		for f := range c.Frames {
			c.Model(model, f)
			for i, leg := range h.rig.Roles.Legs {
				at := model[leg[3]].Pos
				if f > have && at.Sub(last[i]).Flat().Len()*60 > 2 && at.Y < h.feet[i].floor[toePart]+0.025 {
					n++
				}
				last[i] = at
			}
		}
		return n
	}
	must.Do(t, h.Apply(track, stand))
	if before, after := skims(was.Clip()), skims(track.Clip()); before < 20 || after > before/10 {
		t.Errorf("toes skim the ground in %d frames, before in %d", after, before)
	}
	clear(stand[:(have+1)*Feet])
	if before, after := slides(h, was, stand), slides(h, track, stand); before < 1e-3 || after > 0.4*before {
		t.Errorf("feet slide by %g m per frame, %g before", after, before)
	}
	for f := range c.Frames {
		if d := apart(was, track, f); f < have && d > 1e-5 {
			t.Fatalf("the key at frame %d is missed by %g m", f, d)
		}
		if m3.Abs(was.Height[f]-track.Height[f]) > 1e-5 {
			t.Fatalf("frame %d: the hips sink by %g m", f, was.Height[f]-track.Height[f])
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

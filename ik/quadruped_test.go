package ik_test

import (
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testdog"
	"mannequin/terrain"

	"pgregory.net/rapid"
)

// batch fills a job's buffers with rows copies of the rest pose.
func batch(t testing.TB, g ik.Ground, rows int) (*skel.Skeleton, *ik.Quadruped) {
	s := testdog.Skeleton()
	q := solver(t, s, g)
	n := s.Len()
	q.Pos, q.Rot = make([]m3.Vec3, rows*n), make([]m3.Quat, rows*n)
	q.Model, q.Feet = make([]m3.Xform, rows*n), make([]ik.Foot, rows*len(q.Rig.Roles.Legs))
	for r := range rows {
		copy(q.Pos[r*n:], s.Offsets)
		for j := range n {
			q.Rot[r*n+j] = m3.Ident
		}
	}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	return s, q
}

// place moves row r's root.
func place(s *skel.Skeleton, q *ik.Quadruped, r int, at m3.Vec3, yaw float32) {
	n := s.Len()
	q.Pos[r*n] = s.Offsets[0].Add(at.Flat())
	q.Rot[r*n] = m3.YawQuat(yaw)
}

type fataler interface{ Fatalf(string, ...any) }

// checkBones fails where a bone is not as long as its local translation.
func checkBones(t fataler, q *ik.Quadruped, s *skel.Skeleton, r int) {
	n := s.Len()
	for j, p := range s.Parents {
		x := q.Model[r*n+j]
		if !x.Pos.Finite() || !x.Rot.Finite() {
			t.Fatalf("%s is not finite: %+v", s.Names[j], x)
		}
		if p < 0 {
			continue
		}
		want, got := q.Pos[r*n+j].Len(), x.Pos.Dist(q.Model[r*n+int(p)].Pos)
		if m3.Abs(got-want) > 1e-3*want+1e-7 {
			t.Fatalf("the bone to %s is %g m long, want %g", s.Names[j], got, want)
		}
	}
}

// Random dogs on random hills up to 20°: every standing paw within 1 cm of the
// ground, every bone as long as ever.
func TestStandsOnHills(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		field := hills(t, rapid.Float64Range(0, 20).Draw(rt, "slope"), rapid.Uint64().Draw(rt, "seed"))
		s, q := batch(t, field, 1)
		coord := rapid.Float32Range(-18, 18)
		place(s, q, 0, m3.V(coord.Draw(rt, "x"), 0, coord.Draw(rt, "z")), rapid.Float32Range(-3, 3).Draw(rt, "yaw"))
		q.Run(0, 1)
		checkBones(rt, q, s, 0)
		for _, l := range q.Rig.Roles.Legs {
			p := q.Model[l[len(l)-1]].Pos
			if e := p.Y - field.Height(p.X, p.Z); m3.Abs(e) > 0.01 {
				rt.Fatalf("%s is %g m above the ground", s.Names[l[len(l)-1]], e)
			}
		}
		// The body follows: chest and neck keep their height above the terrain.
		// The neck's own ground differs from the flat pose's, a little uphill.
		for _, name := range []string{"Spine1", "Neck"} {
			j := s.Index(name)
			p := q.Model[j].Pos
			h := p.Y - field.Height(p.X, p.Z)
			if want := float32(.47); m3.Abs(h-want) > 0.06 {
				rt.Fatalf("%s is %g m above its ground, %g on the flat", name, h, want)
			}
		}
	})
}

// On flat ground with nothing to press or hold, the pose passes unchanged.
func TestFlatGroundChangesNothing(t *testing.T) {
	field, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, q := batch(t, field, 1)
		q.Press, q.Lock.Speed = 0, 0
		g := rapid.Float32Range(-.15, .15)
		for j := range q.Rot {
			q.Rot[j] = m3.FromRotationVector(m3.V(g.Draw(rt, "x"), g.Draw(rt, "y"), g.Draw(rt, "z")))
		}
		want := make([]m3.Xform, s.Len())
		s.LocalToModel(want, q.Pos, q.Rot)
		q.Run(0, 1)
		for j := range want {
			if want[j].Pos.Dist(q.Model[j].Pos) > 1e-4 || want[j].Rot.Angle(q.Model[j].Rot) > 2e-3 {
				rt.Fatalf("%s: %v became %v", s.Names[j], want[j], q.Model[j])
			}
		}
	})
}

// On a plane, paws lean with the plane, as far as they are on the ground.
func TestSoleFollowsTheSlope(t *testing.T) {
	const angle = 15 * math.Pi / 180
	field, err := terrain.Slope(terrain.Grid{Size: 40, Cell: 1}, angle, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	place(s, q, 0, m3.V(2, 0, -3), 1.2)
	q.Run(0, 1)
	for _, l := range q.Rig.Roles.Legs {
		paw, tip := l[len(l)-2], l[len(l)-1]
		rest := s.Offsets[tip].Scale(1)
		got := q.Model[tip].Pos.Sub(q.Model[paw].Pos)
		flat := m3.YawQuat(1.2).Rotate(rest)
		lean := m3.Ident.Slerp(m3.Between(m3.Up, field.Normal(0, 0)), 1-s0(s, tip)/0.1)
		if d := got.Dist(lean.Rotate(flat)); d > 1e-3 {
			t.Errorf("%s: the paw points %g m beside the slope's direction", s.Names[tip], d)
		}
	}
}

// s0 returns joint j's height in the rest pose.
func s0(s *skel.Skeleton, j int) (y float32) {
	for ; j >= 0; j = int(s.Parents[j]) {
		y += s.Offsets[j].Y
	}
	return y
}

// pit is flat ground with a deep round hole and a spike.
type pit struct{ at, spike m3.Vec3 }

func (p pit) Height(x, z float32) float32 {
	if m3.V(x, 0, z).Dist(p.at) < 0.03 {
		return -3
	}
	if m3.V(x, 0, z).Dist(p.spike) < 0.03 {
		return 5
	}
	return 0
}
func (p pit) Normal(x, z float32) m3.Vec3 { return m3.Up }

// A paw over a bottomless hole reaches for it, one under a spike folds; the
// others stand, and nothing breaks.
func TestOutOfReach(t *testing.T) {
	s := testdog.Skeleton()
	tips := []string{"LeftHandSite", "RightHandSite", "LeftFootSite", "RightFootSite"}
	for hole := range tips {
		model := make([]m3.Xform, s.Len())
		rot := make([]m3.Quat, s.Len())
		for j := range rot {
			rot[j] = m3.Ident
		}
		s.LocalToModel(model, s.Offsets, rot)
		flat := func(i int) m3.Vec3 { return model[s.Index(tips[i])].Pos.Flat() }
		s, q := batch(t, pit{flat(hole), flat((hole + 3) % 4)}, 1)
		q.Run(0, 1)
		checkBones(t, q, s, 0)
		if y := q.Model[s.Index(tips[hole])].Pos.Y; y > -0.05 {
			t.Errorf("%s is at %g m, though its ground is at −3", tips[hole], y)
		}
		if y := q.Model[s.Index(tips[(hole+3)%4])].Pos.Y; y < 0.15 {
			t.Errorf("%s is at %g m, though its ground is at 5", tips[(hole+3)%4], y)
		}
		for _, i := range []int{(hole + 1) % 4, (hole + 2) % 4} {
			if y := q.Model[s.Index(tips[i])].Pos.Y; m3.Abs(y) > 0.01 {
				t.Errorf("with a hole under %s, %s is %g m above the ground", tips[hole], tips[i], y)
			}
		}
	}
}

func TestTailStaysAbove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		field := hills(t, 20, rapid.Uint64().Draw(rt, "seed"))
		s, q := batch(t, field, 1)
		place(s, q, 0, m3.V(rapid.Float32Range(-15, 15).Draw(rt, "x"), 0, 3), rapid.Float32Range(-3, 3).Draw(rt, "yaw"))
		// Sitting: the hips low, the tail hanging into the ground.
		q.Pos[0].Y = rapid.Float32Range(.12, .3).Draw(rt, "hips")
		q.Rot[s.Index("Tail")] = m3.AxisAngle(m3.V(1, 0, 0), -rapid.Float32Range(.2, 1).Draw(rt, "hang"))
		q.Run(0, 1)
		checkBones(rt, q, s, 0)
		for _, j := range q.Rig.Roles.Tail {
			p := q.Model[j].Pos
			if h := p.Y - field.Height(p.X, p.Z); h < 0.005 {
				rt.Fatalf("%s is %g m above the ground", s.Names[j], h)
			}
		}
	})
}

// A paw that takes off stays with the flat pose's: neither held nor pressed
// down, its leg has nothing to catch up with.
func TestTakeOff(t *testing.T) {
	field, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	for range 20 {
		q.Run(0, 1)
	}
	flat := make([]m3.Xform, s.Len())
	for tick, speed := range []float32{0.8, 2.5, 3.8, 5, 6, 6.4, 6.6, 6.6} {
		q.Pos[0].Z += speed * q.DT
		q.Pos[0].Y += min(0.1*speed, 0.4) * q.DT
		q.Run(0, 1)
		s.LocalToModel(flat, q.Pos, q.Rot)
		for _, l := range q.Rig.Roles.Legs {
			tip := l[len(l)-1]
			if d := q.Model[tip].Pos.Dist(flat[tip].Pos); d > 0.035 {
				t.Errorf("tick %d: %s is %g m behind", tick, s.Names[tip], d)
			}
		}
	}
}

// Feet that lie flat have their hocks on the ground, not in it.
func TestHocksStayAbove(t *testing.T) {
	field := hills(t, 20, 4)
	s, q := batch(t, field, 1)
	q.Pos[0].Y = 0.3
	for _, side := range []string{"Left", "Right"} {
		q.Rot[s.Index(side+"Foot")] = m3.AxisAngle(m3.V(1, 0, 0), -2)
	}
	flat := make([]m3.Xform, s.Len())
	s.LocalToModel(flat, q.Pos, q.Rot)
	q.Run(0, 1)
	checkBones(t, q, s, 0)
	for _, name := range []string{"LeftFoot", "RightFoot"} {
		j := s.Index(name)
		if flat[j].Pos.Y > 0 {
			t.Fatalf("the flat pose has %s at %g m: not what is tested", name, flat[j].Pos.Y)
		}
		p := q.Model[j].Pos
		if h := p.Y - field.Height(p.X, p.Z); h < 0.01 {
			t.Errorf("%s is %g m above the ground", name, h)
		}
	}
}

// A tail that hangs into the ground comes to lie on it: no part flips up.
func TestTailLies(t *testing.T) {
	field, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	flat := make([]m3.Xform, s.Len())
	var before m3.Quat
	tip := s.Index("Tail1Site")
	for i := range 200 {
		q.Pos[0].Y = 0.35 - 0.0015*float32(i)
		s.LocalToModel(flat, q.Pos, q.Rot)
		q.Run(0, 1)
		for _, j := range q.Rig.Roles.Tail[1:] {
			if y, most := q.Model[j].Pos.Y, max(flat[j].Pos.Y, 0.015)+0.01; y > most {
				t.Fatalf("with the hips at %g m, %s is at %g m, though the flat pose's is at %g", q.Pos[0].Y, s.Names[j], y, flat[j].Pos.Y)
			}
		}
		now := q.Model[s.Index("Tail1")].Rot
		if i > 0 && before.Angle(now) > 0.2 {
			t.Errorf("with the hips at %g m, %s turned by %g rad", q.Pos[0].Y, s.Names[tip], before.Angle(now))
		}
		before = now
	}
}

func TestLock(t *testing.T) {
	field, err := terrain.Flat(terrain.Grid{Size: 40, Cell: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	tip := s.Index("RightHandSite")
	slide := func(speed float32, ticks int) (steps []float32) {
		for range ticks {
			before := q.Model[tip].Pos
			q.Pos[0].Z += speed * q.DT
			q.Run(0, 1)
			checkBones(t, q, s, 0)
			steps = append(steps, q.Model[tip].Pos.Sub(before).Flat().Len())
		}
		return steps
	}
	q.Run(0, 1)
	slide(0.1, 6) // four slow ticks earn the hold
	for i, d := range slide(0.1, 30) {
		if d > 1e-3 {
			t.Fatalf("tick %d: a held paw moved %g m", i, d)
		}
	}
	if !q.Feet[1].Held() {
		t.Fatal("the paw is not held")
	}
	// A quick paw is let go and catches up without a jump.
	quick := slide(1.0, 60)
	if q.Feet[1].Held() {
		t.Fatal("a quick paw is held")
	}
	for i, d := range quick {
		if d > 2.5/60 {
			t.Errorf("tick %d after the release: the paw moved %g m", i, d)
		}
	}
	flat := m3.V(-.07, 0, .39).Add(m3.V(0, 0, q.Pos[0].Z-s.Offsets[0].Z))
	if d := q.Model[tip].Pos.Flat().Dist(flat); d > 2e-3 {
		t.Errorf("a second after the release the paw is %g m from the flat pose's", d)
	}
	// A slow slide is let go at the radius.
	slide(0, 10)
	at := q.Model[tip].Pos
	slide(0.14, 60*2)
	if d := q.Model[tip].Pos.Dist(at); d < 0.1 {
		t.Errorf("after a slide of 28 cm the paw is still %g m from where it was held", d)
	}
	// A moved agent with forgotten feet does not reach back.
	q.Pos[0].X += 10
	clear(q.Feet)
	q.Run(0, 1)
	if x := q.Model[tip].Pos.X; m3.Abs(x-(10-.07)) > 0.01 {
		t.Errorf("after a move the paw is at x = %g", x)
	}
}

// Rows are independent: any split gives the same bits, and a broken row stays
// alone.
func TestRowsAreIndependent(t *testing.T) {
	const rows = 9
	field := hills(t, 20, 3)
	fill := func(q *ik.Quadruped, s *skel.Skeleton, r, from, tick int) {
		place(s, q, r, m3.V(float32(from)-4, 0, 0.01*float32(tick)), float32(from))
		n := s.Len()
		q.Rot[r*n+2] = m3.AxisAngle(m3.V(1, 0, 0), 0.05*float32(from))
		if from == 4 {
			q.Rot[r*n+7].X = float32(math.NaN())
		}
	}
	s, all := batch(t, field, rows)
	_, split := batch(t, field, rows)
	n := s.Len()
	ones := make([]*ik.Quadruped, rows)
	for r := range ones {
		_, ones[r] = batch(t, field, 1)
	}
	for tick := range 20 {
		for r := range rows {
			fill(all, s, r, r, tick)
			fill(split, s, r, r, tick)
			fill(ones[r], s, 0, r, tick)
			ones[r].Run(0, 1)
		}
		all.Run(0, rows)
		split.Run(5, rows)
		split.Run(0, 5)
		for r := range rows {
			for j := range n {
				a, b, c := all.Model[r*n+j], split.Model[r*n+j], ones[r].Model[j]
				if r == 4 {
					continue
				}
				if a != b || a != c || !a.Pos.Finite() || !a.Rot.Finite() {
					t.Fatalf("tick %d row %d %s: %v in a batch, %v split, %v alone", tick, r, s.Names[j], a, b, c)
				}
			}
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	_, q := batch(t, hills(t, 20, 3), 8)
	if n := testing.AllocsPerRun(20, func() { q.Run(0, 8) }); n != 0 {
		t.Errorf("%g allocations per run", n)
	}
}

func TestQuadrupedValidate(t *testing.T) {
	field := hills(t, 5, 1)
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(*ik.Quadruped){
		"zero value":    func(q *ik.Quadruped) { *q = ik.Quadruped{} },
		"no rig":        func(q *ik.Quadruped) { q.Rig = nil },
		"no ground":     func(q *ik.Quadruped) { q.Ground = nil },
		"torn row":      func(q *ik.Quadruped) { q.Pos = q.Pos[1:] },
		"short Rot":     func(q *ik.Quadruped) { q.Rot = q.Rot[1:] },
		"short Model":   func(q *ik.Quadruped) { q.Model = nil },
		"short Feet":    func(q *ik.Quadruped) { q.Feet = q.Feet[1:] },
		"no time":       func(q *ik.Quadruped) { q.DT = 0 },
		"no iterations": func(q *ik.Quadruped) { q.Iterations = 0 },
		"NaN press":     func(q *ik.Quadruped) { q.Press = nan },
		"negative drop": func(q *ik.Quadruped) { q.MaxDrop = -1 },
		"NaN radius":    func(q *ik.Quadruped) { q.Lock.Radius = nan },
	} {
		_, q := batch(t, field, 2)
		spoil(q)
		if q.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRigErrors(t *testing.T) {
	s := testdog.Skeleton()
	tree, err := ik.NewTree(s.Parents)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ik.DogRoles([]string{"Hips", "Spine"}); err == nil {
		t.Error("a skeleton without legs has a dog's roles")
	}
	if _, err := ik.NewRig(nil, ik.Roles{}); err == nil {
		t.Error("no tree: accepted")
	}
	for name, spoil := range map[string]func(*ik.Roles){
		"zero value":    func(r *ik.Roles) { *r = ik.Roles{} },
		"short spine":   func(r *ik.Roles) { r.Spine = r.Spine[:1] },
		"spine's order": func(r *ik.Roles) { r.Spine = []int{1, 0} },
		"inner root":    func(r *ik.Roles) { r.Spine = r.Spine[1:] },
		"neck":          func(r *ik.Roles) { r.Neck = r.Tail[0] },
		"no legs":       func(r *ik.Roles) { r.Legs = nil },
		"many legs":     func(r *ik.Roles) { r.Legs = append(r.Legs, append(r.Legs, r.Legs...)...) },
		"short leg":     func(r *ik.Roles) { r.Legs[1] = r.Legs[1][2:] },
		"torn leg":      func(r *ik.Roles) { r.Legs[0][1] = r.Legs[1][1] },
		"tail":          func(r *ik.Roles) { r.Tail = r.Tail[:1] },
		"far joint":     func(r *ik.Roles) { r.Tail[2] = 99 },
	} {
		roles, err := ik.DogRoles(s.Names)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&roles)
		if _, err := ik.NewRig(tree, roles); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkQuadruped(b *testing.B) {
	_, q := batch(b, hills(b, 20, 3), 64)
	for b.Loop() {
		q.Run(0, 64)
	}
}

package ik_test

import (
	"math"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/testdog"
	"mannequin/terrain"

	"pgregory.net/rapid"
)

// batch fills a job's buffers with rows copies of the rest pose.
func batch(t testing.TB, g ik.Ground, rows int) (*skel.Skeleton, *ik.Legged) {
	s := testdog.Skeleton()
	q := solver(t, s, g)
	n := s.Len()
	q.Pos, q.Rot = make([]m3.Vec3, rows*n), make([]m3.Quat, rows*n)
	q.Model, q.Feet = make([]m3.Xform, rows*n), make([]ik.Foot, rows*len(q.Rig.Roles.Legs))
	q.Body = make([]ik.Body, rows)
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
func place(s *skel.Skeleton, q *ik.Legged, r int, at m3.Vec3, yaw float32) {
	n := s.Len()
	q.Pos[r*n] = s.Offsets[0].Add(at.Flat())
	q.Rot[r*n] = m3.YawQuat(yaw)
}

type fataler interface{ Fatalf(string, ...any) }

// checkBones fails where a bone is not as long as its local translation.
func checkBones(t fataler, q *ik.Legged, s *skel.Skeleton, r int) {
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

// Random dogs on random hills up to 20°: every standing paw within 1 cm of the ground, every bone
// as long as ever.
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
		// The body follows: chest and neck keep their height above the terrain. The neck's own
		// ground differs from the flat pose's, a little uphill.
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
	rapid.Check(t, func(rt *rapid.T) {
		s, q := batch(t, ik.Level(0), 1)
		q.Lock.On = 0
		g := rapid.Float32Range(-.15, .15)
		for j := range q.Rot {
			q.Rot[j] = m3.FromRotationVector(m3.V(g.Draw(rt, "x"), g.Draw(rt, "y"), g.Draw(rt, "z")))
		}
		want := make([]m3.Xform, s.Len())
		s.LocalToModel(want, q.Pos, q.Rot)
		for _, l := range q.Rig.Roles.Legs {
			if want[l[len(l)-2]].Pos.Y < 0.02 || want[l[len(l)-1]].Pos.Y < 0.005 {
				return // this one would be lifted out of the ground
			}
		}
		q.Run(0, 1)
		for j := range want {
			if want[j].Pos.Dist(q.Model[j].Pos) > 1e-4 || want[j].Rot.Angle(q.Model[j].Rot) > 2e-3 {
				rt.Fatalf("%s: %v became %v", s.Names[j], want[j], q.Model[j])
			}
		}
	})
}

// On a slope to its side a dog's chest leans with the ground, half as far.
func TestChestRolls(t *testing.T) {
	const angle = 16 * math.Pi / 180
	field, err := terrain.Slope(terrain.Grid{Size: 40, Cell: 1}, angle, math.Pi/2)
	if err != nil {
		t.Fatal(err)
	}
	s, q := batch(t, field, 1)
	q.Run(0, 1)
	line := q.Model[s.Index("LeftShoulder")].Pos.Sub(q.Model[s.Index("RightShoulder")].Pos)
	if roll := m3.Atan2(line.Y, line.X); m3.Abs(roll-angle/2) > 0.03 {
		t.Errorf("on a slope of %g rad the chest leans by %g", float32(angle), roll)
	}
}

// heights is ground of these heights whose normals point up.
type heights func(x, z float32) float32

func (h heights) Height(x, z float32) float32 { return h(x, z) }
func (h heights) Normal(x, z float32) m3.Vec3 { return m3.Up }

// A paw over a bottomless hole reaches for it, one on a pole folds; the others stand, and nothing
// breaks.
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
		s, q := batch(t, heights(func(x, z float32) float32 {
			switch at := m3.V(x, 0, z); {
			case at.Dist(flat(hole)) < 0.02:
				return -3
			case at.Dist(flat((hole+3)%4)) < 0.02:
				return 0.1
			}
			return 0
		}), 1)
		q.Run(0, 1)
		checkBones(t, q, s, 0)
		if y := q.Model[s.Index(tips[hole])].Pos.Y; y > -0.05 {
			t.Errorf("%s is at %g m, though its ground is at −3", tips[hole], y)
		}
		if y := q.Model[s.Index(tips[(hole+3)%4])].Pos.Y; y < 0.1 {
			t.Errorf("%s is at %g m, though its ground is at 0.1", tips[(hole+3)%4], y)
		}
		for _, i := range []int{(hole + 1) % 4, (hole + 2) % 4} {
			if y := q.Model[s.Index(tips[i])].Pos.Y; m3.Abs(y) > 0.01 {
				t.Errorf("with a hole under %s, %s is %g m above the ground", tips[hole], tips[i], y)
			}
		}
	}
}

// Ground that is not finite is no ground: a dog that touches it keeps its flat pose, and beyond it
// stands as a new one does.
func TestGroundThatIsNotFinite(t *testing.T) {
	for name, bad := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(-1)} {
		s, q := batch(t, heights(func(x, z float32) float32 {
			if z > 1 && z < 2 {
				return float32(bad)
			}
			return 0
		}), 1)
		_, fresh := batch(t, ik.Level(0), 1)
		for tick := range 300 {
			q.Pos[0].Z += 0.02
			q.Run(0, 1)
			checkBones(t, q, s, 0)
			if p := q.Model[0].Pos; p.Dist(q.Pos[0]) > 0.05 {
				t.Fatalf("%s, tick %d: the hips are at %v, %v in the flat pose", name, tick, p, q.Pos[0])
			}
		}
		for range 120 {
			q.Run(0, 1)
		}
		fresh.Pos[0] = q.Pos[0]
		fresh.Run(0, 1)
		for j, x := range q.Model {
			if d := x.Pos.Dist(fresh.Model[j].Pos); d > 0.02 {
				t.Errorf("%s: beyond, %s is %g m from where it should be", name, s.Names[j], d)
			}
		}
	}
}

// Rows are independent: any split gives the same bits, and a broken row stays alone.
func TestRowsAreIndependent(t *testing.T) {
	const rows = 9
	field := hills(t, 20, 3)
	fill := func(q *ik.Legged, s *skel.Skeleton, r, from, tick int) {
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
	ones := make([]*ik.Legged, rows)
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

func TestLeggedValidate(t *testing.T) {
	field := hills(t, 5, 1)
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(*ik.Legged){
		"zero value":    func(q *ik.Legged) { *q = ik.Legged{} },
		"no rig":        func(q *ik.Legged) { q.Rig = nil },
		"no ground":     func(q *ik.Legged) { q.Ground = nil },
		"torn row":      func(q *ik.Legged) { q.Pos = q.Pos[1:] },
		"short Rot":     func(q *ik.Legged) { q.Rot = q.Rot[1:] },
		"short Model":   func(q *ik.Legged) { q.Model = nil },
		"short Feet":    func(q *ik.Legged) { q.Feet = q.Feet[1:] },
		"no time":       func(q *ik.Legged) { q.DT = 0 },
		"endless time":  func(q *ik.Legged) { q.DT = float32(math.Inf(1)) },
		"short Body":    func(q *ik.Legged) { q.Body = q.Body[1:] },
		"NaN sink":      func(q *ik.Legged) { q.Sink = nan },
		"negative drop": func(q *ik.Legged) { q.MaxDrop = -1 },
		"NaN radius":    func(q *ik.Legged) { q.Lock.Radius = nan },
		"negative on":   func(q *ik.Legged) { q.Lock.On = -1 },
		"no accel":      func(q *ik.Legged) { q.MaxFootAccel = 0 },
		"NaN clearance": func(q *ik.Legged) { q.Clearance = nan },
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
		"head":          func(r *ik.Roles) { r.Head[1] = r.Tail[1] },
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

func BenchmarkLegged(b *testing.B) {
	_, q := batch(b, hills(b, 20, 3), 64)
	for b.Loop() {
		q.Run(0, 64)
	}
}

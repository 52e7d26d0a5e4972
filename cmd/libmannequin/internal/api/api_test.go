package api

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// The spaces of mqGetSpace.
var spaces = map[string]Space{
	"own": Own, "unity": {1, 2, 3, 1}, "unreal": {2, 3, 1, 100}, "godot": {1, 2, -3, 1}, "blender": {1, 3, 2, 1}, "north east down": {2, -3, 1, 1},
}

// open makes a world with a crowd of a model.
func open(t *testing.T, file string, o WorldOptions, capacity int) (world, crowd, model ID) {
	t.Helper()
	model = must.Get(CreateModel(must.Get(os.ReadFile("../../../../models/" + file))(t)))(t)
	o.MaxTicks = 8
	world = must.Get(CreateWorld(o))(t)
	crowd = must.Get(CreateCrowd(world, CrowdOptions{Model: model, Capacity: capacity, Workers: 2}))(t)
	t.Cleanup(func() { DestroyWorld(world); DestroyModel(model) })
	return world, crowd, model
}

const (
	dog  = "dog-free/dog-free.safetensors"
	hero = "hero/hero.character"
)

// A turn about the up axis takes forward to the left or right as the space's hand says, places come back, and rotations turn
// places as they do in the library.
func TestSpaces(t *testing.T) {
	rightHanded := map[string]bool{"own": true, "unity": false, "unreal": false, "godot": true, "blender": true, "north east down": true}
	for name, s := range spaces {
		a := must.Get(s.axes())(t)
		if (a.turn > 0) != rightHanded[name] {
			t.Errorf("%s: the sign of turns is %g", name, a.turn)
		}
		axis := func(n int32) (v m3.Vec3) {
			at := [...]*float32{&v.X, &v.Y, &v.Z}
			if n < 0 {
				*at[-n-1] = -1
			} else {
				*at[n-1] = 1
			}
			return v
		}
		for own, want := range map[m3.Vec3]m3.Vec3{m3.V(-1, 0, 0): axis(s.Right), m3.V(0, 1, 0): axis(s.Up), m3.V(0, 0, 1): axis(s.Forward)} {
			if got := a.dir(own); got != want {
				t.Errorf("%s: %v is %v, want %v", name, own, got, want)
			}
		}
		p, q := m3.V(1, 2, 3), m3.AxisAngle(m3.V(0.6, 0, 0.8), 0.7)
		if back := a.fromPoint(a.point(p)); back.Dist(p) > 1e-5 {
			t.Errorf("%s: %v comes back as %v", name, p, back)
		}
		if back := a.fromRot(a.rot(q)); back.Angle(q) > 1e-3 {
			t.Errorf("%s: %v comes back as %v", name, q, back)
		}
		if got, want := a.rot(q).Rotate(a.dir(p)), a.dir(q.Rotate(p)); got.Dist(want) > 1e-5 {
			t.Errorf("%s: rotated to %v, want %v", name, got, want)
		}
	}
	for _, s := range []Space{{}, {1, 1, 2, 1}, {1, 2, -1, 1}, {1, 2, 4, 1}, {math.MinInt32, 2, 3, 1}, {1, 2, 3, 0}, {1, 2, 3, float32(math.NaN())}} {
		if _, err := s.axes(); CodeOf(err) != Argument {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Agents do the same in every space: they walk ahead, turn by a heading's sign, and stand on the same ground.
func TestWorldsOfSpaces(t *testing.T) {
	for name, s := range spaces {
		a := must.Get(s.axes())(t)
		world, crowd, _ := open(t, hero, WorldOptions{Space: s}, 2)
		// A slope of triangles, which rises ahead.
		corners := []m3.Vec3{m3.V(-50, -5, -50), m3.V(50, -5, -50), m3.V(50, 5, 50), m3.V(-50, 5, 50)}
		for i := range corners {
			corners[i] = a.point(corners[i])
		}
		triangles := []int32{0, 2, 1, 0, 3, 2}
		if a.turn < 0 {
			triangles = []int32{0, 1, 2, 0, 2, 3}
		}
		must.Do(t, SetGroundMesh(world, corners, triangles))
		walker := must.Get(CreateAgent(crowd, a.point(m3.V(1, 0, 0)), 0))(t)
		must.Do(t, SetGoal(walker, &Goal{Move: a.dir(m3.V(0, 0, 1)), Speed: 1.4 * s.Units}))
		turned := must.Get(CreateAgent(crowd, a.point(m3.V(-2, 0, 0)), 0.5))(t)
		must.Do(t, SetGoal(turned, &Goal{Kind: GoalStick, Move: a.dir(m3.V(1, 0, 0)), Speed: 1.4 * s.Units})) // to the left
		for range 180 {
			must.Do(t, Tick(world))
		}
		must.Do(t, Roots(crowd, 1, func(n int, at func(int) Root) {
			ahead, aside := a.fromPoint(at(0).At), a.fromPoint(at(1).At)
			if ahead.Z < 3 || m3.Abs(ahead.X-1) > 0.3 || m3.Abs(ahead.Y-0.1*ahead.Z) > 0.02 || m3.Abs(at(0).Heading) > 0.1 {
				t.Errorf("%s: who goes ahead is at %v with heading %g", name, ahead, at(0).Heading)
			}
			if aside.X < 0 || m3.Abs(aside.Z) > 0.8 || m3.Abs(a.turn*at(1).Heading-math.Pi/2) > 0.2 {
				t.Errorf("%s: who goes to the left is at %v with heading %g", name, aside, at(1).Heading)
			}
		}))
	}
}

// Bones have the same places in all formats, and lead from the parent's when they are local.
func TestBones(t *testing.T) {
	world, crowd, model := open(t, dog, WorldOptions{Space: spaces["unreal"], GroundHeight: 30}, 3)
	for i := range 3 {
		id := must.Get(CreateAgent(crowd, m3.V(100, 200*float32(i), 30), 1))(t)
		must.Do(t, SetGoal(id, &Goal{Move: m3.V(1, 0, 0), Speed: 150, Turn: 0.5}))
	}
	for range 150 {
		must.Do(t, Tick(world))
	}
	m := must.Get(ModelOf(model))(t)
	joints := m.Skel.Len()
	read := func(l Layout, alpha float32, bytes int) []float32 {
		b := make([]byte, bytes)
		if n := must.Get(Bones(crowd, l, alpha, b))(t); n != 3 {
			t.Fatalf("%d agents", n)
		}
		v := make([]float32, bytes/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
		}
		return v
	}
	vec := func(v []float32, i int) m3.Vec3 { return m3.V(v[i], v[i+1], v[i+2]) }
	quat := func(v []float32, i int) m3.Quat { return m3.Quat{X: v[i], Y: v[i+1], Z: v[i+2], W: v[i+3]} }
	for _, alpha := range []float32{1, 0.3} {
		plain := read(Layout{RotationOffset: 12}, alpha, 3*joints*28)
		gaps := read(Layout{PositionOffset: 20, RotationOffset: 4, BoneStride: 40, AgentStride: int32(joints*40 + 8), RealFirst: 1}, alpha, 3*(joints*40+8))
		rows, columns := read(Layout{Format: FormatRows4x4}, alpha, 3*joints*64), read(Layout{Format: FormatColumns4x4}, alpha, 3*joints*64)
		flat := read(Layout{Format: FormatRows3x4}, alpha, 3*joints*48)
		root, local := read(Layout{RelativeTo: BonesRoot, RotationOffset: 12}, alpha, 3*joints*28), read(Layout{RelativeTo: BonesLocal, RotationOffset: 12}, alpha, 3*joints*28)
		must.Do(t, Roots(crowd, alpha, func(n int, at func(int) Root) {
			for row := range n {
				if hips := vec(plain, 7*joints*row); at(row).At.Dist(m3.V(hips.X, hips.Y, 30)) > 25 {
					t.Fatalf("alpha %g: the hips of row %d are at %v, and its root is at %v", alpha, row, hips, at(row).At)
				}
			}
			for i := range 3 * joints {
				p, q := vec(plain, 7*i), quat(plain, 7*i+3)
				if p.Z < 28 || p.Z > 120 {
					t.Fatalf("joint %d is at %v", i, p)
				}
				g := i/joints*(joints*10+2) + i%joints*10
				if vec(gaps, g+5) != p || gaps[g+1] != q.W || vec(gaps, g+2) != m3.V(q.X, q.Y, q.Z) {
					t.Fatalf("joint %d with gaps is %v", i, gaps[g:g+10])
				}
				apply := func(m []float32, step, of int) m3.Vec3 { // of the place (1, 2, 3)
					row := func(r int) float32 { return m[r*step]*1 + m[r*step+of]*2 + m[r*step+2*of]*3 + m[r*step+3*of] }
					return m3.V(row(0), row(1), row(2))
				}
				want := q.Rotate(m3.V(1, 2, 3)).Add(p)
				for k, got := range []m3.Vec3{apply(rows[16*i:], 4, 1), apply(flat[12*i:], 4, 1), apply(columns[16*i:], 1, 4)} {
					if got.Dist(want) > 1e-3 {
						t.Fatalf("joint %d, matrix %d: a place is at %v, want %v", i, k, got, want)
					}
				}
				// Down the tree of local transforms, from the root, which turns about +Z clockwise seen from above.
				r := at(i / joints)
				x := m3.Xform{Pos: r.At, Rot: m3.AxisAngle(m3.V(0, 0, 1), r.Heading)}
				if got := x.Apply(vec(root, 7*i)); got.Dist(p) > 0.01 {
					t.Fatalf("joint %d from the root is at %v, want %v", i, got, p)
				}
				var way []int
				for j := i % joints; j >= 0; j = int(m.Skel.Parents[j]) {
					way = append(way, i/joints*joints+j)
				}
				for k := len(way) - 1; k >= 0; k-- {
					x = x.Mul(m3.Xform{Pos: vec(local, 7*way[k]), Rot: quat(local, 7*way[k]+3)})
				}
				if x.Pos.Dist(p) > 0.05 || x.Rot.Angle(q) > 0.01 {
					t.Fatalf("joint %d down the tree is %v, want %v %v", i, x, p, q)
				}
			}
		}))
	}
}

// Bones are written only where there is room, and layouts that cannot be are refused.
func TestBoneLayouts(t *testing.T) {
	_, crowd, _ := open(t, dog, WorldOptions{Space: Own}, 2)
	must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	b := make([]byte, 27*28)
	if n, err := Bones(crowd, Layout{RotationOffset: 12}, 1, b[:len(b)-1]); CodeOf(err) != Size || n != 1 {
		t.Errorf("a byte too little: %d agents, %v", n, err)
	}
	for name, l := range map[string]Layout{
		"stride":        {RotationOffset: 12, BoneStride: 27},
		"agents":        {RotationOffset: 12, AgentStride: 27*28 - 1},
		"negative":      {RotationOffset: 12, BoneStride: -28},
		"overlap":       {},
		"nothing":       {PositionOffset: -1, RotationOffset: -1},
		"format":        {RotationOffset: 12, Format: 4},
		"relation":      {RotationOffset: 12, RelativeTo: -1},
		"large offsets": {RotationOffset: math.MaxInt32},
	} {
		if _, err := Bones(crowd, l, 1, make([]byte, 1<<20)); CodeOf(err) != Argument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Bones(crowd, Layout{RotationOffset: 12}, float32(math.NaN()), b); CodeOf(err) != Argument {
		t.Errorf("alpha NaN: %v", err)
	}
}

// A save has the goals, and ids that are there stay.
func TestSave(t *testing.T) {
	world, crowd, model := open(t, dog, WorldOptions{Space: spaces["unity"]}, 6)
	var ids []ID
	for i := range 4 {
		id := must.Get(CreateAgent(crowd, m3.V(2*float32(i), 0, 0), 0))(t)
		must.Do(t, SetGoal(id, []*Goal{{Kind: GoalStick, Move: m3.V(1, 0, 1), Speed: 2}, {Kind: GoalPlace, Place: m3.V(9, 0, 9), Speed: 1}, {Move: m3.V(0, 0, 1), Turn: 1, Speed: 1}, {Action: 3}}[i]))
		ids = append(ids, id)
	}
	for range 50 {
		must.Do(t, Tick(world))
	}
	size, err := Save(world, nil)
	if CodeOf(err) != Size || size == 0 {
		t.Fatalf("the size of a save is %d: %v", size, err)
	}
	save := make([]byte, size+10)
	if n := must.Get(Save(world, save))(t); n != size {
		t.Fatalf("the save has %d bytes, want %d", n, size)
	}
	save = save[:size]
	play := func() uint64 {
		for range 90 {
			must.Do(t, Tick(world))
		}
		return must.Get(Hash(crowd))(t)
	}
	want := play()
	must.Do(t, DestroyAgent(ids[1]))
	must.Get(CreateAgent(crowd, m3.V(-3, 0, 0), 0))(t)
	must.Do(t, SetGoal(ids[2], &Goal{}))
	must.Do(t, Restore(world, save))
	if got := play(); got != want {
		t.Errorf("after a restore the hash is %x, want %x", got, want)
	}
	var now []ID
	must.Do(t, Agents(crowd, func(n int, at func(int) ID) {
		for row := range n {
			now = append(now, at(row))
		}
	}))
	if len(now) != 4 || now[0] != ids[0] || now[2] != ids[2] || now[3] != ids[3] || now[1] == ids[1] {
		t.Errorf("the ids are %v, were %v", now, ids)
	}
	if _, err := RowOf(ids[1]); CodeOf(err) != BadID {
		t.Errorf("an agent that was destroyed: %v", err)
	}
	// Another world takes it.
	again := must.Get(CreateWorld(WorldOptions{Space: Own, MaxTicks: 1}))(t)
	defer DestroyWorld(again)
	other := must.Get(CreateCrowd(again, CrowdOptions{Model: model, Capacity: 6}))(t)
	must.Do(t, Restore(again, save))
	for range 90 {
		must.Do(t, Tick(again))
	}
	if got := must.Get(Hash(other))(t); got != want {
		t.Errorf("in another world the hash is %x, want %x", got, want)
	}
	// Damage is found.
	before := must.Get(Hash(crowd))(t)
	for at := 0; at < size; at += 1 + at/40 {
		bad := append([]byte(nil), save...)
		bad[at] ^= 4
		if err := Restore(world, bad); CodeOf(err) != File {
			t.Fatalf("byte %d is damaged: %v", at, err)
		}
		if err := Restore(world, save[:at]); CodeOf(err) != File {
			t.Fatalf("%d bytes of a save: %v", at, err)
		}
	}
	if got := must.Get(Hash(crowd))(t); got != before {
		t.Error("a save that was refused has changed the world")
	}
}

// Steps make the ticks that are due, and roots and events add up over them.
func TestStep(t *testing.T) {
	world, crowd, _ := open(t, dog, WorldOptions{Space: Own}, 1)
	id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	must.Do(t, SetGoal(id, &Goal{Move: m3.V(0, 0, 1), Speed: 2}))
	ticks, feet, moved := 0, 0, m3.Vec3{}
	for range 100 { // of 24 Hz
		n, alpha, err := Step(world, 1.0/24)
		must.Do(t, err)
		if ticks += n; n < 2 || n > 3 || alpha < 0 || alpha >= 1 {
			t.Fatalf("%d ticks, alpha %g", n, alpha)
		}
		must.Do(t, Events(crowd, func(all []Event) {
			for _, e := range all {
				if feet++; e.Agent != id || e.Tick < 0 || int(e.Tick) >= n {
					t.Fatalf("%+v", e)
				}
			}
		}))
		must.Do(t, Roots(crowd, alpha, func(_ int, at func(int) Root) { moved = moved.Add(at(0).Moved) }))
	}
	if ticks != 250 || feet < 20 {
		t.Errorf("%d ticks, %d events of feet", ticks, feet)
	}
	must.Do(t, Roots(crowd, 1, func(_ int, at func(int) Root) {
		if d := at(0).At.Dist(moved); d > 1e-3 || moved.Z < 3 {
			t.Errorf("it moved by %v and is at %v", moved, at(0).At)
		}
	}))
	if _, _, err := Step(world, math.NaN()); CodeOf(err) != Argument {
		t.Errorf("a step of NaN: %v", err)
	}
	if n, _, err := Step(world, 3600); n != 8 || err != nil {
		t.Errorf("an hour is %d ticks: %v", n, err)
	}
}

// Of agents that change their rows, roots and motion come along.
func TestRows(t *testing.T) {
	world, crowd, _ := open(t, dog, WorldOptions{Space: Own}, 3)
	var ids []ID
	for i := range 3 {
		id := must.Get(CreateAgent(crowd, m3.V(3*float32(i), 0, 0), 0))(t)
		must.Do(t, SetGoal(id, &Goal{Move: m3.V(0, 0, 1), Speed: float32(i)}))
		ids = append(ids, id)
	}
	for range 60 {
		must.Do(t, Tick(world))
	}
	roots := func() (all []Root) {
		must.Do(t, Roots(crowd, 0.5, func(n int, at func(int) Root) {
			for row := range n {
				all = append(all, at(row))
			}
		}))
		return all
	}
	before := roots()
	must.Do(t, DestroyAgent(ids[0]))
	if after := roots(); len(after) != 2 || after[0] != before[2] || after[1] != before[1] || after[0].Agent != ids[2] {
		t.Errorf("the roots were %+v and are %+v", before, after)
	}
	must.Do(t, SetPlace(ids[1], m3.V(-5, 0, 0), 1))
	if r := roots()[1]; r.At.Dist(m3.V(-5, 0, 0)) > 1e-5 || r.Moved != (m3.Vec3{}) {
		t.Errorf("who was placed is at %+v", r)
	}
	if row := must.Get(RowOf(ids[2]))(t); row != 0 {
		t.Errorf("its row is %d", row)
	}
}

// The host decides how far agents go.
func TestMove(t *testing.T) {
	world, crowd, _ := open(t, dog, WorldOptions{Space: spaces["unreal"]}, 2)
	for i := range 2 {
		id := must.Get(CreateAgent(crowd, m3.V(0, 200*float32(i), 0), 0))(t)
		must.Do(t, SetGoal(id, &Goal{Move: m3.V(1, 0, 0), Speed: 200}))
	}
	must.Do(t, SetMove(world, func(of ID, moves []Move) {
		if of != crowd || len(moves) != 2 {
			t.Errorf("%d moves", len(moves))
		}
		moves[0].To.X = min(moves[0].To.X, 100) // a wall
		moves[1].To.X = float32(math.NaN())     // is no answer
		if err := Tick(world); CodeOf(err) != Busy {
			t.Errorf("a tick within a tick: %v", err)
		}
	}))
	for range 180 {
		must.Do(t, Tick(world))
	}
	must.Do(t, Roots(crowd, 1, func(_ int, at func(int) Root) {
		if x := at(0).At.X; x > 100.01 || x < 95 {
			t.Errorf("at the wall, it is at %g", x)
		}
		if x := at(1).At.X; x < 300 {
			t.Errorf("without a wall, it is at %g", x)
		}
	}))
	must.Do(t, SetMove(world, nil))
	for range 60 {
		must.Do(t, Tick(world))
	}
}

// A panic within a tick, on any worker, is one of the call, and the world is refused from then on but can be destroyed. Others go on.
func TestPanic(t *testing.T) {
	world, crowd, _ := open(t, dog, WorldOptions{Space: Own}, 100)
	for i := range 100 {
		must.Get(CreateAgent(crowd, m3.V(float32(i), 0, 0), 0))(t)
	}
	must.Do(t, SetGroundFunc(world, func(at m3.Vec3) (point, normal m3.Vec3) {
		if at.X > 60 {
			panic("bad ground")
		}
		return m3.Vec3{}, m3.Up
	}))
	func() {
		defer func() {
			if p := recover(); p == nil || !strings.Contains(p.(error).Error(), "bad ground") {
				t.Errorf("the tick panics with %v", p)
			}
		}()
		Tick(world)
	}()
	if err := Tick(world); CodeOf(err) != Internal {
		t.Errorf("the next tick: %v", err)
	}
	if _, err := Hash(crowd); CodeOf(err) != Internal {
		t.Errorf("its hash: %v", err)
	}
	must.Do(t, DestroyWorld(world))
	if _, err := Hash(crowd); CodeOf(err) != BadID {
		t.Errorf("after it was destroyed: %v", err)
	}
	again, _, _ := open(t, dog, WorldOptions{Space: Own}, 1)
	must.Do(t, Tick(again))
}

// Of two calls for a world at once, one is refused; worlds of other goroutines are not disturbed.
func TestThreads(t *testing.T) {
	shared, _, _ := open(t, dog, WorldOptions{Space: Own}, 2)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	codes := map[Code]int{}
	for range 4 {
		wait.Go(func() {
			world, err := CreateWorld(WorldOptions{Space: Own, MaxTicks: 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer DestroyWorld(world)
			for range 200 {
				if err := Tick(world); err != nil {
					t.Error(err)
				}
				code := CodeOf(Tick(shared))
				mutex.Lock()
				codes[code]++
				mutex.Unlock()
			}
		})
	}
	wait.Wait()
	if codes[OK] == 0 || codes[OK]+codes[Busy] != 800 {
		t.Errorf("codes of the shared world: %v", codes)
	}
}

// Ids of other kinds, of what is gone and made-up ones are refused, and none comes again.
func TestIDs(t *testing.T) {
	world, crowd, model := open(t, dog, WorldOptions{Space: Own}, 1)
	for _, id := range []ID{{}, world, crowd, model, {1, 0}, {1 << 30, 5<<generationBits | 1}, {math.MaxUint32, math.MaxUint32}} {
		if _, err := RowOf(id); CodeOf(err) != BadID {
			t.Errorf("%v: %v", id, err)
		}
	}
	seen := map[ID]bool{}
	for range 1000 {
		id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
		if seen[id] {
			t.Fatalf("%v comes again", id)
		}
		seen[id] = true
		if _, err := CreateAgent(crowd, m3.Vec3{}, 0); CodeOf(err) != Full {
			t.Fatalf("a second agent: %v", err)
		}
		must.Do(t, DestroyAgent(id))
		if err := DestroyAgent(id); CodeOf(err) != BadID {
			t.Fatalf("destroyed twice: %v", err)
		}
	}
	slot := table[int]{what: "number", kind: 7}
	v := 1
	id := must.Get(slot.add(&v))(t)
	slot.slots[0].generation |= lastGeneration // as after many objects
	id.Generation |= lastGeneration
	must.Get(slot.remove(id))(t)
	if next := must.Get(slot.add(&v))(t); next.Index1 == id.Index1 {
		t.Error("a slot is used after its last generation")
	}
}

// What a model's file may be.
func TestModels(t *testing.T) {
	for _, file := range []string{"human-strnn/human-strnn.safetensors", "human-latent/human-latent.safetensors"} {
		if _, err := CreateModel(must.Get(os.ReadFile("../../../../models/" + file))(t)); CodeOf(err) != File {
			t.Errorf("%s: %v", file, err)
		}
	}
	good := must.Get(os.ReadFile("../../../../models/" + hero))(t)
	for _, n := range []int{0, 1, 7, 100, len(good) / 2, len(good) - 1} {
		if _, err := CreateModel(good[:n]); CodeOf(err) != File {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	_, _, model := open(t, hero, WorldOptions{Space: Own}, 1)
	m := must.Get(ModelOf(model))(t)
	if _, err := m.FindAction("roll"); err != nil {
		t.Error(err)
	}
	if _, err := m.FindAction("\xff"); CodeOf(err) != Argument || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
	if _, err := m.FindJoint("Hip"); CodeOf(err) != Argument || !strings.Contains(err.Error(), "Hips") {
		t.Error(err)
	}
}

// A character of another size than usual has it in the world.
func TestSizedCharacter(t *testing.T) {
	world, crowd, model := open(t, "fox/fox.character", WorldOptions{Space: Own}, 2)
	id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	must.Do(t, SetGoal(id, &Goal{Move: m3.V(0, 0, 1), Speed: 1}))
	for range 120 {
		must.Do(t, Tick(world))
	}
	m := must.Get(ModelOf(model))(t)
	b := make([]byte, m.Skel.Len()*28)
	must.Get(Bones(crowd, Layout{RotationOffset: 12}, 1, b))(t)
	at := func(j int) (v [3]float32) {
		for i := range v {
			v[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[28*j+4*i:]))
		}
		return v
	}
	for j := 1; j < m.Skel.Len(); j++ { // bones have the lengths of mqModel_GetJoint
		joint := must.Get(m.Joint(j, Own))(t)
		p, q := at(j), at(joint.Parent)
		if l := m3.V(p[0]-q[0], p[1]-q[1], p[2]-q[2]).Len(); m3.Abs(l-joint.Offset.Len()) > 1e-3 {
			t.Fatalf("bone %s has %g m, want %g m", joint.Name, l, joint.Offset.Len())
		}
	}
	if z := at(0)[2]; z < 1 || z > 3 {
		t.Errorf("after two seconds at 1 m/s it is at %g m", z)
	}
}

// Whatever bytes a world is given: an error or a state from which it goes on.
func FuzzRestore(f *testing.F) {
	model, err := os.ReadFile("../../../../models/" + dog)
	if err != nil {
		f.Fatal(err)
	}
	id, err := CreateModel(model)
	if err != nil {
		f.Fatal(err)
	}
	world, err := CreateWorld(WorldOptions{Space: Own, MaxTicks: 1})
	if err != nil {
		f.Fatal(err)
	}
	crowd, err := CreateCrowd(world, CrowdOptions{Model: id, Capacity: 2})
	if err != nil {
		f.Fatal(err)
	}
	save := make([]byte, 1<<20)
	for range 2 {
		if _, err := CreateAgent(crowd, m3.Vec3{}, 0); err != nil {
			f.Fatal(err)
		}
		n, err := Save(world, save)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append([]byte(nil), save[:n]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > saveHead+4 { // most damage is found by the checksum
			if n := binary.LittleEndian.Uint64(b[len(saveMagic):]); n < uint64(len(b)-saveHead-4) {
				b = append([]byte(nil), b...)
				binary.LittleEndian.PutUint32(b[saveHead+int(n):], crc32.ChecksumIEEE(b[:saveHead+int(n)]))
			}
		}
		if err := Restore(world, b); err != nil && CodeOf(err) != File {
			t.Fatal(err)
		}
		must.Do(t, Tick(world))
	})
}

// A clip from the host's arrays and one from a file play on the joints that they are to, and their markers are events.
func TestClips(t *testing.T) {
	world, crowd, model := open(t, hero, WorldOptions{Space: spaces["unity"]}, 1)
	m := must.Get(ModelOf(model))(t)
	sk, a := m.Skel, must.Get(spaces["unity"].axes())(t)
	const frames = 31
	raised := skel.NewClip(sk, 30, frames)
	o := ClipOptions{Name: "raise", Space: spaces["unity"], FPS: 30, Markers: []layer.Marker{{Name: "up", Time: 0.5}, {Time: 0.8}, {Name: "again", Time: 0.8}}}
	arm := sk.Index("LeftArm")
	for f := range frames {
		raised.Pos[f*sk.Len()] = m3.V(0, 1, 0)
		raised.Rot[f*sk.Len()+arm] = m3.AxisAngle(m3.V(0, 0, 1), 1.2)
		o.Positions = append(o.Positions, a.point(raised.Pos[f*sk.Len()]))
		for j := range sk.Len() {
			o.Rotations = append(o.Rotations, a.rot(raised.Rot[f*sk.Len()+j]))
		}
	}
	clip := must.Get(CreateClip(model, o))(t)
	if s := must.Get(Seconds(clip, false))(t); s != 1 {
		t.Errorf("the clip takes %g s", s)
	}
	id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	hand := sk.Index("LeftHand")
	height := func() float32 {
		b := make([]byte, sk.Len()*28)
		must.Get(Bones(crowd, Layout{RotationOffset: 12}, 1, b))(t)
		return math.Float32frombits(binary.NativeEndian.Uint32(b[28*hand+4:]))
	}
	play := func(clip ID, ticks int) (marks []int32) {
		if err := PlayClip(id, clip, PlayOptions{Mask: maskArms, PlayOptions: layer.PlayOptions{Layer: 1, In: -1, Hold: true}}); err != nil {
			t.Fatal(err)
		}
		for range ticks {
			must.Do(t, Tick(world))
			must.Do(t, Events(crowd, func(all []Event) {
				for _, e := range all {
					if e.Kind == int32(animsys.ClipMarker) && e.Clip == clip && e.Layer == 1 && e.Agent == id {
						marks = append(marks, e.Marker)
					}
				}
			}))
		}
		return marks
	}
	for range 30 {
		must.Do(t, Tick(world))
	}
	low := height()
	if marks := play(clip, 90); !slices.Equal(marks, []int32{0, 1, 2}) {
		t.Errorf("markers %v", marks)
	}
	high := height()
	if high < low+0.5 {
		t.Errorf("the hand is at %g m, and was at %g m", high, low)
	}
	if k, s, err := Playing(id, 1); k != clip || s != 1 || err != nil {
		t.Errorf("%v plays at %g s: %v", k, s, err)
	}
	must.Do(t, StopClip(id, 1, 0))
	for range 60 {
		must.Do(t, Tick(world))
	}
	if h := height(); m3.Abs(h-low) > 0.1 {
		t.Errorf("after it the hand is at %g m, and was at %g m", h, low)
	}
	// The same from a file.
	var file bytes.Buffer
	rig := &body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}
	must.Do(t, skin.Write(&file, sk, must.Get(body.New(rig))(t), [3]float32{1, 1, 1}, raised))
	read := must.Get(CreateClip(model, ClipOptions{Bytes: file.Bytes()}))(t)
	play(read, 90)
	if h := height(); m3.Abs(h-high) > 0.02 {
		t.Errorf("by the clip of a file the hand is at %g m, by the host's at %g m", h, high)
	}
	must.Do(t, DestroyClip(clip))
	if err := PlayClip(id, clip, PlayOptions{}); CodeOf(err) != BadID {
		t.Errorf("a clip that was destroyed: %v", err)
	}
	must.Do(t, Tick(world))
	for name, change := range map[string]func(o *ClipOptions){
		"rotation": func(o *ClipOptions) { o.Rotations = slices.Clone(o.Rotations); o.Rotations[40] = m3.Quat{} },
		"frames":   func(o *ClipOptions) { o.Positions = o.Positions[1:] },
		"rate":     func(o *ClipOptions) { o.FPS = 0 },
		"space":    func(o *ClipOptions) { o.Space.Up = 1 },
		"marker":   func(o *ClipOptions) { o.Markers = []layer.Marker{{Name: "a\xff"}} },
		"late":     func(o *ClipOptions) { o.Markers = []layer.Marker{{Time: 9}} },
	} {
		bad := o
		change(&bad)
		if _, err := CreateClip(model, bad); CodeOf(err) != Argument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := CreateClip(model, ClipOptions{Bytes: file.Bytes()[:999]}); CodeOf(err) != File {
		t.Errorf("a file that is cut: %v", err)
	}
}

// Obstacles stop agents, and a shift of the origin moves what is seen and nothing else.
func TestObstaclesAndOrigin(t *testing.T) {
	world, crowd, _ := open(t, dog, WorldOptions{Space: spaces["unreal"]}, 1)
	id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	must.Do(t, SetObstacles(world, []Obstacle{{At: m3.V(300, 0, 0), Width: 2000, Depth: 20}}))
	must.Do(t, SetGoal(id, &Goal{Move: m3.V(1, 0, 0), Speed: 150}))
	for range 300 {
		must.Do(t, Tick(world))
	}
	where := func() (at m3.Vec3) {
		must.Do(t, Roots(crowd, 1, func(_ int, root func(int) Root) { at = root(0).At }))
		return at
	}
	before := where()
	if before.X > 290 {
		t.Errorf("at the wall it is at %v", before)
	}
	if err := SetObstacles(world, []Obstacle{{Width: -1}}); CodeOf(err) != Argument {
		t.Errorf("a width of -1: %v", err)
	}
	if err := ShiftOrigin(world, m3.V(150, 0, 0)); CodeOf(err) != Argument {
		t.Errorf("a shift by 1.5 m: %v", err)
	}
	must.Do(t, ShiftOrigin(world, m3.V(200, -300, 0)))
	if after := where(); after.Dist(before.Sub(m3.V(200, -300, 0))) > 0.01 {
		t.Errorf("it was at %v and is at %v", before, after)
	}
	must.Do(t, SetObstacles(world, nil))
	for range 200 {
		must.Do(t, Tick(world))
	}
	if after := where(); after.X < before.X+100 && m3.Abs(after.Y-before.Y) < 100 {
		t.Errorf("without the wall it is at %v", after)
	}
}

// Heads and hands go to places, and what cannot be is refused with a reason.
func TestLookAndHand(t *testing.T) {
	world, crowd, model := open(t, hero, WorldOptions{Space: spaces["godot"]}, 1)
	id := must.Get(CreateAgent(crowd, m3.Vec3{}, 0))(t)
	must.Do(t, Tick(world))
	lamp := m3.V(0.3, 1.2, -0.4) // ahead to the right
	must.Do(t, SetHand(id, 1, lamp, 1, 0.9))
	must.Do(t, SetLookAt(id, m3.V(-3, 1.6, -3), 1))
	there := 0
	for range 90 {
		must.Do(t, Tick(world))
		must.Do(t, Events(crowd, func(all []Event) {
			for _, e := range all {
				if e.Kind == int32(animsys.HandThere) && e.At.Dist(lamp) < 0.03 {
					there++
				}
			}
		}))
	}
	if there != 1 {
		t.Errorf("the hand is there %d times", there)
	}
	sk := must.Get(ModelOf(model))(t).Skel
	b := make([]byte, sk.Len()*64)
	must.Get(Bones(crowd, Layout{Format: FormatColumns4x4}, 1, b))(t)
	head := 64 * sk.Index("Head")
	axis := func(i int) float32 { return math.Float32frombits(binary.NativeEndian.Uint32(b[head+4*i:])) }
	if ahead := m3.V(-axis(8), 0, -axis(10)); ahead.X > -0.2 { // the bone's own -Z is ahead
		t.Errorf("the head looks along %v", ahead)
	}
	if err := SetHand(id, 0, m3.V(0, 1, 9), 1, 1); CodeOf(err) != Refused || len(err.Error()) < 10 {
		t.Errorf("a place far behind: %v", err)
	}
	for _, err := range []error{SetHand(id, 2, lamp, 1, 0), SetHand(id, 0, lamp, 2, 0), SetLookAt(id, m3.V(float32(math.NaN()), 0, 0), 1)} {
		if CodeOf(err) != Argument {
			t.Error(err)
		}
	}
	must.Do(t, SetHand(id, 1, lamp, 0, 0))
	must.Do(t, SetLookAt(id, lamp, 0))
	must.Do(t, Tick(world))
}

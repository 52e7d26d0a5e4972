package ik

import (
	"math"
	"slices"
	"sync"
	"testing"

	"mannequin/engine/m3"
)

// A row that is not finite stays, bit for bit, and its neighbours are solved as without it; any
// split over goroutines gives the same bits.
func TestFullBodyRows(t *testing.T) {
	tree, rest, joints := person(t)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	n, k := tree.Len(), len(joints)
	job := func() *FullBody { return fullBody(tree, rest, joints, 9, .3, 11) }
	want := job()
	runAll(t, want)
	bits := func(b *FullBody, r int) (out []uint32) {
		for _, q := range b.Rot[r*n : (r+1)*n] {
			for _, f := range []float32{q.X, q.Y, q.Z, q.W} {
				out = append(out, math.Float32bits(f))
			}
		}
		for _, p := range b.Pos[r*n : (r+1)*n] {
			for _, f := range []float32{p.X, p.Y, p.Z} {
				out = append(out, math.Float32bits(f))
			}
		}
		return out
	}
	b := job()
	b.Targets[1*k+3].Y = nan
	b.Targets[3*k].X = inf
	b.Targets[4*k+1].Z = 2 * far
	b.Rot[5*n+7].W = nan
	b.Rot[6*n+7] = m3.Quat{}
	b.Pos[7*n] = m3.V(0, -inf, 0)
	bad := []int{1, 3, 4, 5, 6, 7}
	before := &FullBody{Tree: tree, Pos: slices.Clone(b.Pos), Rot: slices.Clone(b.Rot)}
	var wg sync.WaitGroup
	for r := range b.Rows() {
		wg.Go(func() { b.Run(b.NewScratch(), r, r+1) })
	}
	wg.Wait()
	for r := range b.Rows() {
		ref := want
		if slices.Contains(bad, r) {
			ref = before
		}
		if !slices.Equal(bits(b, r), bits(ref, r)) {
			t.Errorf("row %d differs", r)
		}
	}
	if slices.Equal(bits(want, 0), bits(before, 0)) {
		t.Error("nothing was solved")
	}
}

func TestFullBodyAllocates(t *testing.T) {
	tree, rest, joints := person(t)
	b := fullBody(tree, rest, joints, 2, .3, 13)
	s := b.NewScratch()
	pos, rot := slices.Clone(b.Pos), slices.Clone(b.Rot)
	if n := testing.AllocsPerRun(10, func() {
		copy(b.Pos, pos) // solved poses take no steps
		copy(b.Rot, rot)
		b.Run(s, 0, 2)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if slices.Equal(b.Rot, rot) {
		t.Error("nothing was solved")
	}
}

func TestFullBodyValidate(t *testing.T) {
	tree, rest, joints := person(t)
	good := func() FullBody {
		b := *fullBody(tree, rest, joints, 2, .1, 1)
		b.Weights, b.Stiffness = make([]float32, len(joints)), slices.Repeat([]float32{1}, tree.Len())
		return b
	}
	if b := good(); b.Validate() != nil {
		t.Fatal(b.Validate())
	}
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(*FullBody){
		"zero value":        func(b *FullBody) { *b = FullBody{} },
		"no tree":           func(b *FullBody) { b.Tree = nil },
		"no joints":         func(b *FullBody) { b.Joints = nil },
		"no such joint":     func(b *FullBody) { b.Joints = append([]int{99}, joints[1:]...) },
		"negative joint":    func(b *FullBody) { b.Joints = append([]int{-1}, joints[1:]...) },
		"a joint twice":     func(b *FullBody) { b.Joints = append([]int{joints[1]}, joints[1:]...) },
		"few weights":       func(b *FullBody) { b.Weights = b.Weights[1:] },
		"negative weight":   func(b *FullBody) { b.Weights[0] = -1 },
		"NaN weight":        func(b *FullBody) { b.Weights[0] = nan },
		"few stiffnesses":   func(b *FullBody) { b.Stiffness = b.Stiffness[1:] },
		"no stiffness":      func(b *FullBody) { b.Stiffness[2] = 0 },
		"part of a row":     func(b *FullBody) { b.Pos = b.Pos[1:] },
		"missing rotations": func(b *FullBody) { b.Rot = nil },
		"missing targets":   func(b *FullBody) { b.Targets = nil },
		"no iterations":     func(b *FullBody) { b.Iterations = 0 },
		"bad tolerance":     func(b *FullBody) { b.Tolerance = nan },
		"no damping":        func(b *FullBody) { b.Damping = 0 },
		"NaN damping":       func(b *FullBody) { b.Damping = nan },
	} {
		b := good()
		spoil(&b)
		if b.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func ExampleFullBody() {
	tree, err := NewTree([]int16{-1, 0, 1})
	if err != nil {
		panic(err)
	}
	job := DefaultFullBody()
	job.Tree, job.Joints = tree, []int{0, 2}
	job.Pos = []m3.Vec3{m3.V(0, 1, 0), m3.V(0, 0.5, 0), m3.V(0, 0.5, 0)}
	job.Rot = []m3.Quat{m3.Ident, m3.Ident, m3.Ident}
	job.Targets = []m3.Vec3{m3.V(0, 1, 0), m3.V(0, 1.6, 0.6)}
	if err := job.Validate(); err != nil {
		panic(err)
	}
	job.Run(job.NewScratch(), 0, job.Rows())
}

// A second on one core: 25 joints that turn, 21 targets, from copied angles that are 1 to 3 cm off.
func BenchmarkFullBody(b *testing.B) {
	tree, rest, joints := person(b)
	job := fullBody(tree, rest, joints, 64, .05, 17)
	s := job.NewScratch()
	pos, rot := slices.Clone(job.Pos), slices.Clone(job.Rot)
	b.Logf("mean miss before: %g m", mean(job.misses(0)))
	b.ResetTimer()
	for b.Loop() {
		copy(job.Pos, pos)
		copy(job.Rot, rot)
		job.Run(s, 0, 64)
	}
	b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	b.Logf("mean miss after: %g m", mean(job.misses(0)))
}

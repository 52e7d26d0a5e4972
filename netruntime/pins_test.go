package netruntime

import (
	"slices"
	"testing"

	"mannequin/internal/testing/must"
)

// One sequence of five frames of two groups. The first is pinned at frames 1 and 3, the second
// half-pinned at frame 2.
func fivePins() *Pins {
	return &Pins{
		Group:  []int32{0, 0, 1},
		Prev:   []int32{-1, -1, 1, -1, 1, 2, 3, 2, 3, 2},
		Next:   []int32{1, 2, 1, 2, 3, 2, 3, -1, -1, -1},
		U:      []float32{9, 9, 9, 9, 0.5, 9, 0, 9, 9, 9}, // 9 does not count
		Weight: []float32{9, 9, 1, 9, 9, 0.5, 1, 9, 9, 9},
	}
}

func TestPins(t *testing.T) {
	p := fivePins()
	x := []float32{
		1, 10, 100,
		2, 20, 200,
		3, 30, 300,
		6, 60, 400,
		7, 70, 500,
		// another sequence, all pinned
		1, 10, 0.1,
		2, 20, 0.1,
		3, 30, 0.1,
		6, 60, 0.1,
		7, 70, 0.1,
	}
	for _, s := range []*[]int32{&p.Prev, &p.Next} {
		*s = append(*s, make([]int32, 10)...)
		for i := 10; i < 20; i++ {
			(*s)[i] = int32(i-10) / 2
		}
	}
	for i := range 10 {
		p.U, p.Weight = append(p.U, float32(i)/9), append(p.Weight, 1)
	}
	want := append([]float32{
		-1, -10, -50,
		0, 0, 50,
		-1, -10, 150,
		0, 0, 250,
		1, 10, 350,
	}, make([]float32, 15)...)
	got := make([]float32, len(x))
	p.Apply(got, x, 5)
	if !slices.Equal(got, want) {
		t.Errorf("corrections are %v, want %v", got, want)
	}
	if n := testing.AllocsPerRun(10, func() { p.Apply(got, x, 5) }); n != 0 {
		t.Errorf("Apply allocates %v times", n)
	}
}

// Adjoint is the transpose: <Rows x, y> = <x, y + Adjoint y>.
func TestPinsAdjoint(t *testing.T) {
	p := fivePins()
	for i, u := range p.U {
		if u == 9 {
			p.U[i] = 0.25
		}
	}
	const n = 15
	for i := range n {
		e, y := make([]float32, n), make([]float32, n)
		e[i] = 1
		p.Apply(y, e, 5)
		for j := range n {
			g := make([]float32, n)
			g[j] = 1
			dx := slices.Clone(g)
			p.Adjoint(dx, g, 5, 5, 0, 1)
			if dx[i] != y[j] {
				t.Errorf("value %d depends on %d by %v, its gradient by %v", j, i, y[j], dx[i])
			}
		}
	}
}

func TestPinsMisuse(t *testing.T) {
	for name, f := range map[string]func(p *Pins, x []float32){
		"length":     func(p *Pins, x []float32) { p.Apply(x, x, 4) },
		"length 0":   func(p *Pins, x []float32) { p.Apply(x, x, 0) },
		"result":     func(p *Pins, x []float32) { p.Apply(x[1:], x, 5) },
		"values":     func(p *Pins, x []float32) { p.Apply(x[1:], x[1:], 5) },
		"nothing":    func(p *Pins, x []float32) { p.Apply(nil, nil, 5) },
		"no columns": func(p *Pins, x []float32) { p.Group = nil; p.Apply(x, x, 5) },
		"group":      func(p *Pins, x []float32) { p.Group[1] = 2; p.Apply(x, x, 5) },
		"frame 5":    func(p *Pins, x []float32) { p.Prev[1] = 5; p.Apply(x, x, 5) },
		"frame -2":   func(p *Pins, x []float32) { p.Next[1] = -2; p.Apply(x, x, 5) },
		"weights":    func(p *Pins, x []float32) { p.Weight = p.Weight[1:]; p.Apply(x, x, 5) },
		"ratios":     func(p *Pins, x []float32) { p.U = p.U[1:]; p.Apply(x, x, 5) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "netruntime: ", func() { f(fivePins(), make([]float32, 15)) }) })
	}
}

// BenchmarkPins corrects 60 frames of a person of 23 joints.
func BenchmarkPins(b *testing.B) {
	const length, cols, groups = 60, 69, 5
	n := length * groups
	p := &Pins{Prev: make([]int32, n), Next: make([]int32, n), U: make([]float32, n), Weight: make([]float32, n)}
	for c := range cols {
		p.Group = append(p.Group, int32(c/15))
	}
	for i := range n {
		p.Prev[i], p.Next[i] = int32(i/groups/20*20), int32(min(i/groups/20*20+20, length-1))
		p.U[i], p.Weight[i] = float32(i/groups%20)/20, 1
	}
	x, y := make([]float32, length*cols), make([]float32, length*cols)
	b.ReportAllocs()
	for b.Loop() {
		p.Apply(y, x, length)
	}
}

package grad

import (
	"fmt"
	"math"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// pinned returns pins of columns in groups of two and three. Each group is pinned at about every
// fourth frame of each sequence, some of them by half. The first and last frames lie beyond all
// pins.
func pinned(batch, length, cols, groups int) *netruntime.Pins {
	p := &netruntime.Pins{}
	for c := range cols {
		p.Group = append(p.Group, int32((c+1)/2%groups))
	}
	n := batch * length * groups
	p.Prev, p.Next, p.U, p.Weight = make([]int32, n), make([]int32, n), make([]float32, n), make([]float32, n)
	for s := range batch {
		for g := range groups {
			at := func(f int) int { return (s*length+f)*groups + g }
			hit := func(f int) bool { return Hash(uint64(s*groups+g), uint64(f))%4 == 0 && f > 0 && f < length-1 }
			last := int32(-1)
			for f := range length {
				if hit(f) {
					last = int32(f)
					p.Weight[at(f)] = []float32{1, 0.5}[Hash(9, uint64(f))%2]
				}
				p.Prev[at(f)] = last
			}
			last = -1
			for f := length - 1; f >= 0; f-- {
				if hit(f) {
					last = int32(f)
				}
				i := at(f)
				if p.Next[i] = last; last > p.Prev[i] && p.Prev[i] >= 0 {
					p.U[i] = float32(f-int(p.Prev[i])) / float32(last-p.Prev[i])
				}
			}
		}
	}
	return p
}

// anyhow returns pins at frames in no order.
func anyhow(batch, length, cols, groups int) *netruntime.Pins {
	p := pinned(batch, length, cols, groups)
	for i := range p.Prev {
		p.Prev[i] = int32(Hash(1, uint64(i))%uint64(length+1)) - 1
		p.Next[i] = int32(Hash(2, uint64(i))%uint64(length+1)) - 1
		p.U[i] = float32(Hash(3, uint64(i))%1000) / 1000
		p.Weight[i] = float32(Hash(4, uint64(i))%5) / 4
	}
	return p
}

// pin64 is Pin by its formula.
func pin64(x mat64, length int, p *netruntime.Pins) mat64 {
	groups := len(p.Prev) / x.rows
	return build(x.rows, x.cols, func(r, c int) float64 {
		g := int(p.Group[c])
		prev, next, u := int(p.Prev[r*groups+g]), int(p.Next[r*groups+g]), float64(p.U[r*groups+g])
		part := func(f int) float64 {
			row := r - r%length + f
			return float64(p.Weight[row*groups+g]) * x.at(row, c)
		}
		switch {
		case prev < 0 && next < 0:
			return x.at(r, c)
		case next < 0:
			return x.at(r, c) - part(prev)
		case prev < 0:
			return x.at(r, c) - part(next)
		}
		return x.at(r, c) - (1-u)*part(prev) - u*part(next)
	})
}

func pinCases() []opCase {
	var out []opCase
	for _, s := range []struct{ batch, length, cols, groups int }{{1, 1, 1, 1}, {3, 9, 7, 3}, {2, 12, 5, 1}} {
		for i, p := range []*netruntime.Pins{pinned(s.batch, s.length, s.cols, s.groups), anyhow(s.batch, s.length, s.cols, s.groups)} {
			out = append(out, opCase{fmt.Sprintf("Pin %+v %s", s, []string{"in order", "anyhow"}[i]), []mat64{random(130, s.batch*s.length, s.cols)}, nil,
				func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Pin(in[0], s.length, p) },
				func(in, _ []mat64) mat64 { return pin64(in[0], s.length, p) }})
		}
	}
	return out
}

// The tape computes the same bits as Apply, for sequences alone or among others, and a NaN stays in
// its sequence.
func TestPinIsApply(t *testing.T) {
	tape := newTape(t, 3)
	const batch, length, cols, groups = 5, 60, 69, 4
	p := pinned(batch, length, cols, groups)
	x := tape.Input(batch*length, cols)
	copy(x.Val, random(131, batch*length, cols).f32())
	nan := 2 * length * cols // in the third sequence
	x.Val[nan] = float32(math.NaN())
	y := tape.Pin(x, length, p)
	tape.Backward(tape.SumSquares(y))
	want := make([]float32, length*cols)
	for s := range batch {
		part := func(n int) (i, j int) { return s * length * n, (s + 1) * length * n }
		i, j := part(groups)
		one := &netruntime.Pins{Group: p.Group, Prev: p.Prev[i:j], Next: p.Next[i:j], U: p.U[i:j], Weight: p.Weight[i:j]}
		i, j = part(cols)
		one.Apply(want, x.Val[i:j], length)
		zeros := 0
		for k, v := range want {
			if got := y.Val[i+k]; math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("sequence %d, value %d is %v, by Apply %v", s, k, got, v)
			}
			g := float64(x.Grad[i+k])
			if s != 2 && math.IsNaN(g) {
				t.Fatalf("sequence %d, gradient %d is NaN", s, k)
			}
			row := k / cols
			if c := int(one.Group[k%cols]); one.Prev[row*groups+c] == int32(row) && one.Weight[row*groups+c] == 1 && s != 2 {
				if zeros++; v != 0 {
					t.Fatalf("sequence %d: %v at a pinned frame", s, v)
				}
			}
		}
		if zeros == 0 && s != 2 {
			t.Fatal("nothing is pinned: nothing was tested")
		}
	}
}

func TestMisuseOfPin(t *testing.T) {
	pool := newPool(t, 1)
	for name, f := range map[string]func(t *Tape, p *netruntime.Pins){
		"length":  func(t *Tape, p *netruntime.Pins) { t.Pin(t.Const(8, 5), 3, p) },
		"columns": func(t *Tape, p *netruntime.Pins) { t.Pin(t.Const(8, 4), 4, p) },
		"rows":    func(t *Tape, p *netruntime.Pins) { t.Pin(t.Const(12, 5), 4, p) },
		"frame":   func(t *Tape, p *netruntime.Pins) { p.Next[3] = 4; t.Pin(t.Const(8, 5), 4, p) },
		"group":   func(t *Tape, p *netruntime.Pins) { p.Group[2] = 5; t.Pin(t.Const(8, 5), 4, p) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "", func() { f(NewTape(pool), pinned(2, 4, 5, 5)) }) })
	}
}

// BenchmarkPin is Pin and its gradient on 16 sequences of 60 frames of the corrections of a person
// of 23 joints in 5 groups.
func BenchmarkPin(b *testing.B) {
	const batch, length, cols, groups = 16, 60, 69, 5
	p := pinned(batch, length, cols, groups)
	for c := range p.Group {
		p.Group[c] = int32(c / 15)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers, " workers"), func(b *testing.B) {
			t := newTape(b, workers)
			data := random(132, batch*length, cols).f32()
			measure(b, batch*length, func() {
				t.Reset()
				x := t.Input(batch*length, cols)
				copy(x.Val, data)
				t.Backward(t.SumSquares(t.Pin(x, length, p)))
			})
		})
	}
}

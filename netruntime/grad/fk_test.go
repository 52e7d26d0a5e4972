package grad

import (
	"fmt"
	"math"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// bones returns a skeleton of the given number of joints with branches, and rotations for it.
func bones(rows, joints int) (s Skeleton, base []float32) {
	s.Parents = []int32{-1, 0, 1, 2, 1, 4, 0, 6}
	for j := len(s.Parents); j < joints; j++ {
		s.Parents = append(s.Parents, int32(Hash(5, uint64(j))%uint64(j)))
	}
	s.Parents = s.Parents[:joints]
	s.Offsets = random(110, joints, 3).f32()
	base = random(111, rows*joints, 4).f32()
	for i := 0; i < len(base); i += 4 {
		q := base[i:][:4]
		var u float64
		for _, v := range q {
			u += float64(v) * float64(v)
		}
		for k := range q {
			q[k] = float32(float64(q[k]) / math.Sqrt(u))
		}
	}
	return s, base
}

type rotation [3][3]float64

func (a rotation) mul(b rotation) (c rotation) {
	for i := range c {
		for j := range c {
			for k := range c {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func (a rotation) turn(v []float64) (y [3]float64) {
	for i := range y {
		y[i] = a[i][0]*v[0] + a[i][1]*v[1] + a[i][2]*v[2]
	}
	return y
}

// rodrigues returns exp([v]×) by Rodrigues' formula.
func rodrigues(v []float64) rotation {
	theta := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	k := rotation{{0, -v[2], v[1]}, {v[2], 0, -v[0]}, {-v[1], v[0], 0}}
	a, b := 1.0, 0.5
	if theta > 0 {
		a, b = math.Sin(theta)/theta, 2*math.Pow(math.Sin(theta/2)/theta, 2)
	}
	out := k.mul(k)
	for i := range out {
		for j := range out {
			out[i][j] = a*k[i][j] + b*out[i][j]
		}
		out[i][i]++
	}
	return out
}

// fk64 is forward kinematics by matrices.
func fk64(delta mat64, base []float32, s Skeleton) mat64 {
	n := len(s.Parents)
	y := zero64(delta.rows, 3*n)
	all := make([]rotation, n)
	for r := range delta.rows {
		for j, up := range s.Parents {
			q := base[4*(r*n+j):]
			x, y1, z, w := float64(q[0]), float64(q[1]), float64(q[2]), float64(q[3])
			u := 2 / (x*x + y1*y1 + z*z + w*w)
			local := rotation{
				{1 - u*(y1*y1+z*z), u * (x*y1 - z*w), u * (x*z + y1*w)},
				{u * (x*y1 + z*w), 1 - u*(x*x+z*z), u * (y1*z - x*w)},
				{u * (x*z - y1*w), u * (y1*z + x*w), 1 - u*(x*x+y1*y1)},
			}.mul(rodrigues(delta.v[3*(r*n+j):][:3]))
			if all[j] = local; j == 0 {
				continue
			}
			all[j] = all[up].mul(local)
			o := s.Offsets[3*j:]
			for k, v := range all[up].turn([]float64{float64(o[0]), float64(o[1]), float64(o[2])}) {
				y.v[r*y.cols+3*j+k] = y.at(r, 3*int(up)+k) + v
			}
		}
	}
	return y
}

// kinematicsCases are skeletons under corrections of any size.
func kinematicsCases() []opCase {
	var out []opCase
	for _, c := range []struct {
		name  string
		scale float64
	}{{"", 1}, {" at no correction", 0}, {" of small corrections", 1e-3}, {" around the end of the series", 0.3}, {" of turns beyond 2π", 4}} {
		const rows, joints = 3, 12
		s, base := bones(rows, joints)
		x := random(112, rows, 3*joints)
		for i := range x.v {
			x.v[i] = float64(float32(c.scale * x.v[i]))
		}
		out = append(out, opCase{"FK" + c.name, []mat64{x}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.FK(in[0], base, s) },
			func(in, _ []mat64) mat64 { return fk64(in[0], base, s) }})
	}
	return out
}

// The factors of the right Jacobian, and the rotation, against float64 from zero to a full turn and
// on both sides of the end of the series.
func TestExpMap(t *testing.T) {
	axis := [3]float64{0.48, -0.6, 0.64}
	for _, theta := range []float64{0, 1e-30, 1e-20, 1e-8, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.4999, 0.5001, 1, 2, 3, math.Pi, 4, 5, 6, 2 * math.Pi, 7} {
		v := vec3{float32(theta * axis[0]), float32(theta * axis[1]), float32(theta * axis[2])}
		q, a, b := expMap(v)
		th := math.Sqrt(float64(v.x)*float64(v.x) + float64(v.y)*float64(v.y) + float64(v.z)*float64(v.z))
		s, wantA, wantB := 0.5, 0.5, 1./6
		if th > 1e-15 {
			s = math.Sin(th/2) / th
			wantA = 2 * s * s
			if th > 1e-3 {
				wantB = (th - math.Sin(th)) / (th * th * th)
			}
		}
		for i, c := range [][2]float64{
			{float64(q.x), s * float64(v.x)}, {float64(q.y), s * float64(v.y)}, {float64(q.z), s * float64(v.z)}, {float64(q.w), math.Cos(th / 2)},
			{float64(a), wantA}, {float64(b), wantB},
		} {
			if d := math.Abs(c[0] - c[1]); !(d <= 2e-7*math.Abs(c[1])+1e-9*min(th, 1)) {
				t.Errorf("angle %g, number %d is %g, want %g", theta, i, c[0], c[1])
			}
		}
	}
}

// A full turn about any axis is no rotation, and its slope is finite.
func TestFKOfWholeTurns(t *testing.T) {
	tape := newTape(t, 1)
	const joints = 10
	s, base := bones(1, joints)
	at := func(turn float64) (p, g []float32) {
		x := tape.Input(1, 3*joints)
		for j := range joints {
			axis := random(uint64(120+j), 1, 3).v
			n := math.Sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
			for k := range axis {
				x.Val[3*j+k] = float32(turn * axis[k] / n)
			}
		}
		y := tape.FK(x, base, s)
		tape.Backward(tape.SumSquares(y))
		return append([]float32(nil), y.Val...), append([]float32(nil), x.Grad...)
	}
	want, _ := at(0)
	tape.Reset()
	got, g := at(2 * math.Pi)
	for i, v := range want {
		if d := math.Abs(float64(got[i] - v)); !(d <= 2e-6) {
			t.Errorf("value %d is %v after a whole turn, %v after none", i, got[i], v)
		}
		if !(math.Abs(float64(g[i])) < 1e3) {
			t.Errorf("gradient %d is %v", i, g[i])
		}
	}
}

// Bones keep their length down a long chain under any rotation. The root stays at 0, and joints
// without children have no slope.
func TestFKKeepsBones(t *testing.T) {
	tape := newTape(t, 2)
	const rows, joints = 3, 300
	s, base := bones(rows, joints)
	for j := range s.Parents {
		s.Parents[j] = int32(j) - 1
	}
	x := tape.Input(rows, 3*joints)
	copy(x.Val, random(113, rows, 3*joints).f32())
	y := tape.FK(x, base, s)
	tape.Backward(tape.SumSquares(y))
	length := func(v []float32) float64 {
		return math.Sqrt(float64(v[0])*float64(v[0]) + float64(v[1])*float64(v[1]) + float64(v[2])*float64(v[2]))
	}
	for r := range rows {
		p, g := y.Val[r*y.Cols:][:y.Cols], x.Grad[r*y.Cols:][:y.Cols]
		for j := 1; j < joints; j++ {
			bone := make([]float32, 3)
			kernel.Sub(bone, p[3*j:][:3], p[3*j-3:][:3])
			if d := math.Abs(length(bone) - length(s.Offsets[3*j:][:3])); !(d <= 5e-6) {
				t.Fatalf("row %d: bone %d is off by %g m", r, j, d)
			}
		}
		if length(p) != 0 || length(g[3*joints-3:]) != 0 || length(g) == 0 {
			t.Errorf("row %d: the root is at %v, the last joint's slope %v, the root's %v", r, p[:3], g[3*joints-3:], g[:3])
		}
	}
}

// A NaN stays in its row.
func TestFKRowsDoNotMix(t *testing.T) {
	tape := newTape(t, 2)
	const rows, joints = 200, 20
	s, base := bones(rows, joints)
	run := func(v float32) (y, g []float32) {
		tape.Reset()
		x := tape.Input(rows, 3*joints)
		copy(x.Val, random(114, rows, 3*joints).f32())
		x.Val[77*x.Cols+5] = v
		p := tape.FK(x, base, s)
		tape.Backward(tape.SumSquares(p))
		return append([]float32(nil), p.Val...), append([]float32(nil), x.Grad...)
	}
	wantY, wantG := run(0)
	y, g := run(float32(math.NaN()))
	for i := range y {
		same := math.Float32bits(y[i]) == math.Float32bits(wantY[i]) && math.Float32bits(g[i]) == math.Float32bits(wantG[i])
		if row := i / (3 * joints); row != 77 && !same {
			t.Fatalf("row %d, value %d is another one beside a NaN", row, i)
		}
	}
}

func TestMisuseOfFK(t *testing.T) {
	pool := newPool(t, 1)
	ok := Skeleton{[]int32{-1, 0}, make([]float32, 6)}
	for name, f := range map[string]func(t *Tape){
		"no joints":   func(t *Tape) { t.FK(t.Const(1, 6), nil, Skeleton{}) },
		"corrections": func(t *Tape) { t.FK(t.Const(1, 3), make([]float32, 8), ok) },
		"rotations":   func(t *Tape) { t.FK(t.Const(2, 6), make([]float32, 8), ok) },
		"offsets":     func(t *Tape) { t.FK(t.Const(1, 6), make([]float32, 8), Skeleton{ok.Parents, make([]float32, 3)}) },
		"no root":     func(t *Tape) { t.FK(t.Const(1, 6), make([]float32, 8), Skeleton{[]int32{0, 0}, ok.Offsets}) },
		"two roots":   func(t *Tape) { t.FK(t.Const(1, 6), make([]float32, 8), Skeleton{[]int32{-1, -1}, ok.Offsets}) },
		"order":       func(t *Tape) { t.FK(t.Const(1, 6), make([]float32, 8), Skeleton{[]int32{-1, 1}, ok.Offsets}) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "grad: ", func() { f(NewTape(pool)) }) })
	}
}

// BenchmarkFK is forward kinematics and its gradient for 16 sequences of 60 frames of a person of
// 23 joints. Small corrections use the series.
func BenchmarkFK(b *testing.B) {
	const rows, joints = 960, 23
	s, base := bones(rows, joints)
	for _, scale := range []float32{0.1, 2} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("corrections of %v, %d workers", scale, workers), func(b *testing.B) {
				t := newTape(b, workers)
				data := random(115, rows, 3*joints).f32()
				kernel.Scale(data, scale, data)
				measure(b, rows, func() {
					t.Reset()
					x := t.Input(rows, 3*joints)
					copy(x.Val, data)
					t.Backward(t.SumSquares(t.FK(x, base, s)))
				})
			})
		}
	}
}

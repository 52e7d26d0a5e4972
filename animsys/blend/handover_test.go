package blend

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// walk is what a row does in a tick, and whether it jumps there.
func walk(tick int) (root m3.Xform, angle float32, jumps bool) {
	root = m3.Xform{Pos: m3.V(0.02*float32(tick), 0, 1), Rot: m3.YawQuat(0.03 * float32(tick))}
	return root, 0.4 + 0.1*m3.Sin(0.3*float32(tick)) + 0.7*float32(tick/15%2), tick%15 == 0
}

func walked(b *Inertial, tick int) ([]m3.Vec3, []m3.Quat) {
	root, angle, jumps := walk(tick)
	if jumps {
		b.Jump(0)
	}
	return run(b, root, m3.V(0, 1, 0.1*float32(tick/15%2)), angle)
}

// A row goes on in another Inertial with the same bits, and in one with other ticks without a velocity; a state without anything forgets all.
func TestHandsOver(t *testing.T) {
	a, b, slow := NewInertial(1, parents), NewInertial(1, parents), NewInertial(1, parents)
	slow.DT *= 2
	var st generator.State
	for tick := range 60 {
		p, q := walked(a, tick)
		if tick > 0 {
			p2, q2 := walked(b, tick)
			if !slices.Equal(p, p2) || !slices.Equal(q, q2) {
				t.Fatal("tick ", tick, ": it goes on otherwise")
			}
		}
		if tick == 31 {
			a.Put(0)
		}
		st.Reset()
		a.Leave(&st, 0)
		for _, o := range []*Inertial{b, slow} {
			walked(o, 2) // something else
			st.Rewind()
			if err := o.Resume(&st, 0); err != nil {
				t.Fatal(err)
			}
		}
		if slow.state[0].seen != 1 || slow.hips[0].off != a.hips[0].off {
			t.Fatal("another tick's velocity is taken, or nothing")
		}
	}
	if a.state[0].fading == false || b.state[0] != a.state[0] {
		t.Error("nothing was left to be eased")
	}
	st.Reset()
	st.Rewind()
	if err := b.Resume(&st, 0); err != nil || b.state[0] != (rowState{}) {
		t.Error("a state without anything: ", err)
	}
}

// What was shown otherwise than Run left it is eased from there on, and the row that leaves stays as it is.
func TestHandsOverShown(t *testing.T) {
	a, b := NewInertial(1, parents), NewInertial(1, parents)
	for tick := 1; tick < 15; tick++ {
		walked(a, tick)
	}
	if a.state[0].fading {
		t.Fatal("it eases a jump")
	}
	root, _, _ := walk(14)
	model := func(p []m3.Vec3, q []m3.Quat) (m []m3.Xform) {
		m = []m3.Xform{{Pos: p[0], Rot: q[0]}}
		for j := 1; j < joints; j++ {
			m = append(m, m[j-1].Mul(m3.Xform{Pos: p[j], Rot: q[j]}))
		}
		return m
	}
	p, q := pose(root, up, 0)
	a.Shown(0, root, p, q)
	stood := model(p, q)
	q[1] = m3.AxisAngle(m3.V(0, 0, 1), 0.5).Mul(q[1])
	p[0] = p[0].Add(m3.V(0.1, -0.05, 0.2))
	shown := model(p, q)
	var st generator.State
	a.LeaveShown(&st, 0, root, shown, stood)
	st.Rewind()
	if err := b.Resume(&st, 0); err != nil {
		t.Fatal(err)
	}
	b.Shown(0, root, p, q)
	for j, x := range model(p, q) {
		if x.Pos.Dist(shown[j].Pos) > 1e-5 || x.Rot.Angle(shown[j].Rot) > 1e-3 {
			t.Fatalf("joint %d is shown at %v, want %v", j, x, shown[j])
		}
	}
	was := shown
	for tick := 15; tick < 150; tick++ {
		p, q := walked(a, 14) // it stands
		p2, q2 := walked(b, 14)
		is, want := model(p2, q2), model(p, q)
		for j := range is {
			if d := is[j].Pos.Dist(was[j].Pos); d > 0.3 { // 0.5 rad at 2 m would be 1 m at once
				t.Fatal("tick ", tick, " joint ", j, " moves ", d, " m")
			}
			if d := is[j].Pos.Dist(want[j].Pos); tick == 149 && d > 1e-3 {
				t.Error("joint ", j, " ends ", d, " m off")
			}
		}
		was = is
	}
}

// States that no Inertial writes are refused, and leave a row that has forgotten all.
func TestHandsOverSound(t *testing.T) {
	a := NewInertial(1, parents)
	for tick := range 16 { // the last one jumps
		walked(a, tick)
	}
	var good generator.State
	a.Leave(&good, 0)
	b := NewInertial(1, parents)
	read := func(data []byte) error {
		walked(b, 1)
		st := generator.State{Data: data}
		st.Rewind()
		return b.Resume(&st, 0)
	}
	refused := func(what string, data []byte) {
		t.Helper()
		if read(data) == nil {
			t.Error(what, ": no error")
		} else if b.state[0] != (rowState{}) || b.hips[0].off != (m3.Vec3{}) || b.off[1] != m3.Ident {
			t.Error(what, ": something stays")
		}
	}
	if err := read(good.Data); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(good.Data); n++ {
		refused(fmt.Sprint(n, " bytes of it"), good.Data[:n])
	}
	refused("more", append(slices.Clone(good.Data), 0))
	refused("another beginning", append([]byte{'x'}, good.Data[1:]...))
	old := slices.Clone(good.Data)
	old[len(leftMagic)-1]++
	if refused("another version", old); !strings.Contains(fmt.Sprint(read(old)), "version 2, and this program reads version 1") {
		t.Error(read(old))
	}
	var other generator.State
	NewInertial(1, parents[:2]).Leave(&other, 0)
	refused("two joints", other.Data)
	// Each number in turn is one that no row has.
	const head = len(leftMagic) + 8
	for i := head + 5; i+4 <= len(good.Data); i += 4 {
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e30} {
			data := slices.Clone(good.Data)
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(v))
			if err := read(data); err != nil {
				continue
			} else if v != 1e30 {
				t.Errorf("number %d is %g: no error", (i-head-5)/4, v)
			}
			// Where the root was may be anywhere.
			for tick := range 3 {
				p, q := walked(b, tick+20)
				if !p[0].Finite() || p[0].Len() > 10 || !finite(q) {
					t.Errorf("number %d is %g: it goes to %v", (i-head-5)/4, v, p[0])
				}
			}
		}
	}
	// Whatever is read, poses are finite.
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		data := slices.Clone(good.Data)
		for range 1 + random.IntN(4) {
			data[random.IntN(len(data))] = byte(random.IntN(256))
		}
		if read(data) != nil {
			continue
		}
		for tick := range 3 {
			if p, q := walked(b, tick+20); !p[0].Finite() || !finite(q) {
				t.Fatal("a pose is not finite")
			}
		}
	}
}

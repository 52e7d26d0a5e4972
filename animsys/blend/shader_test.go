package blend

import (
	"math"
	"slices"
	"testing"

	"mannequin/engine/m3"
)

// A packed row goes on elsewhere as it would, and shows what it showed. Package resident compares the kernel with Run.
func TestPack(t *testing.T) {
	a, b := NewInertial(1, parents), NewInertial(3, parents)
	row := make([]float32, a.PackLen())
	pos, rot := make([]m3.Vec3, joints), make([]m3.Quat, joints)
	if a.Shown(0, m3.Identity, pos, rot) {
		t.Error("a row that has shown nothing shows something")
	}
	for tick := range 60 {
		root := m3.Xform{Pos: m3.V(0.02*float32(tick), 0, 1), Rot: m3.YawQuat(0.03 * float32(tick))}
		angle := 0.4 + 0.1*m3.Sin(0.3*float32(tick))
		switch {
		case tick == 24: // a root that is put a little way off has not gone there
			root.Pos.Z += 0.1
			a.Put(0)
		case tick%15 == 9:
			a.Jump(0)
		}
		if tick/15%2 == 1 {
			angle += 0.7
		}
		a.Pack(row, 0)
		if err := b.Unpack(2, row); err != nil {
			t.Fatal(err)
		}
		p, q := run(a, root, m3.V(0, 1, 0), angle)
		p2, q2 := pose(root, m3.V(0, 1, 0), angle)
		all, turns, roots := append(make([]m3.Vec3, 2*joints), p2...), append(make([]m3.Quat, 2*joints), q2...), []m3.Xform{{}, {}, root}
		b.Run(all, turns, roots, 2, 3)
		a.Shown(0, root, pos, rot)
		for j := range joints {
			if d := q[j].Angle(turns[2*joints+j]); d > 1e-3 {
				t.Fatal("tick ", tick, " joint ", j, ": ", d, " rad off")
			}
			if d := q[j].Angle(rot[j]); d > 1e-3 {
				t.Fatal("tick ", tick, " joint ", j, ": it shows another rotation, ", d, " rad off")
			}
		}
		if d := max(p[0].Dist(all[2*joints]), p[0].Dist(pos[0])); d > 1e-5 {
			t.Fatal("tick ", tick, ": ", d, " m off")
		}
	}
	bad := slices.Clone(row)
	bad[30] = float32(math.Inf(1))
	for _, r := range [][]float32{bad, row[:10]} {
		if b.Unpack(2, r) == nil || b.Shown(2, m3.Identity, pos, rot) {
			t.Error("a row that is none is taken")
		}
	}
}

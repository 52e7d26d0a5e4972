package human

import (
	"fmt"
	"math"
	"testing"

	"mannequin/engine/m3"
)

// A standing foot does not move at its rolling point, and nothing goes below the ground.
func TestFeet(t *testing.T) {
	const most = 1e-4 // m
	takes, _ := round(t)
	b := newBody()
	for _, tk := range takes {
		m := model(tk)
		for foot := range 2 {
			ankle := b.upLeg[foot] + 2
			// ball, end of the toes, end of the heel
			points := func(f int) [3]m3.Vec3 {
				return [3]m3.Vec3{m[f][ankle+1].Pos, m[f][ankle+2].Pos, m[f][ankle].Apply(heelLocal)}
			}
			for f := range m {
				p := points(f)
				if low := min(p[0].Y-ballHeight, p[1].Y-ballHeight, p[2].Y); low < -0.001 {
					t.Fatalf("%s frame %d: foot %d is %.1f mm in the ground", tk.Name, f, foot, -1000*low)
				}
				bit := uint8(1) << foot
				if f == 0 || tk.Stands[f]&tk.Stands[f-1]&bit == 0 {
					continue
				}
				q := points(f - 1)
				if slide := min(p[0].Dist(q[0]), p[2].Dist(q[2])); slide > most {
					t.Fatalf("%s frame %d: foot %d slides by %.2f mm", tk.Name, f, foot, 1000*slide)
				}
				if high := min(p[0].Y-ballHeight, p[2].Y); high > most {
					t.Fatalf("%s frame %d: foot %d stands %.2f mm in the air", tk.Name, f, foot, 1000*high)
				}
			}
		}
	}
}

// Everything is finite, bones keep their lengths, End Sites do not turn, knees and
// elbows bend their way, and nothing pops.
func TestMotion(t *testing.T) {
	takes, _ := round(t)
	b := newBody()
	// How hard any joint may be accelerated, m/s², its speed, m/s, and its turning, rad/s: the
	// feet's and knees' of an angry sprint. A foot that jumped by 2 cm from one frame
	// to the next would have 72 m/s² more.
	bounds := map[string][3]float64{Walk: {170, 9, 17}, Run: {240, 11.5, 28}, Stand: {4, 0.5, 1}}
	for _, tk := range takes {
		c := tk.Clip
		m := model(tk)
		n := c.Skel.Len()
		var fastest, hardest, turning float64
		var who, whose string
		for f := range m {
			pos, rot := c.Frame(f)
			for j := range n {
				if !m[f][j].Pos.Finite() || !m[f][j].Rot.Finite() {
					t.Fatalf("%s frame %d joint %d: %v", tk.Name, f, j, m[f][j])
				}
				if j > 0 && pos[j] != c.Skel.Offsets[j] {
					t.Fatalf("%s frame %d: joint %d is not where its bone ends", tk.Name, f, j)
				}
				if c.Skel.EndSite[j] && rot[j] != m3.Ident {
					t.Fatalf("%s frame %d: End Site %d turns", tk.Name, f, j)
				}
				if f > 0 {
					before := c.Rot[(f-1)*n+j]
					if w := float64(before.Angle(rot[j])) * FPS; w > turning {
						turning, whose = w, fmt.Sprintf("%s at %.2f", c.Skel.Names[j], tk.Times[f]/Period)
					}
					if before.Dot(rot[j]) < 0 {
						t.Fatalf("%s frame %d: the quaternion of joint %d changes its side", tk.Name, f, j)
					}
					fastest = max(fastest, float64(m[f][j].Pos.Dist(m[f-1][j].Pos))*FPS)
				}
				if f > 1 {
					a := m[f][j].Pos.Add(m[f-2][j].Pos).Sub(m[f-1][j].Pos.Scale(2))
					if a := float64(a.Len()) * FPS * FPS; a > hardest {
						hardest, who = a, fmt.Sprintf("%s at %.2f", c.Skel.Names[j], tk.Times[f-1]/Period)
					}
				}
			}
			for side := range 2 {
				knee := rot[b.upLeg[side]+1].RotationVector()
				if bend := float64(knee.X); bend < rad(3) || bend > rad(140) || math.Hypot(float64(knee.Y), float64(knee.Z)) > 1e-3 {
					t.Fatalf("%s frame %d: knee %d bends by %v", tk.Name, f, side, knee)
				}
				hip := rot[b.upLeg[side]].Rotate(m3.V(1, 0, 0))
				if hip.X < 0.8 {
					t.Fatalf("%s frame %d: thigh %d is twisted to %v", tk.Name, f, side, hip)
				}
				elbow := rot[b.shoulder[side]+2].Rotate(m3.V(1, 0, 0))
				if elbow.X <= -0.95 || sideOf(side)*float64(elbow.Z) <= 0 {
					t.Fatalf("%s frame %d: elbow %d bends to %v", tk.Name, f, side, elbow)
				}
			}
		}
		if max := bounds[tk.Action]; hardest > max[0] || fastest > max[1] || turning > max[2] {
			t.Errorf("%s: joints reach %.0f m/s² (%s), %.1f m/s and turn by %.1f rad/s (%s), want up to %v", tk.Name, hardest, who, fastest, turning, whose, max)
		}
	}
}

// A style without a weak side walks the mirror image half a cycle later.
func TestSymmetry(t *testing.T) {
	b := newBody()
	for _, sc := range scripts() {
		if sc.name != "walk-straight" && sc.name != "run-straight" {
			continue
		}
		for _, st := range styleRows {
			p := performer{body: b, style: st, rng: rng(1, sc.name, st.name, 0), person: rng(1, sc.name, "", 0)}
			g := p.figure(&sc)
			worst := float32(0)
			for k := range 40 {
				x := g.joints(2+float64(k)/40, 0.1)
				y := g.joints(2.5+float64(k)/40, 0.1)
				for j := range x {
					mirror := y[partner(b, j)].Sub(y[0].Flat())
					mirror.X = -mirror.X
					worst = max(worst, mirror.Dist(x[j].Sub(x[0].Flat())))
				}
			}
			// The hips themselves sway to both sides.
			if limit := float32(0.002); st.limp == 0 && st.headTilt == 0 && worst > limit {
				t.Errorf("%s %s: half a cycle later a joint is %.1f mm from its mirror image", sc.name, st.name, 1000*worst)
			} else if st.limp > 0 && worst < 0.01 {
				t.Errorf("%s %s does not limp: %.1f mm", sc.name, st.name, 1000*worst)
			}
		}
	}
}

// joints returns the joints' places at canonical time t, the pelvis lowered by sink.
func (g *figure) joints(t, sink float64) []m3.Vec3 {
	b := g.beatAt(t, 0)
	po := g.pose(&b, sink)
	out := make([]m3.Vec3, g.body.Len())
	for j, parent := range g.body.Parents {
		if parent < 0 {
			out[j] = po.root
			continue
		}
		out[j] = out[parent].Add(po.rot[parent].Rotate(g.body.Offsets[j]))
	}
	return out
}

func partner(b *rig, j int) int {
	for _, p := range [][2]string{{"Left", "Right"}, {"Right", "Left"}} {
		if n := b.Names[j]; len(n) > len(p[0]) && n[:len(p[0])] == p[0] {
			return b.Index(p[1] + n[len(p[0]):])
		}
	}
	return j
}

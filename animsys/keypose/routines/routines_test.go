package routines_test

import (
	"fmt"
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	humankeypose "mannequin/models/human-keypose"
)

func model(t testing.TB) *keypose.Model {
	t.Helper()
	net := must.Get(humankeypose.Open())(t)
	m := must.Get(keypose.NewModel(net))(t)
	return m
}

// body is an agent's pose.
type body struct {
	sk    *skel.Skeleton
	pos   []m3.Vec3
	rot   []m3.Quat
	model []m3.Xform
}

func (b *body) at(name string) m3.Vec3 { return b.model[b.sk.Index(name)].Pos }

// heading returns the heading of a joint, rad.
func (b *body) heading(name string) float32 {
	return b.model[b.sk.Index(name)].Rot.Yaw()
}

// perform plays a loop of an author and calls see after every tick of a round.
func perform(t *testing.T, m *keypose.Model, seed uint64, name string, see func(b *body)) {
	t.Helper()
	a := must.Get(routines.NewAuthor(m.Layout, seed))(t)
	r, err := a.Write(name)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	s := must.Get(m.NewStream(keypose.StreamOptions{Capacity: 1, Workers: 1}))(t)
	defer s.Close()
	must.Get(s.Add(feature.Place{}, &keypose.Performance{Loop: r}))(t)
	player := testgen.Play(s, m.Layout.Skel.Len())
	n := m.Layout.Skel.Len()
	b := &body{m.Layout.Skel, make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)}
	for range int(60 * r.Seconds()) {
		must.Do(t, player.Continue())
		player.Show(0, b.pos, b.rot)
		b.sk.LocalToModel(b.model, b.pos, b.rot)
		see(b)
	}
}

// In all loops people stand still, and elbows and knees bend the right way.
func TestPosesAreHuman(t *testing.T) {
	m := model(t)
	for seed := range uint64(2) {
		var toes [2]m3.Vec3
		for _, name := range routines.Names() {
			perform(t, m, seed, name, func(b *body) {
				for i, side := range []string{"Left", "Right"} {
					toe := b.at(side + "ToeBase")
					if toes[i] == (m3.Vec3{}) {
						toes[i] = toe
					}
					if d := toe.Dist(toes[i]); d > 0.02 {
						t.Fatalf("seed %d: %s: a toe moves %.3f m from its place", seed, name, d)
					}
					j := b.sk.Index(side + "ForeArm")
					if z := b.rot[j].Rotate(b.sk.Offsets[b.sk.Index(side+"Hand")]).Z; z < -0.01 {
						t.Fatalf("seed %d: %s: an elbow bends backward, %.3f m", seed, name, z)
					}
					j = b.sk.Index(side + "Leg")
					if z := b.rot[j].Rotate(b.sk.Offsets[b.sk.Index(side+"Foot")]).Z; z > 0.02 {
						t.Fatalf("seed %d: %s: a knee bends forward, %.3f m", seed, name, z)
					}
				}
				if b.at("HeadSite").Y < b.at("Hips").Y+0.3 {
					t.Fatalf("seed %d: %s: the head is at %v", seed, name, b.at("HeadSite"))
				}
			})
		}
	}
}

// Each loop shows what its name says.
func TestLoopsMatchTheirNames(t *testing.T) {
	m := model(t)
	// Each value must have a range over a round.
	over := func(b *body, joint string) float32 {
		return max(b.at("LeftHand").Y, b.at("RightHand").Y) - b.at(joint).Y
	}
	shows := map[string]struct {
		what  string
		value func(b *body) float32
		want  func(lo, hi float32) bool
	}{
		"cheer": {"the higher hand over the head, m", func(b *body) float32 { return over(b, "Head") }, func(lo, hi float32) bool { return lo < -0.4 && hi > 0.15 }},
		"clap": {"the distance of the hands, m", func(b *body) float32 { return b.at("LeftHandIndex1").Dist(b.at("RightHandIndex1")) },
			func(lo, hi float32) bool { return lo < 0.14 && hi > 0.4 }},
		"crouch": {"the height of the hips, m", func(b *body) float32 { return b.at("Hips").Y }, func(lo, hi float32) bool { return lo < 0.72 && hi > 0.93 }},
		"idle":   {"the hips to the left, m", func(b *body) float32 { return b.at("Hips").X }, func(lo, hi float32) bool { return lo < -0.025 && hi > 0.025 }},
		"look":   {"the heading of the head, rad", func(b *body) float32 { return b.heading("Head") }, func(lo, hi float32) bool { return lo < -0.4 && hi > 0.4 }},
		"point": {"the farther hand ahead of its shoulder, m", func(b *body) float32 {
			return max(b.at("LeftHand").Sub(b.at("LeftArm")).Z, b.at("RightHand").Sub(b.at("RightArm")).Z)
		}, func(lo, hi float32) bool { return lo < 0.15 && hi > 0.3 }},
		"stretch": {"the lower hand over the head, m", func(b *body) float32 { return min(b.at("LeftHand").Y, b.at("RightHand").Y) - b.at("Head").Y },
			func(lo, hi float32) bool { return lo < -0.5 && hi > 0.15 }},
		"talk": {"the hand that is farther ahead, m", func(b *body) float32 { return max(b.at("LeftHand").Z, b.at("RightHand").Z) },
			func(lo, hi float32) bool { return lo < 0.12 && hi > 0.15 }},
		"wave": {"the higher hand over the shoulder, m", func(b *body) float32 { return over(b, "Neck1") }, func(lo, hi float32) bool { return lo < -0.3 && hi > 0.1 }},
	}
	for _, name := range routines.Names() {
		s, ok := shows[name]
		if !ok {
			t.Errorf("no test of %s", name)
			continue
		}
		for seed := range uint64(2) {
			lo, hi := float32(9), float32(-9)
			perform(t, m, seed, name, func(b *body) {
				v := s.value(b)
				lo, hi = min(lo, v), max(hi, v)
			})
			if !s.want(lo, hi) {
				t.Errorf("seed %d, %s: %s, is %.2f to %.2f", seed, name, s.what, lo, hi)
			}
		}
	}
}

// Seeds give different people, some of whom are left-handed.
func TestSeeds(t *testing.T) {
	m := model(t)
	left := 0
	var before []string
	for _, seed := range []uint64{1, 1, 2, 3, 4, 5, 6, 7, 8} {
		var motion []string
		var lead float32
		perform(t, m, seed, "wave", func(b *body) {
			motion = append(motion, fmt.Sprint(b.pos, b.rot))
			lead += b.at("LeftHand").Y - b.at("RightHand").Y
		})
		if lead > 0 {
			left++
		}
		if same := slices.Equal(motion, before); same != (len(before) > 0 && seed == 1) {
			t.Errorf("seed %d waves like the seed before: %t", seed, same)
		}
		before = motion
	}
	if left == 0 || left == 9 {
		t.Errorf("of nine people %d wave the left hand", left)
	}
}

func TestErrors(t *testing.T) {
	m := model(t)
	a := must.Get(routines.NewAuthor(m.Layout, 1))(t)
	must.Fail(a.Write("juggle"))(t, "clap, crouch")
	for _, missing := range []string{"LeftFoot", "RightHandIndex1"} {
		sk := *m.Layout.Skel
		sk.Names = slices.Clone(sk.Names)
		sk.Names[sk.Index(missing)] = "Fin"
		l := must.Get(keypose.NewLayout(&sk))(t)
		must.Fail(routines.NewAuthor(l, 1))(t, missing)
	}
}

package snapshot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/animsys/snapshot"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
)

// pose returns a random pose of s, whose root is within 100 m.
func pose(r *rand.Rand, s *skel.Skeleton) []m3.Xform {
	pos, rot := append([]m3.Vec3{}, s.Offsets...), make([]m3.Quat, s.Len())
	pos[0] = m3.V(100*r.Float32(), r.Float32(), -100*r.Float32())
	for j := range rot {
		if rot[j] = m3.Ident; !s.EndSite[j] {
			rot[j] = m3.Quat{X: float32(r.NormFloat64()), Y: float32(r.NormFloat64()), Z: float32(r.NormFloat64()), W: float32(r.NormFloat64())}.Normalize()
		}
	}
	bones := make([]m3.Xform, s.Len())
	s.LocalToModel(bones, pos, rot)
	return bones
}

// Poses come back to a tenth of a millimetre, in at most 200 bytes for the dog's 27 joints.
func TestPoses(t *testing.T) {
	s := testdog.Skeleton()
	c := must.Get(snapshot.NewCodec(s))(t)
	if n := c.PoseSize(); s.Len() != 27 || n > 200 {
		t.Errorf("%d joints take %d bytes, want at most 200 for 27", s.Len(), n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all [][]m3.Xform
	msg := c.Begin(nil, 7)
	for i := range 200 {
		all = append(all, pose(r, s))
		msg = c.Append(msg, uint64(i)<<40, all[i])
	}
	m := must.Get(c.Decode(msg))(t)
	if m.Tick != 7 || m.Agents() != len(all) {
		t.Fatalf("tick %d with %d agents", m.Tick, m.Agents())
	}
	bones := make([]m3.Xform, s.Len())
	var most, turn float32
	for i, want := range all {
		if m.Bones(bones, i); m.ID(i) != uint64(i)<<40 {
			t.Errorf("agent %d has id %d", i, m.ID(i))
		}
		for j := range want {
			most = max(most, bones[j].Pos.Dist(want[j].Pos))
			if !s.EndSite[j] {
				turn = max(turn, bones[j].Rot.Angle(want[j].Rot))
			}
		}
	}
	t.Logf("%d bytes an agent; places are off by up to %.3f mm, rotations by %.2g rad", c.PoseSize(), 1000*most, turn)
	if most > 2e-4 || turn > 1e-3 {
		t.Errorf("places are off by up to %g m, rotations by %g rad", most, turn)
	}
}

func TestCodecRefuses(t *testing.T) {
	s := testdog.Skeleton()
	c := must.Get(snapshot.NewCodec(s))(t)
	msg := c.Append(c.Begin(nil, 1), 1, pose(rand.New(rand.NewPCG(3, 4)), s))
	other := *s
	other.Offsets = append([]m3.Vec3{}, s.Offsets...)
	other.Offsets[3].X += 0.01
	far := append([]byte{}, msg...)
	copy(far[20:], []byte{0, 0, 0xc0, 0x7f}) // NaN
	newer := append([]byte{}, msg...)
	newer[3]++
	for _, bad := range []struct {
		codec *snapshot.Codec
		msg   []byte
		want  string
	}{
		{c, nil, "not a message"},
		{c, []byte("GET / HTTP/1.1\r\n"), "not a message"},
		{c, newer, "version 2"},
		{must.Get(snapshot.NewCodec(&other))(t), msg, "another skeleton"},
		{c, msg[:len(msg)-1], "was cut"},
		{c, far, "agent 0 is at"},
	} {
		if _, err := bad.codec.Decode(bad.msg); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%.20q: error %v, want %q", bad.msg, err, bad.want)
		}
	}
	two := skel.Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, -1}, Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}
	if _, err := snapshot.NewCodec(&two); err == nil {
		t.Error("a skeleton of two roots is taken")
	}
	if _, err := snapshot.NewCodec(nil); err == nil {
		t.Error("no skeleton is taken")
	}
	defer func() {
		if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "snapshot: an agent of 26 bones") {
			t.Errorf("a pose of another skeleton: panic %v", r)
		}
	}()
	c.Append(msg, 2, make([]m3.Xform, s.Len()-1))
}

// An agent that a message does not have, and bones without room, are named.
func TestMessageRefuses(t *testing.T) {
	s := testdog.Skeleton()
	c := must.Get(snapshot.NewCodec(s))(t)
	m := must.Get(c.Decode(c.Append(c.Begin(nil, 1), 1, pose(rand.New(rand.NewPCG(3, 4)), s))))(t)
	bones := make([]m3.Xform, s.Len())
	for _, bad := range []struct {
		want string
		call func()
	}{
		{"snapshot: agent 1 of a message of 1 agents", func() { m.Bones(bones, 1) }},
		{"snapshot: agent -1 of", func() { m.Bones(bones, -1) }},
		{"snapshot: agent 1 of", func() { m.ID(1) }},
		{"snapshot: agent 0 of a message of 0 agents", func() { new(snapshot.Message).ID(0) }},
		{"snapshot: the bones of a skeleton of 27 joints into 26", func() { m.Bones(bones[:26], 0) }},
	} {
		func() {
			defer func() {
				if r := recover(); !strings.HasPrefix(fmt.Sprint(r), bad.want) {
					t.Errorf("panic %v, want %q", r, bad.want)
				}
			}()
			bad.call()
		}()
	}
}

// What is no rotation is sent as none, and what is received is always a rotation.
func TestBrokenPose(t *testing.T) {
	s := testdog.Skeleton()
	c := must.Get(snapshot.NewCodec(s))(t)
	nan := float32(math.NaN())
	bones := pose(rand.New(rand.NewPCG(5, 6)), s)
	bones[4].Rot, bones[5].Rot = m3.Quat{X: nan, W: nan}, m3.Quat{}
	m := must.Get(c.Decode(c.Append(c.Begin(nil, 1), 1, bones)))(t)
	m.Bones(bones, 0)
	for j, b := range bones {
		if d := b.Rot.Dot(b.Rot); !(m3.Abs(d-1) < 1e-3) || !b.Pos.Finite() {
			t.Errorf("joint %d comes back as %v", j, b)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	s := testdog.Skeleton()
	c := must.Get(snapshot.NewCodec(s))(t)
	bones := pose(rand.New(rand.NewPCG(7, 8)), s)
	var msg []byte
	if n := testing.AllocsPerRun(100, func() {
		msg = c.Append(c.Begin(msg[:0], 1), 1, bones)
		m, err := c.Decode(msg)
		if err != nil {
			t.Fatal(err)
		}
		m.Bones(bones, 0)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	s := testdog.Skeleton()
	c, err := snapshot.NewCodec(s)
	if err != nil {
		f.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 10))
	f.Add(c.Append(c.Append(c.Begin(nil, 3), 1, pose(r, s)), 2, pose(r, s)))
	f.Add([]byte("mqs\x01"))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := c.Decode(src)
		if err != nil {
			return
		}
		bones := make([]m3.Xform, s.Len())
		for i := range m.Agents() {
			m.Bones(bones, i)
			for _, b := range bones {
				if d := b.Rot.Dot(b.Rot); !(m3.Abs(d-1) < 1e-2) {
					t.Fatalf("agent %d has a bone %v", i, b)
				}
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	s := testdog.Skeleton()
	c, err := snapshot.NewCodec(s)
	if err != nil {
		b.Fatal(err)
	}
	bones := pose(rand.New(rand.NewPCG(7, 8)), s)
	var msg []byte
	for b.Loop() {
		msg = c.Append(msg[:0], 1, bones)
	}
	b.SetBytes(int64(c.PoseSize()))
}

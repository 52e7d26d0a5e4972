// Package testcharacter builds characters with bones of their own around a person's skeleton, for tests.
package testcharacter

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
)

// Build says how a character differs from the skeleton. Factors of 0 are 1.
type Build struct {
	Size         float32 // of everything
	Legs         float32 // lengths, likewise
	Thighs       float32 // of the thighs alone
	Arms, Trunk  float32
	Head, Feet   float32
	Hips         float32 // their width
	Frames       uint64  // seed of random joint frames at rest; 0: those of the world
	LegsOnRoot   bool    // legs and hips hang on a root on the ground
	FeetOnRoot   bool    // so do the feet, as targets of inverse kinematics
	Fingers      bool    // hands have two joints more, the head a jaw and the hips a tail
	NoToes       bool
	ExtraInSpine bool // a joint between Spine and Spine1
	PelvisAbove  bool // the hips hang on a pelvis, and so does the spine
}

// New returns the character of a person's skeleton sk, whose standing pose is pose.
func New(tb testing.TB, sk *skel.Skeleton, pose []m3.Xform, b Build) *retarget.Character {
	tb.Helper()
	o := Options(tb, sk, pose, b)
	return must.Get(retarget.New(o))(tb)
}

// Options returns the options of New.
func Options(tb testing.TB, sk *skel.Skeleton, pose []m3.Xform, b Build) retarget.Options {
	tb.Helper()
	or := func(x float32) float32 {
		if x == 0 {
			return 1
		}
		return x
	}
	at := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		if p < 0 {
			at[j] = pose[j].Pos
			continue
		}
		d := pose[j].Pos.Sub(pose[p].Pos)
		bare := strings.TrimPrefix(strings.TrimPrefix(sk.Names[j], "Left"), "Right")
		switch bare {
		case "UpLeg":
			d.X *= or(b.Hips)
		case "Leg":
			d = d.Scale(or(b.Legs) * or(b.Thighs))
		case "Foot":
			d = d.Scale(or(b.Legs))
		case "ToeBase", "ToeBaseSite":
			d = d.Scale(or(b.Feet))
		case "Spine", "Spine1", "Neck1":
			d = d.Scale(or(b.Trunk))
		case "Head", "HeadSite":
			d = d.Scale(or(b.Head))
		case "Arm", "ForeArm", "Hand":
			d = d.Scale(or(b.Arms))
		}
		at[j] = at[p].Add(d)
	}
	low := float32(1e9)
	for _, p := range at {
		low = min(low, p.Y)
	}
	o := retarget.Options{Source: sk, Roles: must.Get(ik.HumanRoles(sk.Names))(tb), Pose: pose, Skel: &skel.Skeleton{}, From: make([]int, sk.Len())}
	random := rand.New(rand.NewPCG(b.Frames, 1))
	own := make([]int, sk.Len()) // the joint itself, or what stands in for it
	add := func(name string, parent int, p m3.Vec3) int {
		rot := m3.Ident
		if b.Frames != 0 {
			rot = m3.Quat{X: random.Float32() - 0.5, Y: random.Float32() - 0.5, Z: random.Float32() - 0.5, W: random.Float32() - 0.5}.Normalize()
		}
		p.Y -= low
		o.Rest = append(o.Rest, m3.Xform{Pos: p.Scale(or(b.Size)), Rot: rot})
		s := o.Skel
		s.Names, s.Parents = append(s.Names, name), append(s.Parents, int16(parent))
		s.Offsets, s.EndSite = append(s.Offsets, m3.Vec3{}), append(s.EndSite, false)
		return len(s.Names) - 1
	}
	root := -1
	if b.LegsOnRoot || b.FeetOnRoot {
		root = add("root", -1, m3.V(at[0].X, low, at[0].Z))
	}
	if b.PelvisAbove {
		root = add("pelvis", root, at[0].Add(m3.V(0, 0.08, -0.02)))
	}
	for j, p := range sk.Parents {
		name, parent := sk.Names[j], root
		if p >= 0 {
			parent = own[p]
		}
		switch bare := strings.TrimPrefix(strings.TrimPrefix(name, "Left"), "Right"); {
		case b.PelvisAbove && p == 0 && bare != "UpLeg", b.LegsOnRoot && bare == "UpLeg", b.FeetOnRoot && bare == "Foot":
			parent = root
		case b.NoToes && strings.HasPrefix(bare, "ToeBase"):
			own[j], o.From[j] = own[p], -1
			continue
		case b.ExtraInSpine && name == "Spine1":
			parent = add("between", parent, at[p].Lerp(at[j], 0.5))
		}
		own[j] = add("own "+name, parent, at[j])
		o.From[j] = own[j]
	}
	further := func(name, above string, way m3.Vec3) {
		k := o.Skel.Index("own " + above)
		if k < 0 {
			k = o.Skel.Index(above)
		}
		add(name, k, o.Rest[k].Pos.Scale(1/or(b.Size)).Add(m3.V(0, low, 0)).Add(way))
	}
	if b.Fingers {
		for i, side := range []string{"Left", "Right"} {
			out := m3.V(float32(1-2*i)*0.04, 0, 0)
			further(side+" finger 1", side+"Hand", out)
			further(side+" finger 2", side+" finger 1", out)
		}
		further("jaw", "Head", m3.V(0, -0.02, 0.08))
		further("tail 1", "Hips", m3.V(0, 0, -0.1))
		further("tail 2", "tail 1", m3.V(0, 0, -0.2))
	}
	o.Skel.ModelToLocal(o.Skel.Offsets, make([]m3.Quat, len(o.Rest)), o.Rest)
	return o
}

// Stands returns the pose in which a person's skeleton stands straight at rest, its lowest joint on the ground.
func Stands(sk *skel.Skeleton) []m3.Xform {
	pose := sk.Rest()
	low := float32(1e9)
	for _, x := range pose {
		low = min(low, x.Pos.Y)
	}
	for j := range pose {
		pose[j].Pos.Y -= low
	}
	return pose
}

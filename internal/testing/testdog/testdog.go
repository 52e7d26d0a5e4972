// Package testdog makes a dog for tests: a skeleton, and a small random network of its layout that
// keeps it near its rest pose and moves it slowly ahead. Nothing here is learned or copied from
// recordings.
package testdog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
)

// Skeleton returns a dog that stands on flat ground in its rest pose, facing +Z, with every joint's
// rotation the identity. It has the joints of feature.Dog; its hips are 0.47 m high.
func Skeleton() *skel.Skeleton {
	s := &skel.Skeleton{}
	at := map[string]m3.Vec3{}
	add := func(name, parent string, x, y, z float32) {
		p := s.Index(parent)
		at[name] = m3.V(x, y, z)
		off := at[name]
		if p >= 0 {
			off = off.Sub(at[parent])
		}
		s.Names, s.Parents, s.Offsets = append(s.Names, name), append(s.Parents, int16(p)), append(s.Offsets, off)
		s.EndSite = append(s.EndSite, strings.HasSuffix(name, "Site"))
	}
	add("Hips", "", 0, .47, 0)
	add("Spine", "Hips", 0, .47, 0) // on the hips: a bone without length
	add("Spine1", "Spine", 0, .48, .19)
	add("Neck", "Spine1", 0, .47, .41)
	add("Head", "Neck", 0, .56, .5)
	add("HeadSite", "Head", 0, .54, .66)
	sides := []struct {
		name string
		x    float32
	}{{"Left", .05}, {"Right", -.05}}
	for _, side := range sides {
		add(side.name+"Shoulder", "Spine1", side.x, .46, .38)
		add(side.name+"Arm", side.name+"Shoulder", side.x*1.4, .38, .39)
		add(side.name+"ForeArm", side.name+"Arm", side.x*1.4, .25, .33)
		add(side.name+"Hand", side.name+"ForeArm", side.x*1.4, .085, .36)
		add(side.name+"HandSite", side.name+"Hand", side.x*1.4, .02, .39)
	}
	for _, side := range sides {
		add(side.name+"UpLeg", "Hips", side.x, .4, .02)
		add(side.name+"Leg", side.name+"UpLeg", side.x*1.3, .25, .07)
		add(side.name+"Foot", side.name+"Leg", side.x*1.3, .115, -.04)
		add(side.name+"FootSite", side.name+"Foot", side.x*1.3, .015, -.01)
	}
	add("Tail", "Hips", 0, .46, -.07)
	add("Tail1", "Tail", 0, .38, -.15)
	add("Tail1Site", "Tail1", 0, .28, -.2)
	return s
}

// Net returns a network of four small random experts for Skeleton.
func Net(tb testing.TB) *netruntime.Net { return net(tb, 1) }

func net(tb testing.TB, stride int) *netruntime.Net {
	const experts, hidden, gating = 4, 32, 8
	layout, sk := feature.Dog(), Skeleton()
	if stride > 1 {
		layout.Stride = stride
	}
	rest := make([]float32, sk.Len()*feature.BoneChannels)
	world := make([]m3.Vec3, sk.Len())
	for j, p := range sk.Parents {
		world[j] = sk.Offsets[j]
		if p >= 0 {
			world[j] = world[p].Add(world[j])
		}
		// Position, forward +Z, up +Y, at rest.
		copy(rest[j*feature.BoneChannels:], []float32{world[j].X, world[j].Y, world[j].Z, 0, 0, 1, 0, 1, 0})
	}
	meta := netruntime.Meta{Name: "testdog", Arch: "mann"}
	must.Do(tb, mann.Describe(&meta, layout, sk, rest))
	in, out, gin := layout.Inputs(), layout.Outputs(), len(layout.Gating())
	tensors := []netruntime.Tensor{
		testnet.Constant(0, "x_mean", in), testnet.Constant(0.5, "x_std", in), testnet.Constant(0, "y_mean", out), testnet.Constant(0.05, "y_std", out),
	}
	xMean, yMean, yStd := tensors[0].Data, tensors[2].Data, tensors[3].Data
	copy(yMean[layout.OutBone(0):], rest)
	for s := range feature.TrajFuture {
		yMean[layout.OutSample(s)+feature.SampleDir+1] = 1
	}
	yMean[layout.OutRoot()+feature.RootZ] = 0.8
	yStd[layout.OutRoot()+feature.RootYaw] = 10
	copy(xMean[layout.InBone(0):], rest)
	rng := rand.New(rand.NewPCG(1, 2))
	for l, s := range [][2]int{{gating, gin}, {gating, gating}, {experts, gating}} {
		name := "gating." + string(rune('0'+l))
		tensors = append(tensors, testnet.Random(rng, 0.3, name+".weight", s[0], s[1]), testnet.Random(rng, 0.1, name+".bias", s[0]))
	}
	for l, s := range [][2]int{{hidden, in}, {hidden, hidden}, {out, hidden}} {
		name := "experts." + string(rune('0'+l))
		tensors = append(tensors, testnet.Random(rng, 0.05, name+".weight", experts, s[0], s[1]), testnet.Random(rng, 0.1, name+".bias", experts, s[0]))
	}
	return must.Get(netruntime.New(meta, tensors))(tb)
}

// Model returns Net as a model.
func Model(tb testing.TB) *mann.Model { return Far(tb, 1) }

// Far returns a variant of Model that advances by a stride of ticks.
func Far(tb testing.TB, stride int) *mann.Model {
	return must.Get(mann.NewModel(net(tb, stride)))(tb)
}

// Tour returns what a dog does in a tick of ten seconds.
func Tour(tick int) control.Goal {
	g := control.Goal{Action: control.Move, Move: m3.V(0, 0, 1)}
	switch tick / 60 % 10 {
	case 0, 1:
		g.Speed = control.WalkSpeed
	case 2:
		g.Speed, g.Turn = control.WalkSpeed, 0.8
	case 3:
		g.Speed, g.Move = control.PaceSpeed, m3.V(0.5, 0, -0.5)
	case 4:
		g.Speed, g.Turn = control.TrotSpeed, -0.6
	case 5:
		g.Speed = control.CanterSpeed
	case 6:
		g.Action, g.Speed = control.Jump, control.TrotSpeed
	case 7:
		g = control.Goal{Turn: -1}
	case 8:
		g = control.Goal{Action: control.Lie}
	default:
		g = control.Goal{Action: control.Stand}
	}
	return g
}

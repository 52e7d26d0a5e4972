package skin

import (
	"fmt"
	"io"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// writtenBones are the bones that WriteVRMA writes, parents before children: VRM's name, the joint of
// people's skeletons whose rotation it has, or another that stands in for it, and the bones above it,
// of which the first that is there is its parent.
var writtenBones = []struct {
	name   string
	joints []string
	above  []string
	must   bool
}{
	{"hips", []string{"Hips"}, nil, true},
	{"spine", []string{"LowerBack", "Spine"}, []string{"hips"}, true},
	{"chest", []string{"Spine"}, []string{"spine"}, false},
	{"upperChest", []string{"Spine1"}, []string{"chest"}, false},
	{"neck", []string{"Neck1", "Neck"}, []string{"upperChest", "chest", "spine"}, false},
	{"head", []string{"Head"}, []string{"neck", "upperChest", "chest", "spine"}, true},
	{"leftShoulder", []string{"LeftShoulder"}, []string{"upperChest", "chest", "spine"}, false},
	{"leftUpperArm", []string{"LeftArm"}, []string{"leftShoulder", "upperChest", "chest", "spine"}, true},
	{"leftLowerArm", []string{"LeftForeArm"}, []string{"leftUpperArm"}, true},
	{"leftHand", []string{"LeftHand"}, []string{"leftLowerArm"}, true},
	{"rightShoulder", []string{"RightShoulder"}, []string{"upperChest", "chest", "spine"}, false},
	{"rightUpperArm", []string{"RightArm"}, []string{"rightShoulder", "upperChest", "chest", "spine"}, true},
	{"rightLowerArm", []string{"RightForeArm"}, []string{"rightUpperArm"}, true},
	{"rightHand", []string{"RightHand"}, []string{"rightLowerArm"}, true},
	{"leftUpperLeg", []string{"LeftUpLeg"}, []string{"hips"}, true},
	{"leftLowerLeg", []string{"LeftLeg"}, []string{"leftUpperLeg"}, true},
	{"leftFoot", []string{"LeftFoot"}, []string{"leftLowerLeg"}, true},
	{"leftToes", []string{"LeftToeBase"}, []string{"leftFoot"}, false},
	{"rightUpperLeg", []string{"RightUpLeg"}, []string{"hips"}, true},
	{"rightLowerLeg", []string{"RightLeg"}, []string{"rightUpperLeg"}, true},
	{"rightFoot", []string{"RightFoot"}, []string{"rightLowerLeg"}, true},
	{"rightToes", []string{"RightToeBase"}, []string{"rightFoot"}, false},
}

// soleBelow is how far a person's soles are below the lowest joints, the toes'.
const soleBelow = 0.02

// WriteVRMA writes a motion of a person as a VRM animation (VRMC_vrm_animation 1.0), which moves any VRM
// character. The clip is in metres on a skeleton with people's names (see [skel.Skeleton]) that at rest
// stands in a T-pose, faces +Z and has the world's axes in all joints: retarget others to it. The file
// has the skeleton in that pose on the ground, rotations of VRM's bones, and places of the hips. Fingers
// do not move. It returns an error for joints that VRM requires and the clip lacks, and for another rest
// pose.
//
// Source: vrm-c/vrm-specification, specification/VRMC_vrm_animation-1.0.
func WriteVRMA(w io.Writer, name string, clip *skel.Clip) error {
	m := &Motion{Name: name, Clip: clip}
	if err := checkMotion(m); err != nil {
		return err
	}
	sk := clip.Skel
	rest, still := make([]m3.Xform, sk.Len()), skel.NewClip(sk, 1, 1)
	still.Model(rest, 0)
	if err := checkTPose(sk, rest); err != nil {
		return err
	}
	type bone struct {
		joint, parent int // parent: a bone; −1 for the hips
	}
	var bones []bone
	index := map[string]int{}
	d := gltf.NewDocument()
	d.Asset.Generator = "mannequin"
	human := map[string]any{}
	low := rest[0].Pos.Y
	for _, x := range rest {
		low = min(low, x.Pos.Y)
	}
	used := map[int]bool{}
	for _, b := range writtenBones {
		joint, parent := -1, -1
		for _, n := range b.joints {
			if k := sk.Index(n); joint < 0 && k >= 0 && !used[k] {
				joint = k
			}
		}
		for _, n := range b.above {
			if k, ok := index[n]; ok && parent < 0 {
				parent = k
			}
		}
		if joint < 0 || parent < 0 && b.above != nil {
			if b.must {
				return fmt.Errorf("skin: a VRM animation needs the joint %s: retarget the motion to the uniform skeleton", b.joints[0])
			}
			continue
		}
		used[joint] = true
		at := rest[joint].Pos
		node := &gltf.Node{Name: b.name}
		if parent >= 0 {
			at = at.Sub(rest[bones[parent].joint].Pos)
			d.Nodes[parent].Children = append(d.Nodes[parent].Children, len(d.Nodes))
		} else {
			at = m3.V(0, at.Y-low+soleBelow, 0)
		}
		node.Translation = [3]float64{float64(at.X), float64(at.Y), float64(at.Z)}
		index[b.name] = len(bones)
		human[b.name] = map[string]int{"node": len(d.Nodes)}
		d.Nodes = append(d.Nodes, node)
		bones = append(bones, bone{joint, parent})
	}
	d.Scenes[0].Nodes = []int{0}
	d.ExtensionsUsed = []string{"VRMC_vrm_animation"}
	d.Extensions = gltf.Extensions{"VRMC_vrm_animation": map[string]any{"specVersion": "1.0", "humanoid": map[string]any{"humanBones": human}}}

	hips, turns := make([][3]float32, clip.Frames), make([][][4]float32, len(bones))
	last := make([]m3.Quat, len(bones))
	model := make([]m3.Xform, sk.Len())
	for f := range clip.Frames {
		clip.Model(model, f)
		p := model[bones[0].joint].Pos
		hips[f] = [3]float32{p.X, p.Y, p.Z}
		for i, b := range bones {
			q := model[b.joint].Rot
			if b.parent >= 0 {
				q = model[bones[b.parent].joint].Rot.Conj().Mul(q)
			}
			if q = q.Normalize(); f > 0 && q.Dot(last[i]) < 0 {
				q = q.Neg()
			}
			last[i] = q
			turns[i] = append(turns[i], [4]float32{q.X, q.Y, q.Z, q.W})
		}
	}
	times := make([]float32, clip.Frames)
	for f := range times {
		times[f] = float32(float64(f) / clip.FPS)
	}
	input := modeler.WriteAccessor(d, gltf.TargetNone, times)
	d.Accessors[input].Min, d.Accessors[input].Max = []float64{0}, []float64{float64(times[len(times)-1])}
	a := &gltf.Animation{Name: name}
	channel := func(n int, path gltf.TRSProperty, data any) {
		a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: input, Output: modeler.WriteAccessor(d, gltf.TargetNone, data)})
		target := gltf.AnimationChannelTarget{Node: gltf.Index(n), Path: path}
		a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: target})
	}
	channel(0, gltf.TRSTranslation, hips)
	for i := range bones {
		channel(i, gltf.TRSRotation, turns[i])
	}
	d.Animations = []*gltf.Animation{a}
	return gltf.NewEncoder(w).Encode(d)
}

// checkTPose returns an error if arms are not to the sides or legs not down at rest.
func checkTPose(sk *skel.Skeleton, rest []m3.Xform) error {
	for _, b := range []struct {
		from, to string
		way      m3.Vec3
	}{
		{"LeftArm", "LeftHand", m3.V(1, 0, 0)}, {"RightArm", "RightHand", m3.V(-1, 0, 0)},
		{"LeftUpLeg", "LeftFoot", m3.V(0, -1, 0)}, {"RightUpLeg", "RightFoot", m3.V(0, -1, 0)},
	} {
		i, k := sk.Index(b.from), sk.Index(b.to)
		if i < 0 || k < 0 {
			continue // said later
		}
		if d := rest[k].Pos.Sub(rest[i].Pos).Normalize(m3.Vec3{}); d.Dot(b.way) < 0.95 {
			return fmt.Errorf("skin: without rotations the skeleton does not stand in a T-pose that faces +Z: %s is at %s from %s: retarget the motion to the uniform skeleton",
				b.to, place(rest[k].Pos.Sub(rest[i].Pos)), b.from)
		}
	}
	return nil
}

package skin

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// OpenRig reads the joints of a .glb or .gltf as OpenMotions has them, whether the file has animations
// or not. Meshes may be compressed.
func OpenRig(path string) (*skel.Skeleton, error) { return open(path, readRig) }

// ReadRig is OpenRig for the contents of a .glb or .gltf called name.
func ReadRig(name string, data []byte) (*skel.Skeleton, error) { return readRig(name, data, nil) }

func readRig(name string, data []byte, beside *os.Root) (*skel.Skeleton, error) {
	f, err := nodesOf(name, data, beside)
	if err != nil {
		return nil, err
	}
	t, err := f.newTree()
	if err != nil {
		return nil, err
	}
	if len(f.doc.Skins) == 0 && len(f.doc.Animations) == 0 && !f.isVRM() {
		return nil, f.errorf("skins", "there are none, and no animations: export the armature with its mesh")
	}
	r, err := f.rig(t)
	if err != nil {
		return nil, err
	}
	return r.sk, nil
}

// nodesOf reads a file for its nodes alone: its meshes and pictures may need what is not read.
func nodesOf(name string, data []byte, beside *os.Root) (*file, error) {
	f, err := parseFile(name, data, beside)
	if err != nil {
		return nil, err
	}
	f.doc.ExtensionsRequired = nil
	return f, f.check()
}

// rig finds the joints as OpenMotions does.
func (f *file) rig(t *tree) (*motionReader, error) {
	h, err := f.humanoid()
	if err != nil {
		return nil, err
	}
	r := &motionReader{file: f, tree: t}
	return r, r.findJoints(h)
}

// RigFit says how a motion fits a rig.
type RigFit struct {
	Scale   float64 // of the motion's places: the rig's bones are so much longer in all
	Resized int     // bones whose length differs after that by more than a hundredth of the longest chain
	Bones   int     // compared
}

// OntoRig returns a motion of one skeleton on the bones of a rig of the same kind: joints turn as in the
// motion and keep the rig's distances to their parents, longer or shorter in proportion where they move
// there; joints without a parent move in proportion to their height at rest. For a skeleton with the
// rig's own bones that is the motion as it is. The result's joints have the rig's names; prefixes such as
// mixamorig:, signs and case may differ before.
//
// Of the same kind is a skeleton of which at least nine of ten joints have names of the rig's, or the
// other way round, with at least nine of ten bones in the same direction in their parents, within 20°. The
// error says what differs. As far as bones can show, rotations mean the same on both then: a twist of a
// joint about its only bone is not seen.
func OntoRig(rig *skel.Skeleton, motion *skel.Clip) (*skel.Clip, *RigFit, error) {
	if rig == nil || motion == nil || motion.Skel == nil {
		return nil, nil, errors.New("skin: there is no rig or no motion")
	}
	for _, s := range []*skel.Skeleton{rig, motion.Skel} {
		if err := s.Validate(); err != nil {
			return nil, nil, err
		}
	}
	sk := motion.Skel
	at := make([]int, sk.Len()) // in the rig
	joints, found := 0, 0
	var missing []string
	byName := matchNames(rig)
	for j, name := range sk.Names {
		if at[j] = byName(name); sk.EndSite[j] {
			continue
		}
		joints++
		if at[j] >= 0 {
			found++
		} else {
			missing = append(missing, name)
		}
	}
	if least := min(joints, rig.Len()); found == 0 || 10*found < 9*least {
		return nil, nil, fmt.Errorf("%d of the motion's %d joints have names of the file's %d; others are %s", found, joints, rig.Len(), some(missing))
	}
	reach, longest := make([]float32, rig.Len()), float32(0)
	for k, p := range rig.Parents {
		if p >= 0 {
			reach[k] = reach[p] + rig.Offsets[k].Len()
		}
		longest = max(longest, reach[k])
	}
	fit, both, its, off := &RigFit{Scale: 1}, 0.0, 0.0, []string{}
	bone := make([]bool, sk.Len())
	for j, p := range sk.Parents {
		k := at[j]
		if bone[j] = p >= 0 && k >= 0 && at[p] >= 0 && int(rig.Parents[k]) == at[p]; !bone[j] {
			continue
		}
		fit.Bones++
		l := float64(sk.Offsets[j].Len())
		both += float64(rig.Offsets[k].Len()) * l
		its += l * l
	}
	if k := both / its; k > 0 && !math.IsInf(k, 0) && math.Abs(k-1) > 2e-3 {
		fit.Scale = k
	}
	factor := make([]float32, sk.Len()) // of how far joints move from their places at rest
	for j, p := range sk.Parents {
		factor[j] = float32(fit.Scale)
		if at[j] < 0 {
			continue
		}
		own, was := rig.Offsets[at[j]], sk.Offsets[j].Scale(float32(fit.Scale))
		if p < 0 && min(own.Y, was.Y) > 0.1*longest {
			factor[j] *= own.Y / was.Y
		}
		if !bone[j] {
			continue
		}
		if own.Dist(was) > 0.01*longest {
			fit.Resized++
		}
		if min(own.Len(), was.Len()) < 0.03*longest {
			continue
		}
		factor[j] *= own.Len() / was.Len()
		if cos := own.Normalize(m3.Up).Dot(was.Normalize(m3.Up)); cos < 0.94 {
			off = append(off, fmt.Sprintf("%s is %.0f° off: at %s in %s, the motion's at %s",
				sk.Names[j], 180/math.Pi*m3.Acos(cos), place(own), sk.Names[p], place(was)))
		}
	}
	if 10*len(off) > fit.Bones {
		return nil, nil, fmt.Errorf("%d of %d bones have other directions at rest: %s", len(off), fit.Bones, off[0])
	}
	out := *sk
	out.Names, out.Offsets = slices.Clone(sk.Names), slices.Clone(sk.Offsets)
	for j, k := range at {
		if k >= 0 && !sk.EndSite[j] {
			out.Names[j] = rig.Names[k]
		}
	}
	if fit.Scale == 1 && fit.Resized == 0 {
		same := *motion
		same.Skel = &out
		return &same, fit, nil
	}
	for j := range out.Offsets {
		if out.Offsets[j] = sk.Offsets[j].Scale(factor[j]); bone[j] {
			out.Offsets[j] = rig.Offsets[at[j]]
		}
	}
	c := skel.NewClip(&out, motion.FPS, motion.Frames)
	for f := range motion.Frames {
		pos, rot := motion.Frame(f)
		to, turned := c.Frame(f)
		copy(turned, rot)
		for j := range to {
			to[j] = out.Offsets[j].Add(pos[j].Sub(sk.Offsets[j]).Scale(factor[j]))
		}
	}
	return c, fit, nil
}

// PlainName returns a joint's name without the prefix of a program or a namespace, without case and signs.
func PlainName(name string) string {
	if i := strings.LastIndexAny(name, ":|"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	if rest, ok := strings.CutPrefix(name, "mixamorig"); ok {
		name = cmp.Or(strings.TrimLeft(rest, "0123456789"), name)
	}
	return name
}

// matchNames returns a function from names to joints of a rig, −1 for none: those of the same name, else
// the only one with the same plain name. Programs change the rest.
func matchNames(rig *skel.Skeleton) func(name string) int {
	alike := map[string]int{}
	for k, name := range rig.Names {
		plain := PlainName(name)
		if _, twice := alike[plain]; twice {
			k = -1
		}
		alike[plain] = k
	}
	return func(name string) int {
		if k := rig.Index(name); k >= 0 {
			return k
		}
		if k, ok := alike[PlainName(name)]; ok {
			return k
		}
		return -1
	}
}

func place(v m3.Vec3) string { return fmt.Sprintf("(%.3g, %.3g, %.3g)", v.X, v.Y, v.Z) }

// some joins names, the first ones of many.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

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

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Rig is the joints of a file, as OpenMotions has them.
type Rig struct {
	Skel *skel.Skeleton
	Rest []m3.Xform // (joints) as the file's nodes stand, in its space
	// As maps joints of a motion to joints of this rig, where their names are others: see [Skin.SameBody]. nil: by names.
	As map[string]string
}

// OpenRig reads the joints of a .glb or .gltf, whether the file has animations or not. Meshes may be
// compressed.
func OpenRig(path string) (*Rig, error) { return open(path, readRig) }

// ReadRig is OpenRig for the contents of a .glb or .gltf called name.
func ReadRig(name string, data []byte) (*Rig, error) { return readRig(name, data, nil) }

func readRig(name string, data []byte, beside *os.Root) (*Rig, error) {
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
	return &Rig{Skel: r.sk, Rest: r.rest}, nil
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

// ErrOtherRig means that a motion's joints are not those of a rig.
var ErrOtherRig = errors.New("another rig")

// RigFit says how a motion fits a rig.
type RigFit struct {
	Scale   float64 // of the motion's places: the rig's bones are so much longer in all, or its legs if Turned is not 0
	Resized int     // bones whose length differs after that by more than a hundredth of the longest chain
	Bones   int     // compared
	Turned  int     `json:",omitempty"` // joints that were turned from the motion's rest pose to the rig's; 0: rotations are as they were
}

// OntoRig returns a motion on the bones of a rig of the same kind: a rig of which at least four of five joints
// have names of the motion's, or the other way round, or those that rig.As names. The result's joints have the rig's names;
// prefixes such as mixamorig:, signs and case may differ before.
//
// If at least nine of ten bones have the same direction in their parents, within 20°, and no long one is 45° off, joints turn as in the
// motion and keep the rig's distances to their parents, longer or shorter in proportion where they move there;
// joints without a parent move in proportion to their height at rest. For a skeleton with the rig's own bones
// that is the motion as it is. As far as bones can show, rotations mean the same on both then: a twist of a
// joint about its only bone is not seen.
//
// Where only one of the two has joints between two bones, the second bone keeps its distance to the first, too.
//
// Otherwise the motion's rest pose is turned bone by bone to the rig's, and rotations go from there. rest has
// the local rotations of the motion's joints at rest; nil: it is not known, and only the first way is tried.
// A person and an animal are two rigs, whatever their names.
//
// The error wraps ErrOtherRig, and says what differs: names, or the poses at rest.
func OntoRig(rig *Rig, motion *skel.Clip, rest []m3.Quat) (*skel.Clip, *RigFit, error) {
	if rig == nil || rig.Skel == nil || motion == nil || motion.Skel == nil {
		return nil, nil, errors.New("skin: there is no rig or no motion")
	}
	for _, s := range []*skel.Skeleton{rig.Skel, motion.Skel} {
		if err := s.Validate(); err != nil {
			return nil, nil, err
		}
	}
	if len(rig.Rest) != rig.Skel.Len() || rest != nil && len(rest) != motion.Skel.Len() {
		return nil, nil, fmt.Errorf("skin: %d joints at rest for a rig of %d, %d for a motion of %d", len(rig.Rest), rig.Skel.Len(), len(rest), motion.Skel.Len())
	}
	if n := motion.Skel.Len() * motion.Frames; motion.Frames < 1 || !(motion.FPS > 0) || len(motion.Pos) != n || len(motion.Rot) != n {
		return nil, nil, fmt.Errorf("skin: a motion of %d frames at %g per second has %d places and %d rotations for %d joints", motion.Frames, motion.FPS, len(motion.Pos), len(motion.Rot), motion.Skel.Len())
	}
	o := &ontoRig{rig: rig.Skel, stands: rig.Rest, motion: motion}
	if err := o.match(rig.As); err != nil {
		return nil, nil, err
	}
	out, fit, err := o.same()
	if err != nil && rest != nil {
		return o.turned(rig.Rest, rest)
	}
	return out, fit, err
}

// ontoRig puts a motion on a rig.
type ontoRig struct {
	rig    *skel.Skeleton
	stands []m3.Xform // the rig at rest
	motion *skel.Clip
	at     []int // (motion's joints) joint of the rig, −1 for none
}

// over returns the nearest joint of the motion above joint j that has one of the rig, or −1.
func (o *ontoRig) over(j int) int {
	for j = int(o.motion.Skel.Parents[j]); j >= 0 && o.at[j] < 0; j = int(o.motion.Skel.Parents[j]) {
	}
	return j
}

// bridges returns the bones between which one of the two skeletons has more joints than the other: for each joint of the
// motion the nearest one above it that the rig has, too, if that is the nearest in the rig; else −1. Such a bone keeps the
// length of the rig, though the motion's joints between turn.
func (o *ontoRig) bridges() []int {
	out := slices.Repeat([]int{-1}, len(o.at))
	paired := make([]bool, o.rig.Len())
	for j, k := range o.at {
		if k >= 0 && !o.motion.Skel.EndSite[j] {
			paired[k] = true
		}
	}
	for j, k := range o.at {
		if k < 0 || o.motion.Skel.EndSite[j] {
			continue
		}
		p := o.over(j)
		if p < 0 || p == int(o.motion.Skel.Parents[j]) && int(o.rig.Parents[k]) == o.at[p] {
			continue
		}
		up := int(o.rig.Parents[k])
		for up >= 0 && !paired[up] {
			up = int(o.rig.Parents[up])
		}
		if up == o.at[p] && o.still(j, p) {
			out[j] = p
		}
	}
	return out
}

// still reports whether joint j of the motion, and those between it and joint p above it, keep their places in their parents.
func (o *ontoRig) still(j, p int) bool {
	m := o.motion
	n := m.Skel.Len()
	for ; j != p; j = int(m.Skel.Parents[j]) {
		near := 0.01 * m.Pos[j].Len()
		for i := j; i < n*m.Frames; i += n {
			if m.Pos[i].Dist(m.Pos[j]) > near {
				return false
			}
		}
	}
	return true
}

// match pairs the joints, by as or by their names.
func (o *ontoRig) match(as map[string]string) error {
	sk := o.motion.Skel
	o.at = make([]int, sk.Len())
	if as != nil {
		taken := map[int]bool{-1: true}
		for j, name := range sk.Names {
			if o.at[j] = o.rig.Index(as[name]); o.at[j] < 0 {
				continue
			}
			if taken[o.at[j]] {
				return fmt.Errorf("%w: two joints are to be %s", ErrOtherRig, as[name])
			}
			taken[o.at[j]] = true
		}
		if len(taken) < 3 {
			return fmt.Errorf("%w: fewer than two joints have a partner", ErrOtherRig)
		}
		return nil
	}
	joints, found := 0, 0
	var missing []string
	called := slices.Clone(sk.Names)
	group := make([]bool, sk.Len()) // its name is that of its joint
	for j, k := range anatomy.Groups(o.motion) {
		if j != k && o.rig.Index(sk.Names[k]) < 0 && o.rig.Index(sk.Names[j]) >= 0 {
			called[k], group[j] = sk.Names[j], true
		}
	}
	alike := alikeNames(o.rig)
	taken := map[int]bool{}
	take := func(j, k int) {
		if o.at[j] < 0 && !group[j] && k >= 0 && !taken[k] {
			o.at[j], taken[k] = k, !sk.EndSite[j]
		}
	}
	for j, name := range called {
		o.at[j] = -1
		take(j, o.rig.Index(name))
	}
	for j, name := range called {
		take(j, alike(name))
		switch {
		case sk.EndSite[j] || group[j]:
		case o.at[j] < 0:
			joints++
			missing = append(missing, name)
		default:
			joints++
			found++
		}
	}
	if least := min(joints, o.rig.Len()); found == 0 || 5*found < 4*least {
		return fmt.Errorf("%w: %d of the motion's %d joints have names of the file's %d; others are %s", ErrOtherRig, found, joints, o.rig.Len(), some(missing))
	}
	return nil
}

// same returns the motion with its own rotations. It is an error if the rig's bones have other directions.
func (o *ontoRig) same() (*skel.Clip, *RigFit, error) {
	rig, motion, sk, at := o.rig, o.motion, o.motion.Skel, o.at
	reach, longest := make([]float32, rig.Len()), float32(0)
	for k, p := range rig.Parents {
		if p >= 0 {
			reach[k] = reach[p] + rig.Offsets[k].Len()
		}
		longest = max(longest, reach[k])
	}
	fit, both, its, off, far := &RigFit{Scale: 1}, 0.0, 0.0, []string{}, false
	bone := make([]bool, sk.Len())
	hung := 0 // joints below another that both have
	for j, p := range sk.Parents {
		k := at[j]
		if k >= 0 && o.over(j) >= 0 {
			hung++
		}
		if bone[j] = p >= 0 && k >= 0 && at[p] >= 0 && int(rig.Parents[k]) == at[p]; !bone[j] {
			continue
		}
		fit.Bones++
		l := float64(sk.Offsets[j].Len())
		both += float64(rig.Offsets[k].Len()) * l
		its += l * l
	}
	if 2*fit.Bones < hung {
		return nil, nil, fmt.Errorf("%w: of %d bones only %d have no other joints between their ends", ErrOtherRig, hung, fit.Bones)
	}
	if k := both / its; k > 0 && !math.IsInf(k, 0) && math.Abs(k-1) > 2e-3 {
		fit.Scale = k
	}
	factor := make([]float32, sk.Len()) // of how far joints move from their places at rest
	exact := fit.Scale == 1
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
		exact = exact && own.Dist(was) < 2e-5*longest
		if min(own.Len(), was.Len()) < 0.03*longest {
			continue
		}
		factor[j] *= own.Len() / was.Len()
		if cos := own.Normalize(m3.Up).Dot(was.Normalize(m3.Up)); cos < 0.94 {
			far = far || cos < 0.7 && own.Len() > 0.1*longest // such as the thighs of who sits at rest
			off = append(off, fmt.Sprintf("%s is %.0f° off: at %s in %s, the motion's at %s",
				sk.Names[j], 180/math.Pi*m3.Acos(cos), place(own), sk.Names[p], place(was)))
		}
	}
	if far || 10*len(off) > fit.Bones {
		return nil, nil, fmt.Errorf("%w: %d of %d bones have other directions at rest: %s", ErrOtherRig, len(off), fit.Bones, off[0])
	}
	out := *sk
	out.Names, out.Offsets, out.Parents = slices.Clone(sk.Names), slices.Clone(sk.Offsets), slices.Clone(sk.Parents)
	taken := map[string]bool{}
	for j, k := range at {
		if k >= 0 && !sk.EndSite[j] {
			out.Names[j] = rig.Names[k]
			taken[rig.Names[k]] = true
		}
	}
	for j, k := range at {
		if k < 0 {
			out.Names[j] = unused(taken, out.Names[j])
		}
	}
	bridge := o.bridges()
	if exact && !slices.ContainsFunc(bridge, func(p int) bool { return p >= 0 }) {
		same := *motion
		same.Skel = &out
		return &same, fit, nil
	}
	for j := range out.Offsets {
		switch p := bridge[j]; {
		case bone[j]:
			out.Offsets[j] = rig.Offsets[at[j]]
		case p >= 0:
			up := o.stands[at[p]]
			out.Parents[j], out.Offsets[j] = int16(p), up.Rot.Conj().Rotate(o.stands[at[j]].Pos.Sub(up.Pos))
		default:
			out.Offsets[j] = sk.Offsets[j].Scale(factor[j])
		}
	}
	c := skel.NewClip(&out, motion.FPS, motion.Frames)
	for f := range motion.Frames {
		pos, rot := motion.Frame(f)
		to, turned := c.Frame(f)
		copy(turned, rot)
		for j := range to {
			to[j] = out.Offsets[j].Add(pos[j].Sub(sk.Offsets[j]).Scale(factor[j]))
			for p := sk.Parents[j]; bridge[j] >= 0 && p != out.Parents[j]; p = sk.Parents[p] {
				turned[j], to[j] = rot[p].Mul(turned[j]).Normalize(), out.Offsets[j]
			}
		}
	}
	return c, fit, nil
}

// plainName returns a joint's name without the prefix of a program or a namespace, without case and signs.
func plainName(name string) string {
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

// alikeNames returns a function from names to joints of a rig, −1 for none: the only one with the same plain name. Programs
// change the rest.
func alikeNames(rig *skel.Skeleton) func(name string) int {
	alike := map[string]int{}
	for k, name := range rig.Names {
		plain := plainName(name)
		if _, twice := alike[plain]; twice {
			k = -1
		}
		alike[plain] = k
	}
	return func(name string) int {
		if k, ok := alike[plainName(name)]; ok {
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

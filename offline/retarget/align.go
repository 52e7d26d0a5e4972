package retarget

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// binding is a profile applied to two skeletons: pairs of joints, and rotations between them.
type binding struct {
	source, target *skel.Skeleton
	rest           []m3.Vec3       // (source) offsets, collapsed
	from           []int           // (target) its joint of source, −1 for none
	place          []bool          // (target) whether it has that joint's position too
	align          []m3.Quat       // (target) from its frame at rest to that joint's
	axes           map[int]m3.Quat // the profile's alignments
	at, to         []m3.Vec3       // (source, target) positions at rest; of source in its mean pose with frames
	frames         []m3.Quat       // (source) rotations in that pose; nil: at rest, and all are the identity
	hinges         map[int]m3.Vec3 // (target) axes about which knees and elbows bend, in that pose; nil: unknown
	bones          [][]int         // (target) the joints with a position that its bones lead to
	missing        []string        // joints of the profile that the source lacks
	collapsed      map[int]bool    // joints of source whose children move to them
}

// bind checks that p fits the skeletons, and aligns them.
func bind(p *Profile, source, target *skel.Skeleton) (*binding, error) {
	b := &binding{source: source, target: target, axes: map[int]m3.Quat{}, collapsed: map[int]bool{}}
	n := target.Len()
	b.from, b.place, b.align = make([]int, n), make([]bool, n), make([]m3.Quat, n)
	for j, name := range target.Names {
		b.from[j] = -1
		if want, ok := p.Joints[name]; ok {
			if b.from[j] = anatomy.Joint(source.Names, want); b.from[j] < 0 {
				b.missing = append(b.missing, fmt.Sprintf("%s (for %s)", want, name))
			}
		}
		// A joint at its parent's position has no position of its own.
		pivot := target.Parents[j] >= 0 && target.Offsets[j].Len() < 1e-4
		b.place[j] = b.from[j] >= 0 && !pivot
	}
	for name := range p.Joints {
		if target.Index(name) < 0 {
			return nil, fmt.Errorf("profile %s: joints.%.60s: the target skeleton has no such joint", p.Name, name)
		}
	}
	for _, name := range required {
		if j := target.Index(name); j < 0 {
			return nil, fmt.Errorf("the target skeleton has no joint %s", name)
		} else if b.from[j] < 0 {
			return nil, fmt.Errorf("profile %s: joints.%s: the file has no joint %.60q", p.Name, name, p.Joints[name])
		}
	}
	inSource := func(name string) bool { j := target.Index(name); return j >= 0 && b.from[j] >= 0 }
	if !slices.ContainsFunc(trunk, inSource) {
		return nil, fmt.Errorf("profile %s: the file has none of the joints that it names for %s", p.Name, strings.Join(trunk, ", "))
	}
	for _, name := range p.TurnOnly {
		b.place[target.Index(name)] = false
	}
	for _, name := range p.Collapse {
		j := anatomy.Joint(source.Names, name)
		if j < 0 {
			return nil, fmt.Errorf("profile %s: collapse: the file has no joint %.60q", p.Name, name)
		}
		b.collapsed[j] = true
	}
	for name, text := range p.Axes {
		q, err := parseAxes(text)
		if err != nil {
			return nil, fmt.Errorf("profile %s: axes.%s: %w", p.Name, name, err)
		}
		b.axes[target.Index(name)] = q
	}
	b.rest = append([]m3.Vec3(nil), source.Offsets...)
	for j, parent := range source.Parents {
		if parent >= 0 && b.collapsed[int(parent)] {
			b.rest[j] = m3.Vec3{}
		}
	}
	b.at, b.to = restPositions(source, b.rest), restPositions(target, target.Offsets)
	b.findBones()
	b.alignAll()
	return b, nil
}

func restPositions(s *skel.Skeleton, offsets []m3.Vec3) []m3.Vec3 {
	out := make([]m3.Vec3, s.Len())
	for j, p := range s.Parents {
		if out[j] = offsets[j]; p >= 0 {
			out[j] = out[j].Add(out[p])
		}
	}
	return out
}

// findBones lists for each joint the nearest joints below it that have a position, and
// another one in both skeletons.
func (b *binding) findBones() {
	n := b.target.Len()
	b.bones = make([][]int, n)
	size := b.size()
	for j := range n {
		if b.from[j] < 0 {
			continue
		}
		for k := j + 1; k < n; k++ {
			if !b.place[k] || !b.apart(j, k, size) {
				continue
			}
			// Nothing between the two may be a bone's end itself.
			a := int(b.target.Parents[k])
			for a > j && !(b.place[a] && b.apart(j, a, size)) {
				a = int(b.target.Parents[a])
			}
			if a == j {
				b.bones[j] = append(b.bones[j], k)
			}
		}
	}
}

// apart reports whether joints j and k have different positions in both skeletons.
func (b *binding) apart(j, k int, size float32) bool {
	return b.to[k].Dist(b.to[j]) > 1e-3 && b.at[b.from[k]].Dist(b.at[b.from[j]])*size > 1e-3
}

// between returns the direction of the bone from j to k at rest, in target and source.
func (b *binding) between(j, k int) (to, at m3.Vec3) {
	return b.to[k].Sub(b.to[j]).Normalize(m3.Up), b.at[b.from[k]].Sub(b.at[b.from[j]]).Normalize(m3.Up)
}

// alignAll finds the alignments from the root down: first from the target's rest pose to the source's
// pose, and then from there to the joints' frames.
func (b *binding) alignAll() {
	stands := b.findStance()
	for j, p := range b.target.Parents {
		up := m3.Ident
		if p >= 0 {
			up = b.align[p]
		}
		if q, ok := b.axes[j]; ok {
			b.align[j] = q
			if to, at, ok := b.direction(j); ok {
				b.align[j] = m3.Between(q.Rotate(to), at).Mul(q)
			}
			continue
		}
		b.align[j] = up
		if to, at, ok := b.direction(j); ok {
			b.align[j] = m3.Between(up.Rotate(to), at).Mul(up)
			b.turnBone(j, at)
		} else if q, ok := b.bodyAlign(stands, j); ok {
			b.align[j] = q
		} else if len(b.bones[j]) > 1 {
			var to, at []m3.Vec3
			for _, k := range b.bones[j] {
				t, s := b.between(j, k)
				to, at = append(to, t), append(at, s)
			}
			if q, ok := rigidFit(to, at); ok {
				b.align[j] = q
			}
		}
	}
	for j, s := range b.from {
		if s >= 0 && b.frames != nil {
			b.align[j] = b.frames[s].Conj().Mul(b.align[j])
		}
	}
}

// direction returns the direction of joint j's only bone at rest, in target and source. It
// returns false if the joint has no bone or several, or sits elsewhere in the source's body.
func (b *binding) direction(j int) (to, at m3.Vec3, ok bool) {
	switch s := b.from[j]; {
	case s < 0 || !b.place[j] && !b.pivots(j):
		return to, at, false
	case len(b.bones[j]) == 1:
		to, at = b.between(j, b.bones[j][0])
		return to, at, true
	case len(b.bones[j]) == 0:
		// The tips: toes, head, fingers.
		t, u := b.target.EndSiteOf(j), b.source.EndSiteOf(s)
		if t < 0 || u < 0 || b.target.Offsets[t].Len() < 1e-3 || b.rest[u].Len()*b.size() < 1e-3 {
			return to, at, false
		}
		return b.target.Offsets[t].Normalize(m3.Up), b.frame(s).Rotate(b.rest[u]).Normalize(m3.Up), true
	}
	return to, at, false
}

// legs returns the summed lengths of both legs at rest, hip to knee to ankle, in
// target and source, and the first bone without length.
func (b *binding) legs() (to, at float32, none string) {
	for _, side := range []string{"Left", "Right"} {
		hip, knee, foot := b.target.Index(side+"UpLeg"), b.target.Index(side+"Leg"), b.target.Index(side+"Foot")
		for _, bone := range [][2]int{{hip, knee}, {knee, foot}} {
			t, s := b.to[bone[1]].Dist(b.to[bone[0]]), b.at[b.from[bone[1]]].Dist(b.at[b.from[bone[0]]])
			if none == "" && (!(t > 1e-6) || !(s > 1e-9)) {
				none = b.target.Names[bone[1]]
			}
			to, at = to+t, at+s
		}
	}
	return to, at, none
}

// size returns the metres of the source's unit once it is scaled.
func (b *binding) size() float32 {
	to, at, _ := b.legs()
	return to / max(at, 1e-9)
}

// pivots reports whether joint j is at its parent's position in both skeletons.
func (b *binding) pivots(j int) bool {
	p := b.target.Parents[j]
	return p >= 0 && b.target.Offsets[j].Len() < 1e-4 && b.from[p] >= 0 && b.at[b.from[j]].Dist(b.at[b.from[p]])*b.size() < 1e-3
}

// axesAgree reports whether the profile's axes leave every bone within 60° of the source's.
func (b *binding) axesAgree() bool {
	for j, q := range b.axes {
		if to, at, ok := b.direction(j); ok && q.Rotate(to).Dot(at) < 0.5 {
			return false
		}
	}
	return true
}

// rigidFit returns the rotation that brings the unit vectors from nearest to the unit
// vectors to by least squares (Davenport's q-method). It returns false if they do not
// determine it because all are on one line.
func rigidFit(from, to []m3.Vec3) (m3.Quat, bool) {
	var b [3][3]float64
	for i := range from {
		f, t := [3]float32{from[i].X, from[i].Y, from[i].Z}, [3]float32{to[i].X, to[i].Y, to[i].Z}
		for r := range 3 {
			for c := range 3 {
				b[r][c] += float64(t[r]) * float64(f[c])
			}
		}
	}
	tr := b[0][0] + b[1][1] + b[2][2]
	k := mat.NewSymDense(4, nil)
	for r := range 3 {
		for c := r; c < 3; c++ {
			v := b[r][c] + b[c][r]
			if r == c {
				v -= tr
			}
			k.SetSym(r, c, v)
		}
	}
	k.SetSym(0, 3, b[2][1]-b[1][2])
	k.SetSym(1, 3, b[0][2]-b[2][0])
	k.SetSym(2, 3, b[1][0]-b[0][1])
	k.SetSym(3, 3, tr)
	return lastVector(k, 1e-2)
}

// parseAxes reads the axes of Profile.Axes that point left and up, as a turn from the T-pose's.
func parseAxes(text string) (m3.Quat, error) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return m3.Ident, fmt.Errorf("%.30q: want the axes that point left and up, such as \"z -x\"", text)
	}
	var v [2]m3.Vec3
	for i, s := range f {
		sign := float32(1)
		if t, ok := strings.CutPrefix(s, "-"); ok {
			s, sign = t, -1
		} else if t, ok := strings.CutPrefix(s, "+"); ok {
			s = t
		}
		switch s {
		case "x":
			v[i] = m3.V(sign, 0, 0)
		case "y":
			v[i] = m3.V(0, sign, 0)
		case "z":
			v[i] = m3.V(0, 0, sign)
		default:
			return m3.Ident, fmt.Errorf("%.30q: %.10q is none of x, y, z, -x, -y, -z", text, f[i])
		}
	}
	if math.Abs(float64(v[0].Dot(v[1]))) > 0.5 {
		return m3.Ident, fmt.Errorf("%.30q: left and up are not at right angles", text)
	}
	return m3.FromAxes(v[0], v[1], v[0].Cross(v[1])), nil
}

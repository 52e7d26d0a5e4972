package skin

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
)

// Values that differ by less are equal: a channel that moves by less has one key. The numbers are just
// above the noise of 32 bits in a person's joints, and a chain of twenty stays below a tenth of a
// millimetre.
const (
	samePlace = 4e-6 // metres in the scene
	sameAngle = 4e-6 // radians, of bodies whose joints are within longArm of each other
	longArm   = 2.5  // metres: in longer bodies angles count for more
)

// trs is the transform of a node as glTF holds it.
type trs struct {
	pos   [3]float64
	rot   [4]float64 // x, y, z, w; a unit
	scale [3]float64
}

// matrix returns the transform.
func (t *trs) matrix() affine.Transform {
	return local(&gltf.Node{Translation: t.pos, Rotation: t.rot, Scale: t.scale})
}

// rest returns the transform of node n, of which a matrix is taken apart.
func (a *adder) rest(n int) (trs, error) {
	node := a.doc.Nodes[n]
	m := node.MatrixOrDefault()
	if m == gltf.DefaultMatrix {
		out := trs{node.Translation, node.RotationOrDefault(), node.ScaleOrDefault()}
		l := math.Sqrt(out.rot[0]*out.rot[0] + out.rot[1]*out.rot[1] + out.rot[2]*out.rot[2] + out.rot[3]*out.rot[3])
		for k := range out.rot {
			out.rot[k] /= l
		}
		return out, nil
	}
	at := local(node)
	out := trs{pos: [3]float64{m[12], m[13], m[14]}}
	var axes [3][3]float64
	for c := range axes {
		axes[c] = [3]float64{m[4*c], m[4*c+1], m[4*c+2]}
		out.scale[c] = length(axes[c])
	}
	if at.Det() < 0 {
		out.scale[0] = -out.scale[0]
	}
	for c := range axes {
		for k := range axes[c] {
			axes[c][k] /= out.scale[c]
		}
	}
	for c := range axes {
		if d := dot(axes[c], axes[(c+1)%3]); !(math.Abs(d) < 1e-3) {
			return out, a.errorf(fmt.Sprintf("nodes[%d].matrix", n),
				"shears or is flat, which translation, rotation and scale cannot hold: export the node without shear")
		}
	}
	out.rot = quaternion(axes[0], axes[1])
	return out, nil
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func length(a [3]float64) float64 { return math.Sqrt(dot(a, a)) }

// quaternion returns the rotation whose x axis has the direction x and whose y axis is on y's side.
func quaternion(x, y [3]float64) [4]float64 {
	l := length(x)
	for k := range x {
		x[k] /= l
	}
	d := dot(x, y)
	for k := range y {
		y[k] -= d * x[k]
	}
	l = length(y)
	for k := range y {
		y[k] /= l
	}
	z := [3]float64{x[1]*y[2] - x[2]*y[1], x[2]*y[0] - x[0]*y[2], x[0]*y[1] - x[1]*y[0]}
	// The largest of the four components is found first, from the diagonal.
	squares := [4]float64{1 + x[0] - y[1] - z[2], 1 - x[0] + y[1] - z[2], 1 - x[0] - y[1] + z[2], 1 + x[0] + y[1] + z[2]}
	most := 3
	for k, s := range squares {
		if s > squares[most] {
			most = k
		}
	}
	var q [4]float64
	switch most {
	case 0:
		q = [4]float64{squares[0], x[1] + y[0], x[2] + z[0], y[2] - z[1]}
	case 1:
		q = [4]float64{x[1] + y[0], squares[1], y[2] + z[1], z[0] - x[2]}
	case 2:
		q = [4]float64{x[2] + z[0], y[2] + z[1], squares[2], x[1] - y[0]}
	default:
		q = [4]float64{y[2] - z[1], z[0] - x[2], x[1] - y[0], squares[3]}
	}
	l = math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	for k := range q {
		q[k] /= l
	}
	return q
}

// standsAsBound reports whether the nodes stand as the skins were bound to them. Where they do not,
// programs differ in where a joint without keys is: Blender's bones rest as bound.
func (a *adder) standsAsBound() bool {
	for _, s := range a.doc.Skins {
		if s.InverseBindMatrices == nil {
			continue
		}
		e, err := a.accessor("", *s.InverseBindMatrices, MaxJoints, gltf.AccessorMat4)
		if err != nil || e.count < len(s.Joints) {
			return false // it is compressed, perhaps
		}
		var first affine.Transform
		for i, n := range s.Joints {
			if n < 0 || n >= len(a.world) {
				return false
			}
			var m affine.Transform
			for c := range 4 {
				for row := range 3 {
					m[4*row+c] = e.at(i, 4*c+row)
				}
			}
			bind, ok := m.Inverse() // of the joint in the mesh
			if !ok {
				return false
			}
			m = a.world[n].Mul(&m)
			if i == 0 {
				first = m
			}
			was := first.Mul(&bind)
			for _, k := range []int{3, 7, 11} {
				if !(math.Abs(was[k]-a.world[n][k]) < samePlace) {
					return false
				}
			}
		}
	}
	return true
}

// nodeKeys is the keys of a node: one per frame, or a single one if they are equal; no places if they
// are those of the node without motion, and skins were bound so.
type nodeKeys struct {
	node int
	rot  [][4]float32
	pos  [][3]float32
}

// nodeMotion is the local transforms of a node in all frames.
type nodeMotion struct {
	rot   [][4]float64
	pos   [][3]float64
	rest  trs
	scale float64 // of the parent's space, in the first frame
	angle float64 // at which rotations are equal
}

// tracks computes the local transforms that put each joint where the clip has it.
func (a *adder) tracks(m *Motion, nodes []int) ([]nodeKeys, error) {
	c := m.Clip
	angle := sameAngle * longArm / max(longArm, extent(c))
	bound := a.standsAsBound()
	joint := map[int]int{}
	needed := make([]bool, len(a.doc.Nodes)) // what moves, and all above
	for j, n := range nodes {
		if n < 0 {
			continue
		}
		joint[n] = j
		for ; n >= 0 && !needed[n]; n = a.parent[n] {
			needed[n] = true
		}
	}
	var order []int
	all, still := map[int]*nodeMotion{}, map[int]affine.Transform{}
	for _, n := range a.order {
		if !needed[n] {
			continue
		}
		order = append(order, n)
		if _, ok := joint[n]; !ok {
			still[n] = local(a.doc.Nodes[n])
			continue
		}
		rest, err := a.rest(n)
		if err != nil {
			return nil, err
		}
		all[n] = &nodeMotion{rest: rest, angle: angle}
		a.moved[n] = true
	}
	model, world := make([]affine.Transform, c.Skel.Len()), make([]affine.Transform, len(a.doc.Nodes))
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		for j, p := range c.Skel.Parents {
			q := rot[j]
			model[j] = local(&gltf.Node{
				Translation: [3]float64{float64(pos[j].X), float64(pos[j].Y), float64(pos[j].Z)},
				Rotation:    [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)},
				Scale:       [3]float64{1, 1, 1}})
			if p >= 0 {
				model[j] = model[p].Mul(&model[j])
			}
		}
		for _, n := range order {
			above := affine.Identity
			if p := a.parent[n]; p >= 0 {
				above = world[p]
			}
			here, ok := still[n]
			if !ok {
				t := all[n]
				if err := t.add(&above, &model[joint[n]]); err != nil {
					return nil, a.errorf(fmt.Sprintf("nodes[%d]", n), "%v", err)
				}
				here = (&trs{t.pos[f], t.rot[f], t.rest.scale}).matrix()
			}
			world[n] = above.Mul(&here)
		}
	}
	out := make([]nodeKeys, 0, len(joint))
	for _, n := range order {
		if t := all[n]; t != nil {
			k := t.keys(!bound)
			k.node = n
			out = append(out, k)
		}
	}
	return out, nil
}

// extent returns how far joints are from each other in the first frame, at most.
func extent(c *skel.Clip) (most float64) {
	model := make([]m3.Xform, c.Skel.Len())
	c.Model(model, 0)
	for _, x := range model {
		most = max(most, 2*float64(x.Pos.Dist(model[0].Pos)))
	}
	return most
}

// add computes the local transform below above that is at model's place with its rotation.
func (t *nodeMotion) add(above, model *affine.Transform) error {
	back, ok := above.Inverse()
	if !ok {
		return fmt.Errorf("a node above has the scale 0: nothing can be placed below it")
	}
	if len(t.pos) == 0 {
		for c := range 3 {
			t.scale = max(t.scale, length([3]float64{above[c], above[4+c], above[8+c]}))
		}
	}
	t.pos = append(t.pos, back.Apply(model[3], model[7], model[11]))
	// Of the node's axes in the scene, x has the direction of the clip's and y is in its plane; if the
	// node is mirrored there, x is turned round. OpenMotions reads rotations so, whatever the scales.
	sign, side := [3]float64{1, 1, 1}, above.Det()
	for c, s := range t.rest.scale {
		if s < 0 {
			sign[c], side = -1, -side
		}
	}
	if side < 0 {
		sign[0] = -sign[0]
	}
	origin := back.Apply(0, 0, 0)
	axis := func(c int) (d [3]float64) {
		at := back.Apply(model[c], model[4+c], model[8+c])
		for k := range d {
			d[k] = sign[c] * (at[k] - origin[k])
		}
		return d
	}
	q := quaternion(axis(0), axis(1))
	if last := len(t.rot) - 1; last >= 0 {
		l := t.rot[last]
		if q[0]*l[0]+q[1]*l[1]+q[2]*l[2]+q[3]*l[3] < 0 {
			for k := range q {
				q[k] = -q[k] // the short way for programs that interpolate components
			}
		}
	}
	for _, v := range q {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the nodes above are nearly flat: nothing can be placed below them")
		}
	}
	t.rot = append(t.rot, q)
	return nil
}

// keys returns the keys in 32 bits. With all, there is a key for the place in any case.
func (t *nodeMotion) keys(all bool) (out nodeKeys) {
	near := func(v, w [3]float64) bool {
		return t.scale*length([3]float64{v[0] - w[0], v[1] - w[1], v[2] - w[2]}) < samePlace
	}
	moves, turns := false, false
	for f := range t.pos {
		moves = moves || !near(t.pos[f], t.pos[0])
		d := 0.0
		for k := range 4 {
			d += (t.rot[f][k] - t.rot[0][k]) * (t.rot[f][k] - t.rot[0][k])
		}
		turns = turns || 2*math.Sqrt(d) > t.angle // of small angles
	}
	for f := range t.pos {
		if f == 0 || turns {
			q := t.rot[f]
			out.rot = append(out.rot, [4]float32{float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3])})
		}
		if moves || f == 0 && (all || !near(t.pos[0], t.rest.pos)) {
			v := t.pos[f]
			out.pos = append(out.pos, [3]float32{float32(v[0]), float32(v[1]), float32(v[2])})
		}
	}
	return out
}

// animation adds the keys of a motion as an animation.
func (a *adder) animation(m *Motion, tracks []nodeKeys, opt AddOptions) error {
	name := m.Name
	replaces := -1
	for i, old := range a.doc.Animations {
		if old.Name != name || name == "" {
			continue
		}
		if !opt.Replace {
			return a.errorf(fmt.Sprintf("animations[%d]", i), "is called %.60q already: replace it, or give the new one another name", name)
		}
		replaces = i
		a.report.Replaced = append(a.report.Replaced, name)
		break
	}
	c := m.Clip
	k := &keys{adder: a, start: len(a.bin), view: a.firstView + len(a.views)}
	times := make([]float32, c.Frames)
	for f := range times {
		times[f] = float32(float64(f) / c.FPS)
	}
	full, first := -1, -1 // accessors of times
	input := func(n int) int {
		if n == c.Frames {
			if full < 0 {
				full = k.times(times)
			}
			return full
		}
		if first < 0 {
			first = k.times(times[:1])
		}
		return first
	}
	still := c.Frames > 1
	for _, t := range tracks {
		still = still && len(t.rot) == 1 && len(t.pos) <= 1
	}
	if still { // the length of the motion is in its keys
		t := &tracks[0]
		for range c.Frames - 1 {
			t.rot = append(t.rot, t.rot[0])
		}
	}
	var samplers, channels []string
	channel := func(n int, path string, in, out int) {
		samplers = append(samplers, fmt.Sprintf(`{"input":%d,"interpolation":"LINEAR","output":%d}`, in, out))
		channels = append(channels, fmt.Sprintf(`{"sampler":%d,"target":{"node":%d,"path":"%s"}}`, len(samplers)-1, n, path))
	}
	for _, t := range tracks {
		if len(t.pos) > 0 {
			channel(t.node, "translation", input(len(t.pos)), k.add("VEC3", len(t.pos), flat(t.pos, func(v [3]float32) []float32 { return v[:] })))
		}
		channel(t.node, "rotation", input(len(t.rot)), k.add("VEC4", len(t.rot), flat(t.rot, func(v [4]float32) []float32 { return v[:] })))
	}
	a.views = append(a.views, nil) // its place depends on where the keys go: see layout
	a.keyViews = append(a.keyViews, span{k.start, len(a.bin)})
	text := `"channels":[` + strings.Join(channels, ",") + `],"samplers":[` + strings.Join(samplers, ",") + `]}`
	if name != "" {
		text = `"name":` + quoted(name) + "," + text
	}
	if text = "{" + text; replaces >= 0 {
		a.patch.replace(a.items("animations")[replaces], []byte(text))
	} else {
		a.animations = append(a.animations, []byte(text))
	}
	a.report.Animations = append(a.report.Animations, name)
	return nil
}

func flat[V any](all []V, of func(V) []float32) (out []float32) {
	for _, v := range all {
		out = append(out, of(v)...)
	}
	return out
}

// keys writes the accessors of an animation into one view.
type keys struct {
	*adder
	start int // of the view in bin
	view  int
}

// add adds values as an accessor and returns its index.
func (k *keys) add(kind string, count int, values []float32, more ...string) int {
	at := len(k.bin) - k.start
	for _, v := range values {
		k.bin = binary.LittleEndian.AppendUint32(k.bin, math.Float32bits(v))
	}
	k.accessors = append(k.accessors, fmt.Appendf(nil, `{"bufferView":%d,"byteOffset":%d,"componentType":5126,"count":%d,"type":"%s"%s}`,
		k.view, at, count, kind, strings.Join(more, "")))
	return k.firstAccessor + len(k.accessors) - 1
}

func (k *keys) times(t []float32) int {
	number := func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }
	return k.add("SCALAR", len(t), t, fmt.Sprintf(`,"min":[%s],"max":[%s]`, number(t[0]), number(t[len(t)-1])))
}

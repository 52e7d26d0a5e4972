package skin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// skeleton reads joints from lines of "name parent x y z"; - is no parent.
func skeleton(t testing.TB, text string) *skel.Skeleton {
	t.Helper()
	s := &skel.Skeleton{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var v [3]float32
		for i := range v {
			x := must.Get(strconv.ParseFloat(f[2+i], 32))(t)
			v[i] = float32(x)
		}
		s.Names, s.Parents = append(s.Names, f[0]), append(s.Parents, int16(s.Index(f[1])))
		s.Offsets, s.EndSite = append(s.Offsets, m3.V(v[0], v[1], v[2])), append(s.EndSite, strings.HasSuffix(f[0], "Site"))
	}
	must.Do(t, s.Validate())
	return s
}

// both returns text for the left side, and mirrored for the right: @ is the side, ± its sign.
func both(text string) string {
	return strings.NewReplacer("@", "Left", "±", "").Replace(text) + strings.NewReplacer("@", "Right", "±", "-").Replace(text)
}

// person has the joints of people's scenes; numbers are round.
func person(t testing.TB) *skel.Skeleton {
	return skeleton(t, `Hips - 0 0 0
LowerBack Hips 0 0 0
Spine LowerBack 0 0.117 -0.010
Spine1 Spine 0 0.117 -0.002
Neck Spine1 0 0 0
Neck1 Neck 0 0.0936 0.009
Head Neck1 0 0.0924 -0.014
HeadSite Head 0 0.0964 -0.006
`+both(`@UpLeg Hips ±0.091 -0.1 0.042
@Leg @UpLeg 0 -0.4065 0
@Foot @Leg 0 -0.427 0
@ToeBase @Foot 0 -0.029 0.1176
@ToeBaseSite @ToeBase 0 0 0.061
@Shoulder Spine1 0 0 0
@Arm @Shoulder ±0.185 0.059 -0.009
@ForeArm @Arm ±0.2965 0 0
@Hand @ForeArm ±0.186 0 0
@HandIndex1 @Hand ±0.038 0 0
@HandIndex1Site @HandIndex1 ±0.031 0 0
`))
}

// mixamo is another, taller person, with the joints that Mixamo has.
func mixamo(t testing.TB) *skel.Skeleton {
	return skeleton(t, `Hips - 0 0 0
Spine Hips 0 0.10 -0.01
Spine1 Spine 0 0.12 -0.01
Spine2 Spine1 0 0.13 0
Neck Spine2 0 0.15 0.01
Head Neck 0 0.10 0.02
HeadTop_End Head 0 0.18 0
`+both(`@UpLeg Hips ±0.09 -0.06 0
@Leg @UpLeg 0 -0.45 0
@Foot @Leg 0 -0.44 -0.01
@ToeBase @Foot 0 -0.08 0.13
@Toe_End @ToeBase 0 0 0.08
@Shoulder Spine2 ±0.06 0.11 0
@Arm @Shoulder ±0.12 0 -0.01
@ForeArm @Arm ±0.27 0 0
@Hand @ForeArm ±0.26 0 0
@HandIndex1 @Hand ±0.09 0 0.03
@HandIndex2 @HandIndex1 ±0.04 0 0
@HandThumb1 @Hand ±0.03 -0.02 0.04
`))
}

// dog has the joints of dogs' scenes, every bone along +X as in their recordings.
func dog(t testing.TB) *skel.Skeleton {
	return skeleton(t, `Hips - 0 0.46 0
Spine Hips 0 0 0
Spine1 Spine 0.19 0 0
Neck Spine1 0.22 0 0
Head Neck 0.14 0 0
HeadSite Head 0.17 0 0
Tail Hips 0.07 0 0
Tail1 Tail 0.12 0 0
Tail1Site Tail1 0.12 0 0
`+strings.NewReplacer("x", "0.04", "y", "0.05").Replace(both(`@Shoulder Spine1 0.2 0.04 ±x
@Arm @Shoulder 0.08 0 0
@ForeArm @Arm 0.15 0 0
@Hand @ForeArm 0.18 0 0
@HandSite @Hand 0.07 0 0
@UpLeg Hips 0.06 -0.075 ±y
@Leg @UpLeg 0.16 0 0
@Foot @Leg 0.18 0 0
@FootSite @Foot 0 -0.11 0
`)))
}

var bodies sync.Map // by skeleton's text: to grow one takes a while

// grown returns the body that a skeleton has without a skin.
func grown(t testing.TB, sk *skel.Skeleton) *body.Body {
	t.Helper()
	key := fmt.Sprint(sk.Names, sk.Offsets)
	if b, ok := bodies.Load(key); ok {
		return b.(*body.Body)
	}
	b := must.Get(body.New(&body.Rig{Names: sk.Names, Parents: sk.Parents, Offsets: sk.Offsets}))(t)
	bodies.Store(key, b)
	return b
}

// renamed returns the skeleton under other names.
func renamed(sk *skel.Skeleton, name func(string) string) *skel.Skeleton {
	out := *sk
	out.Names = make([]string, sk.Len())
	for j, n := range sk.Names {
		out.Names[j] = name(n)
	}
	return &out
}

// posed returns the body in another pose of its joints.
func posed(b *body.Body, bones []m3.Xform) *body.Body {
	m := b.Levels[0]
	out := &body.Body{Bind: bones, Cover: b.Cover, Size: b.Size}
	pos, normal := make([]m3.Vec3, len(m.Pos)), make([]m3.Vec3, len(m.Pos))
	for v := range pos {
		for k, w := range m.Weights[v] {
			j := m.Joints[v][k]
			x := bones[j].Mul(b.Bind[j].Inv())
			pos[v] = pos[v].Add(x.Apply(m.Pos[v]).Scale(w))
			normal[v] = normal[v].Add(x.Rot.Rotate(m.Normal[v]).Scale(w))
		}
		normal[v] = normal[v].Normalize(m3.Up)
	}
	m.Pos, m.Normal = pos, normal
	out.Levels = []body.Mesh{m}
	return out
}

// tPose returns the joints of a person's grown body with the arms straight to the sides.
func tPose(t testing.TB, sk *skel.Skeleton) []m3.Xform {
	out := make([]m3.Xform, sk.Len())
	arm := make([]bool, sk.Len())
	for j, p := range sk.Parents {
		out[j] = grown(t, sk).Bind[j]
		if p < 0 {
			continue
		}
		if arm[j] = arm[p] || strings.HasSuffix(sk.Names[j], "tArm"); arm[j] {
			out[j].Rot = m3.Ident
		}
		out[j].Pos = out[p].Apply(sk.Offsets[j])
	}
	return out
}

// edited returns a GLB after its document was changed.
func edited(t testing.TB, data []byte, edit func(d *gltf.Document)) []byte {
	t.Helper()
	d := new(gltf.Document)
	must.Do(t, gltf.NewDecoder(bytes.NewReader(data)).Decode(d))
	edit(d)
	var out bytes.Buffer
	must.Do(t, gltf.NewEncoder(&out).Encode(d))
	return out.Bytes()
}

// root returns the node that is above all joints.
func root(d *gltf.Document) *gltf.Node {
	for _, n := range d.Nodes {
		if n.Name == "character" {
			return n
		}
	}
	return nil
}

// written returns the GLB of a body.
func written(t testing.TB, sk *skel.Skeleton, b *body.Body, clip *skel.Clip) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, Write(&out, sk, b, [3]float32{0.1, 0.2, 0.4}, clip))
	return out.Bytes()
}

// readAlone reads a file that references no others.
func readAlone(name string, data []byte) (*Skin, error) { return read(name, data, nil) }

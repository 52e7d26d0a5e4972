package skin

import (
	"math"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// track is a channel of an animation of node b.
type track struct {
	node   int
	path   gltf.TRSProperty
	times  []float32
	values any
	kind   gltf.Interpolation
	whole  bool // normalized integers
}

// moving returns a document of nodes a and, 1 m above it, b, with an animation for each list of tracks.
func moving(clips ...[]track) *gltf.Document {
	d := gltf.NewDocument()
	d.Nodes = []*gltf.Node{{Name: "a", Children: []int{1}}, {Name: "b", Translation: [3]float64{0, 1, 0}, Children: []int{2}}, {Name: "c", Translation: [3]float64{1, 0, 0}}}
	d.Scenes[0].Nodes = []int{0}
	for _, tracks := range clips {
		a := &gltf.Animation{}
		for _, c := range tracks {
			in, out := modeler.WriteAccessor(d, gltf.TargetNone, c.times), modeler.WriteAccessor(d, gltf.TargetNone, c.values)
			d.Accessors[out].Normalized = c.whole
			a.Samplers = append(a.Samplers, &gltf.AnimationSampler{Input: in, Output: out, Interpolation: c.kind})
			a.Channels = append(a.Channels, &gltf.AnimationChannel{Sampler: len(a.Samplers) - 1, Target: gltf.AnimationChannelTarget{Node: gltf.Index(c.node), Path: c.path}})
		}
		d.Animations = append(d.Animations, a)
	}
	return d
}

// turned returns rotations about z by degrees.
func turned(degrees ...float64) (out [][4]float32) {
	for _, a := range degrees {
		s, c := math.Sincos(a * math.Pi / 360)
		out = append(out, [4]float32{0, 0, float32(s), float32(c)})
	}
	return out
}

// All interpolations, by what the specification's formulas give at a quarter of the way.
func TestInterpolation(t *testing.T) {
	far := turned(0, 100) // the second one with the other sign: the same rotation
	far[1] = [4]float32{0, 0, -far[1][2], -far[1][3]}
	hermite := func(a, out, in, b, u float64) float64 { // of one second
		return (2*u*u*u-3*u*u+1)*a + (u*u*u-2*u*u+u)*out + (3*u*u-2*u*u*u)*b + (u*u*u-u*u)*in
	}
	q0, q1 := turned(0)[0], turned(100)[0]
	z, w := hermite(float64(q0[2]), 0.5, -0.25, float64(q1[2]), 0.25), hermite(float64(q0[3]), 0, 0, float64(q1[3]), 0.25)
	for name, c := range map[string]struct {
		track track
		angle float64 // of b about z in degrees at 0.25 s
		x     float32 // of b in its parent
	}{
		"linear":           {track{kind: gltf.InterpolationLinear, values: turned(0, 100)}, 25, 0},
		"linear, short":    {track{kind: gltf.InterpolationLinear, values: far}, 25, 0},
		"step":             {track{kind: gltf.InterpolationStep, values: turned(10, 100)}, 10, 0},
		"not normalized":   {track{kind: gltf.InterpolationLinear, values: [][4]float32{{0, 0, 0, 7}, {0, 0, 0.1, 0.1}}}, 22.5, 0},
		"shorts":           {track{kind: gltf.InterpolationLinear, values: [][4]int16{{0, 0, 0, 32767}, {0, 0, 23170, 23170}}, whole: true}, 22.5, 0},
		"bytes":            {track{kind: gltf.InterpolationLinear, values: [][4]int8{{0, 0, 0, 127}, {0, 0, 90, 90}}, whole: true}, 22.5, 0},
		"cubic":            {track{kind: gltf.InterpolationCubicSpline, values: [][4]float32{{}, q0, {2: 0.5}, {2: -0.25}, q1, {}}}, 2 * math.Atan2(z, w) * 180 / math.Pi, 0},
		"linear, moved":    {track{kind: gltf.InterpolationLinear, values: [][3]float32{{0, 1, 0}, {4, 1, 0}}}, 0, 1},
		"step, moved":      {track{kind: gltf.InterpolationStep, values: [][3]float32{{3, 1, 0}, {4, 1, 0}}}, 0, 3},
		"cubic, moved":     {track{kind: gltf.InterpolationCubicSpline, values: [][3]float32{{}, {0, 1, 0}, {2}, {1}, {4, 1, 0}, {}}}, 0, float32(hermite(0, 2, 1, 4, 0.25))},
		"two keys at once": {track{kind: gltf.InterpolationLinear, times: []float32{0, 0.125, 0.125, 1}, values: [][3]float32{{0, 1, 0}, {0, 1, 0}, {8, 1, 0}, {1, 1, 0}}}, 0, 7},
	} {
		c.track.node = 1
		if c.track.times == nil {
			c.track.times = []float32{0, 1}
		}
		if _, ok := c.track.values.([][3]float32); !ok {
			c.track.path = gltf.TRSRotation
		}
		m := must.Get(ReadMotions("a.glb", encode(t, moving([]track{c.track}), true)))(t)[0].Clip
		f := int(math.Round(0.25 * m.FPS))
		pos, rot := m.Frame(f)
		j := m.Skel.Index("b")
		if m.Skel.Parents[j] >= 0 {
			t.Fatalf("%s: a moves, too", name)
		}
		if a := rot[j].Angle(m3.AxisAngle(m3.V(0, 0, 1), float32(c.angle*math.Pi/180))); a > 0.01 || m3.Abs(pos[j].X-c.x) > 1e-4 {
			t.Errorf("%s: %v at %v in frame %d, want %g° at x = %g", name, rot[j], pos[j], f, c.angle, c.x)
		}
		for k, q := range m.Rot {
			if l := math.Sqrt(float64(q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W)); math.Abs(l-1) > 1e-5 {
				t.Fatalf("%s: rotation %d has length %g", name, k, l)
			}
		}
	}
}

// A frame shows the step that begins with it, though the times of keys are rounded.
func TestSteps(t *testing.T) {
	times, values := make([]float32, 60), make([][3]float32, 60)
	for k := range times {
		times[k], values[k] = float32(k)/30, [3]float32{float32(k), 1, 0}
	}
	m := must.Get(ReadMotions("a.glb", encode(t, moving([]track{{node: 1, path: gltf.TRSTranslation, kind: gltf.InterpolationStep, times: times, values: values}}), true)))(t)[0].Clip
	for f := range m.Frames {
		if pos, _ := m.Frame(f); pos[0].X != float32(f) {
			t.Errorf("frame %d of %d shows key %g", f, m.Frames, pos[0].X)
		}
	}
}

// What one clip of a file moves stands at rest in the others. A joint with a scale of 0 turns all the same.
func TestClipsApart(t *testing.T) {
	turns := track{node: 0, path: gltf.TRSRotation, times: []float32{0, 1}, values: turned(0, 90)}
	hides := track{node: 0, path: gltf.TRSScale, times: []float32{0, 1}, values: [][3]float32{{1, 1, 1}, {0, 0, 0}}}
	moves := track{node: 2, path: gltf.TRSTranslation, times: []float32{0, 1}, values: [][3]float32{{1, 0, 0}, {1, 5, 0}}}
	all := must.Get(ReadMotions("a.glb", encode(t, moving([]track{turns}, []track{moves}, []track{turns, hides}), true)))(t)
	if len(all) != 3 || all[0].Clip.Skel.Len() != 3 || all[0].Clip.Skel != all[1].Clip.Skel {
		t.Fatalf("%d clips", len(all))
	}
	end := func(m Motion) []m3.Xform {
		out := make([]m3.Xform, m.Clip.Skel.Len())
		m.Clip.Model(out, m.Clip.Frames-1)
		return out
	}
	quarter := m3.AxisAngle(m3.V(0, 0, 1), math.Pi/2)
	for i, want := range [][]m3.Vec3{{{}, m3.V(-1, 0, 0), m3.V(-1, 1, 0)}, {{}, m3.V(0, 1, 0), m3.V(1, 6, 0)}, {{}, {}, {}}} {
		for j, x := range end(all[i]) {
			if x.Pos.Dist(want[j]) > 1e-5 || i != 1 && x.Rot.Angle(quarter) > 1e-3 || i == 1 && x.Rot.Angle(m3.Ident) > 1e-3 {
				t.Errorf("clip %d, joint %d: %v, want it at %v", i, j, x, want[j])
			}
		}
	}
}

// A node with a matrix that an animation moves keeps what it does not move.
func TestMovingMatrix(t *testing.T) {
	d := moving([]track{{node: 1, path: gltf.TRSTranslation, times: []float32{0, 1}, values: [][3]float32{{0, 1, 0}, {0, 2, 0}}}, {node: 2, path: gltf.TRSRotation, times: []float32{0, 1}, values: turned(0, 0)}})
	d.Nodes[1].Translation = [3]float64{}
	d.Nodes[1].Matrix = [16]float64{0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1} // a quarter turn, twice as large, 1 up
	m := must.Get(ReadMotions("a.glb", encode(t, d, true)))(t)[0].Clip
	model := make([]m3.Xform, m.Skel.Len())
	m.Model(model, m.Frames-1)
	if b, c := model[0], model[1]; b.Pos.Dist(m3.V(0, 2, 0)) > 1e-5 || c.Pos.Dist(m3.V(0, 4, 0)) > 1e-5 || b.Rot.Angle(m3.AxisAngle(m3.V(0, 0, 1), math.Pi/2)) > 1e-3 {
		t.Errorf("%v and %v", b, c)
	}
}

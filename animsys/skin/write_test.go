package skin

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// A motion becomes an animation of the joints: in another program, the nodes move the same way.
func TestWriteMotion(t *testing.T) {
	sk := person(t)
	clip := skel.NewClip(sk, 30, 20)
	rng := rand.New(rand.NewPCG(3, 4))
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		pos[0] = m3.V(0.1*float32(f), 1, 0)
		for j := range rot {
			if !sk.EndSite[j] {
				rot[j] = m3.FromRotationVector(m3.V(rng.Float32(), rng.Float32(), rng.Float32()))
				if f%3 == 1 {
					rot[j] = rot[j].Neg() // the same rotation
				}
			}
		}
	}
	d := new(gltf.Document)
	must.Do(t, gltf.NewDecoder(bytes.NewReader(written(t, sk, grown(t, sk), clip))).Decode(d))
	const frame = 13
	a := d.Animations[0]
	for _, c := range a.Channels {
		times, err := modeler.ReadAccessor(d, d.Accessors[a.Samplers[c.Sampler].Input], nil)
		if err != nil || m3.Abs(times.([]float32)[frame]-frame/30.0) > 1e-6 || len(times.([]float32)) != clip.Frames {
			t.Fatalf("times %v, %v", times, err)
		}
		values := must.Get(modeler.ReadAccessor(d, d.Accessors[a.Samplers[c.Sampler].Output], nil))(t)
		n := d.Nodes[*c.Target.Node]
		switch v := values.(type) {
		case [][4]float32:
			for k := range 4 {
				n.Rotation[k] = float64(v[frame][k])
			}
			for f := 1; f < len(v); f++ {
				if v[f][0]*v[f-1][0]+v[f][1]*v[f-1][1]+v[f][2]*v[f-1][2]+v[f][3]*v[f-1][3] < 0 {
					t.Fatalf("%s goes the long way to frame %d", n.Name, f)
				}
			}
		case [][3]float32:
			for k := range 3 {
				n.Translation[k] = float64(v[frame][k])
			}
		}
	}
	f := &file{doc: *d}
	tree := must.Get(f.newTree())(t)
	want := make([]m3.Xform, sk.Len())
	clip.Model(want, frame)
	for i, n := range d.Nodes {
		j := sk.Index(n.Name)
		if j < 0 {
			continue
		}
		w := tree.world[i]
		if got := m3.V(float32(w[3]), float32(w[7]), float32(w[11])); got.Dist(want[j].Pos) > 1e-5 {
			t.Errorf("%s is at %v, want %v", n.Name, got, want[j].Pos)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	sk := person(t)
	b := grown(t, sk)
	nan := skel.NewClip(sk, 30, 1)
	nan.Pos[0].X = float32(math.NaN())
	for name, c := range map[string]struct {
		sk   *skel.Skeleton
		clip *skel.Clip
		want string
	}{
		"another skeleton": {dog(t), nil, "a body of 30 joints"},
		"another motion":   {sk, skel.NewClip(dog(t), 30, 1), "the motion is of another skeleton"},
		"no frames":        {sk, skel.NewClip(sk, 30, 0), "a motion of 0 frames"},
		"not finite":       {sk, nan, "joint Hips of frame 0 is not finite"},
	} {
		if err := Write(io.Discard, c.sk, b, [3]float32{}, c.clip); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A document in memory is read as the file with its contents, and a broken one is refused.
func TestFromDocument(t *testing.T) {
	sk := person(t)
	data := written(t, sk, grown(t, sk), nil)
	decoded := func() *gltf.Document {
		d := new(gltf.Document)
		must.Do(t, gltf.NewDecoder(bytes.NewReader(data)).Decode(d))
		return d
	}
	want := must.Get(readAlone("a.glb", data))(t)
	got := must.Get(FromDocument("a.glb", decoded(), "told"))(t)
	if !reflect.DeepEqual(got.mesh, want.mesh) || !reflect.DeepEqual(got.joints, want.joints) || len(got.Notes) != 1+len(want.Notes) || got.Notes[0] != "told" {
		t.Errorf("%d vertices of %v with notes %v, want %d of %v", got.Vertices(), got.Joints(), got.Notes, want.Vertices(), want.Joints())
	}
	for name, c := range map[string]struct {
		edit func(d *gltf.Document)
		want string
	}{
		"type":   {func(d *gltf.Document) { d.Accessors[0].Type = 99 }, "accessors[0]: has the unknown type"},
		"buffer": {func(d *gltf.Document) { d.Buffers[0].Data = d.Buffers[0].Data[:100] }, "bytes at byte"},
		"empty":  {func(d *gltf.Document) { d.Buffers[0].Data = nil }, "buffers[0]"},
		"nodes":  {func(d *gltf.Document) { d.Nodes = make([]*gltf.Node, MaxNodes+1) }, "at most 16384 are read"},
	} {
		d := decoded()
		c.edit(d)
		if _, err := FromDocument("a.glb", d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	must.Fail(FromDocument("a.glb", nil))(t, "there is no document")
}

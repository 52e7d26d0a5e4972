package skin

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// wave returns a motion of a person.
func wave(sk *skel.Skeleton, fps float64) *skel.Clip {
	c := skel.NewClip(sk, fps, 20)
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		pos[0] = m3.V(0.1*float32(f), 1, 0)
		rot[sk.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), 0.1*float32(f))
	}
	return c
}

// What Write writes is read with the same joints, offsets, frames and rotations.
func TestMotionsRoundTrip(t *testing.T) {
	sk := person(t)
	for _, fps := range []float64{30, 60, 24, 29.5} {
		want := wave(sk, fps)
		all := must.Get(ReadMotions("wave.glb", written(t, sk, grown(t, sk), want)))(t)
		if len(all) != 1 || all[0].Name != "motion" {
			t.Fatalf("%v", all)
		}
		got := all[0].Clip
		if got.Frames != want.Frames || got.FPS/fps > 1.001 || got.FPS/fps < 0.999 {
			t.Fatalf("%d frames at %g, want %d at %g", got.Frames, got.FPS, want.Frames, fps)
		}
		for j, name := range sk.Names {
			i := got.Skel.Index(name)
			if i < 0 || j > 0 && got.Skel.Names[got.Skel.Parents[i]] != sk.Names[sk.Parents[j]] {
				t.Fatalf("%s is missing, or has another parent", name)
			}
			if j > 0 && got.Skel.Offsets[i].Dist(sk.Offsets[j]) > 1e-5 {
				t.Errorf("%s is at %v, want %v", name, got.Skel.Offsets[i], sk.Offsets[j])
			}
			for f := range want.Frames {
				p, q := got.Frame(f)
				wp, wq := want.Frame(f)
				if a := q[i].Angle(wq[j]); a > 1e-3 || p[i].Dist(wp[j]) > 1e-4 {
					t.Fatalf("frame %d, %s: %v at %v, want %v at %v", f, name, q[i], p[i], wq[j], wp[j])
				}
			}
		}
	}
}

// A group between two joints that is called as the lower one leaves it its name.
func TestMotionsGroups(t *testing.T) {
	sk := person(t)
	data := edited(t, written(t, sk, grown(t, sk), wave(sk, 30)), func(d *gltf.Document) {
		for _, joint := range []string{"LeftUpLeg", "RightArm", "Hips"} {
			k := slices.IndexFunc(d.Nodes, func(n *gltf.Node) bool { return n.Name == joint })
			for _, n := range d.Nodes {
				if i := slices.Index(n.Children, k); i >= 0 {
					n.Children[i] = len(d.Nodes)
				}
			}
			d.Nodes = append(d.Nodes, &gltf.Node{Name: joint, Children: []int{k}})
		}
	})
	all := must.Get(ReadMotions("wave.glb", data))(t)
	want, got := wave(sk, 30), all[0].Clip
	for j, name := range sk.Names {
		k := got.Skel.Index(name)
		if k < 0 || want.Rot[9*sk.Len()+j].Angle(got.Rot[9*got.Skel.Len()+k]) > 1e-3 {
			t.Errorf("%s is joint %d of %v", name, k, got.Skel.Names)
		}
	}
	s := must.Get(Read("wave.glb", data))(t)
	if by := s.Frame(&all[0], 9); by == nil || by[slices.Index(s.Joints(), "RightForeArm")].Pos.Len() < 0.01 {
		t.Error("the character does not move")
	}
}

// Files of Blender and of other tools are read, with scaled armatures and keys that step.
func TestMotionsOfOthers(t *testing.T) {
	for file, c := range map[string]struct {
		motions, joints int
		low, high       float32 // of the highest joint in a motion, m; one falls from the sky
	}{
		"kaykit/Med_General.glb":                    {15, 23, 0.5, 15},
		"mesh2motion/animations/fox-animations.glb": {10, 49, 0.2, 5},
	} {
		path := filepath.Join(mocapdata.Dir(t), filepath.FromSlash(file))
		all := must.Get(OpenMotions(path))(t)
		if len(all) < c.motions || all[0].Clip.Skel.Len() < c.joints {
			t.Errorf("%s: %d motions of %d joints", file, len(all), all[0].Clip.Skel.Len())
		}
		for _, m := range all {
			model, top := make([]m3.Xform, m.Clip.Skel.Len()), float32(0)
			for f := range m.Clip.Frames {
				m.Clip.Model(model, f)
				for _, x := range model {
					top = max(top, x.Pos.Y)
				}
			}
			if top < c.low || top > c.high {
				t.Errorf("%s, %s: the highest joint is at %g m", file, m.Name, top)
			}
		}
	}
}

func TestMotionsRefused(t *testing.T) {
	sk := person(t)
	for want, change := range map[string]func(d *gltf.Document){
		"animations: there are none":         func(d *gltf.Document) { d.Animations = nil },
		"animations[0]: is null":             func(d *gltf.Document) { d.Animations[0] = nil },
		"animations[0].channels[1]: is null": func(d *gltf.Document) { d.Animations[0].Channels[1] = nil },
		"there is no samplers[99]":           func(d *gltf.Document) { d.Animations[0].Channels[0].Sampler = 99 },
		"there is no nodes[-1]":              func(d *gltf.Document) { d.Animations[0].Channels[0].Target.Node = gltf.Index(-1) },
		"values for 20 keys":                 func(d *gltf.Document) { d.Accessors[d.Animations[0].Samplers[0].Output].Count = 3 },
		"there are only":                     func(d *gltf.Document) { d.Animations[0].Samplers[0].Input = 999 },
	} {
		d := new(gltf.Document)
		must.Do(t, gltf.NewDecoder(strings.NewReader(string(written(t, sk, grown(t, sk), wave(sk, 30))))).Decode(d))
		change(d)
		_, err := ReadMotions("wave.glb", encode(t, d, true))
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Motions that are read are finite, of valid skeletons and of bounded size.
func FuzzReadMotions(f *testing.F) {
	sk := &skel.Skeleton{Names: []string{"Hips", "Head"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, m3.V(0, 1, 0)}, EndSite: make([]bool, 2)}
	d := &writer{Document: gltf.NewDocument(), sk: sk}
	d.Nodes = []*gltf.Node{{Name: "Hips", Children: []int{1}}, {Name: "Head", Translation: [3]float64{0, 1, 0}}}
	d.Scenes[0].Nodes = []int{0}
	must.Do(f, d.animation(skel.NewClip(sk, 30, 4)))
	f.Add(encode(f, d.Document, true))
	f.Add(encode(f, d.Document, false))
	third := []float32{0, 1}
	for _, m := range []*gltf.Document{
		moving([]track{{node: 1, path: gltf.TRSRotation, times: third, values: [][4]float32{{}, {0, 0, 0, 1}, {}, {}, {0, 0, 1, 1}, {}}, kind: gltf.InterpolationCubicSpline}}),
		moving([]track{{node: 0, path: gltf.TRSScale, times: third, values: [][3]float32{{1, 1, 1}, {0, 0, 0}}}}, []track{{node: 1, path: gltf.TRSRotation, times: third, values: [][4]int16{{0, 0, 0, 32767}, {0, 0, 23170, 23170}}, whole: true}}),
	} {
		m.Extensions = gltf.Extensions{vrmAnim: map[string]any{"humanoid": map[string]any{"humanBones": map[string]any{"hips": map[string]any{"node": 0}, "head": map[string]any{"node": 1}}}, "lookAt": map[string]any{}}}
		f.Add(encode(f, m, false))
		must.Get(ReadMotions("seed", encode(f, m, false)))(f)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		all, err := ReadMotions("fuzz", data)
		if err != nil {
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, m := range all {
			must.Do(t, m.Clip.Skel.Validate())
			must.Do(t, m.AtRest().Skel.Validate())
			if len(m.Clip.Rot) > MaxTransforms {
				t.Fatal("too many transforms")
			}
			for k, q := range m.Clip.Rot {
				if !q.Finite() || !m.Clip.Pos[k].Finite() {
					t.Fatalf("transform %d is not finite", k)
				}
			}
		}
	})
}

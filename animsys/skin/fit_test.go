package skin

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"

	"mannequin/animsys/skel"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// fitted reads a GLB as a character for a skeleton, with legs as long as the skeleton's.
func fitted(t *testing.T, data []byte, sk *skel.Skeleton, as map[string]string) (*body.Body, *Report) {
	t.Helper()
	c := must.Get(must.Get(readAlone("made.glb", data))(t).Character(sk, CharacterOptions{Map: as, Size: 1}))(t)
	return c.Body, c.Report
}

// apart returns the largest distances between two bodies' vertices, joints and rotations, in m and
// rad.
func apart(a, b *body.Body) (pos, place, angle float32) {
	for i, p := range a.Levels[0].Pos {
		pos = max(pos, p.Dist(b.Levels[0].Pos[i]))
	}
	for j, x := range a.Bind {
		place, angle = max(place, x.Pos.Dist(b.Bind[j].Pos)), max(angle, x.Rot.Angle(b.Bind[j].Rot))
	}
	return pos, place, angle
}

// What we write and read again is the same body: mesh and weights.
func TestRoundTrip(t *testing.T) {
	for name, sk := range map[string]*skel.Skeleton{"person": person(t), "dog": dog(t)} {
		want := grown(t, sk)
		c := must.Get(must.Get(readAlone("made.glb", written(t, sk, want, nil)))(t).Character(sk, CharacterOptions{}))(t)
		got, r := c.Body, c.Report
		if len(r.Pairs) != sk.Len() || len(r.Following) > 0 || r.Turned || m3.Abs(r.Scale-1) > 1e-5 {
			t.Errorf("%s: %v", name, r)
		}
		m, w := &got.Levels[0], &want.Levels[0]
		up := m3.V(0, lowest(m.Pos)-lowest(w.Pos), 0) // its soles are on the ground
		for v, p := range w.Pos {
			if d := p.Add(up).Dist(m.Pos[v]); d > 2e-6 {
				t.Fatalf("%s: vertex %d is off by %g m", name, v, d)
			}
			for i, k := range w.Joints[v] {
				if w.Weights[v][i] > 0 && c.Bones.Skel.Names[m.Joints[v][i]] != sk.Names[k] {
					t.Fatalf("%s: vertex %d follows %s, want %s", name, v, c.Bones.Skel.Names[m.Joints[v][i]], sk.Names[k])
				}
			}
		}
		if !slices.Equal(m.Index, w.Index) || !slices.Equal(m.Weights, w.Weights) {
			t.Errorf("%s: other triangles or weights", name)
		}
		for i, n := range w.Normal {
			if m.Normal[i].Dist(n) > 1e-5 {
				t.Fatalf("%s: normal %d is %v, want %v", name, i, m.Normal[i], n)
			}
		}
		if c := want.Cover.Colour(w.Coat[0], [3]float32{0.1, 0.2, 0.4}); got.Cover != body.Paint || [3]float32(m.Coat[0][:3]) != c {
			t.Errorf("%s: vertex 0 has the colour %v, want %v", name, m.Coat[0], c)
		}
		if len(got.Levels) != 3 || got.Levels[1].Triangles() > 2000 || got.Levels[2].Triangles() > 700 {
			t.Errorf("%s: %d levels of detail", name, len(got.Levels))
		}
	}
}

// The file's unit and its up and forward axes change nothing.
func TestFitTurned(t *testing.T) {
	sk := person(t)
	data := written(t, sk, grown(t, sk), nil)
	want, _ := fitted(t, data, sk, nil)
	h := math.Sqrt(0.5)
	for name, c := range map[string]struct {
		edit   func(n *gltf.Node)
		turned bool
	}{
		"centimetres":      {func(n *gltf.Node) { n.Scale = [3]float64{100, 100, 100} }, false},
		"Z up":             {func(n *gltf.Node) { n.Rotation = [4]float64{h, 0, 0, h} }, true},
		"facing −Z":        {func(n *gltf.Node) { n.Rotation = [4]float64{0, 1, 0, 0} }, true},
		"Z up, inches":     {func(n *gltf.Node) { n.Scale, n.Rotation = [3]float64{39.37, 39.37, 39.37}, [4]float64{h, 0, 0, h} }, true},
		"somewhere higher": {func(n *gltf.Node) { n.Translation = [3]float64{0, 3, 0} }, false},
		"a matrix, Z down": {func(n *gltf.Node) { n.Matrix = [16]float64{2, 0, 0, 0, 0, 0, -2, 0, 0, 2, 0, 0, 0, 0, 0, 1} }, true},
	} {
		got, r := fitted(t, edited(t, data, func(d *gltf.Document) { c.edit(root(d)) }), sk, nil)
		if pos, place, angle := apart(got, want); pos > 2e-5 || place > 2e-5 || angle > 1e-3 || r.Turned != c.turned {
			t.Errorf("%s: vertices are off by %g m, joints by %g m and %g rad; turned %v", name, pos, place, angle, r.Turned)
		}
		for i, n := range want.Levels[0].Normal {
			if d := got.Levels[0].Normal[i].Dist(n); d > 1e-3 {
				t.Fatalf("%s: normal %d is off by %g", name, i, d)
			}
		}
	}
}

// Another person, of other proportions, under Mixamo's names.
func TestFitMixamo(t *testing.T) {
	sk, other := person(t), mixamo(t)
	b := grown(t, other)
	name := func(n string) string { return "mixamorig:" + n }
	_, r := fitted(t, written(t, renamed(other, name), posed(b, tPose(t, other)), nil), sk, nil)
	for _, want := range []Pair{{"Hips", "Hips"}, {"Spine1", "Spine2"}, {"Neck1", "Neck"}, {"Head", "Head"}, {"LeftShoulder", "LeftShoulder"},
		{"LeftHand", "LeftHand"}, {"RightToeBase", "RightToeBase"}} {
		want.Source = name(want.Source)
		if !slices.Contains(r.Pairs, want) {
			t.Errorf("%s is not played by %s: %v", want.Joint, want.Source, r)
		}
	}
	if !slices.Contains(r.Following, "mixamorig:LeftHandThumb1") {
		t.Errorf("unmatched joints: %v", r.Following)
	}
}

// A dog with another tool's names and joint orientations.
func TestFitDog(t *testing.T) {
	sk := dog(t)
	names := strings.NewReplacer("Hips", "pelvis", "Spine1", "spine_02", "Spine", "spine_01", "Neck", "neck", "Head", "head", "Left", "l_", "Right", "r_",
		"Shoulder", "scapula", "ForeArm", "forearm", "Arm", "upperarm", "Hand", "hand", "UpLeg", "thigh", "Leg", "calf", "Foot", "foot", "Tail1", "tail_02", "Tail", "tail_01", "Site", "_toe")
	_, r := fitted(t, written(t, renamed(sk, names.Replace), grown(t, sk), nil), sk, nil)
	for _, j := range []string{"Hips", "Neck", "Head", "LeftShoulder", "LeftArm", "RightForeArm", "LeftHand", "RightUpLeg", "LeftLeg", "LeftFoot", "Tail", "Tail1"} {
		if !slices.Contains(r.Pairs, Pair{j, names.Replace(j)}) {
			t.Errorf("%s is not played by %s: %v", j, names.Replace(j), r)
		}
	}
}

// A map says what names do not; without it the error lists both sides.
func TestFitMap(t *testing.T) {
	sk := person(t)
	data := written(t, renamed(sk, func(n string) string {
		if n == "Head" {
			return "Kopf"
		}
		return n
	}), grown(t, sk), nil)
	s := must.Get(readAlone("kopf.glb", data))(t)
	for name, c := range map[string]struct {
		as   map[string]string
		want string
	}{
		"missing":       {map[string]string{"Head": ""}, "kopf.glb: no joint was found for Head; the file has Hips, "},
		"ours unknown":  {map[string]string{"Skull": "Kopf"}, `the map names "Skull", a joint that the skeleton does not have: it has Hips, LowerBack`},
		"twice":         {map[string]string{"Neck1": "Kopf", "Head": "Kopf"}, `the map gives both Head and Neck1 the joint "Kopf"`},
		"their unknown": {map[string]string{"Head": "Haupt"}, `the map gives Head the joint "Haupt", which the file does not have`},
	} {
		if _, err := s.Character(sk, CharacterOptions{Map: c.as}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, r := fitted(t, data, sk, map[string]string{"Head": "Kopf"}); !slices.Contains(r.Pairs, Pair{"Head", "Kopf"}) {
		t.Error(r)
	}
}

// A skeleton of something else is refused before anything is grown for it.
func TestFitOther(t *testing.T) {
	s := must.Get(readAlone("p.glb", written(t, person(t), grown(t, person(t)), nil)))(t)
	if _, err := s.Character(skeleton(t, "base - 0 0 0\nlamp base 0 1 0"), CharacterOptions{}); err == nil || !strings.Contains(err.Error(), "want a person's or a dog's") {
		t.Error(err)
	}
	for sk, want := range map[*skel.Skeleton]bool{person(t): true, mixamo(t): true, dog(t): false} {
		s := must.Get(readAlone("p.glb", written(t, sk, grown(t, sk), nil)))(t)
		if got, err := s.Upright(); got != want || err != nil {
			t.Errorf("%v: upright %v, %v", sk.Names[:3], got, err)
		}
	}
}

// Joints anywhere: an error, or a body of finite numbers.
func TestFitWild(t *testing.T) {
	sk := person(t)
	s := must.Get(readAlone("p.glb", written(t, sk, grown(t, sk), nil)))(t)
	kept := slices.Clone(s.joints)
	rng := rand.New(rand.NewPCG(1, 2))
	fits := 0
	for range 30 {
		copy(s.joints, kept)
		for i := range s.joints {
			switch v := func() float32 { return rng.Float32() - 0.5 }; rng.IntN(8) {
			case 0:
				s.joints[i].pos = m3.V(v(), v(), v()).Scale(m3.Exp(30 * v()))
			case 1:
				s.joints[i].pos = m3.Vec3{}
			case 2:
				s.joints[i].pos = s.joints[max(s.joints[i].parent, 0)].pos
			}
		}
		c, err := s.Character(sk, CharacterOptions{})
		if err != nil {
			continue
		}
		fits++
		b, pose := c.Body, make([]m3.Xform, c.Bones.Len())
		c.Bones.Pose(pose, grown(t, sk).Bind, [2]float32{1, 1}, nil, nil)
		for j, x := range pose {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				t.Fatalf("joint %d comes to %v", j, x)
			}
		}
		for i, p := range b.Levels[0].Pos {
			if !p.Finite() || !b.Levels[0].Normal[i].Finite() {
				t.Fatalf("vertex %d is at %v", i, p)
			}
		}
		for j, x := range b.Bind {
			if !x.Pos.Finite() || !x.Rot.Finite() {
				t.Fatalf("joint %d is at %v", j, x)
			}
		}
	}
	if fits == 0 {
		t.Error("nothing fits: the trials are too wild")
	}
}

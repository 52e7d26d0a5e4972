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

// fitted reads a GLB and puts it on a skeleton.
func fitted(t *testing.T, data []byte, sk *skel.Skeleton, as map[string]string) (*body.Body, *Report) {
	t.Helper()
	s := must.Get(readAlone("made.glb", data))(t)
	from := must.Get(s.match(sk, as))(t)
	b, r := must.Get2(s.fit(sk, grown(t, sk), from))(t)
	return b, r
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

// What we write and read again is the same body: mesh, pose and weights.
func TestRoundTrip(t *testing.T) {
	for name, sk := range map[string]*skel.Skeleton{"person": person(t), "dog": dog(t)} {
		want := grown(t, sk)
		got, r := fitted(t, written(t, sk, want, nil), sk, nil)
		if len(r.Pairs) != sk.Len() || len(r.Following)+len(r.Stretched) > 0 || r.Turned || m3.Abs(r.Scale-1) > 1e-5 {
			t.Errorf("%s: %v", name, r)
		}
		if pos, place, angle := apart(got, want); pos > 2e-6 || place > 2e-6 || angle > 1e-5 {
			t.Errorf("%s: vertices are off by %g m, joints by %g m and %g rad", name, pos, place, angle)
		}
		m, w := &got.Levels[0], &want.Levels[0]
		if !slices.Equal(m.Index, w.Index) || !slices.Equal(m.Joints, w.Joints) || !slices.Equal(m.Weights, w.Weights) {
			t.Errorf("%s: other triangles, joints or weights", name)
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
	want := grown(t, sk)
	data := written(t, sk, want, nil)
	h := math.Sqrt(0.5)
	for name, c := range map[string]struct {
		edit   func(n *gltf.Node)
		turned bool
	}{
		"centimetres":      {func(n *gltf.Node) { n.Scale = [3]float64{100, 100, 100} }, false},
		"Z up":             {func(n *gltf.Node) { n.Rotation = [4]float64{h, 0, 0, h} }, true},
		"facing −Z":        {func(n *gltf.Node) { n.Rotation = [4]float64{0, 1, 0, 0} }, true},
		"Z up, inches":     {func(n *gltf.Node) { n.Scale, n.Rotation = [3]float64{39.37, 39.37, 39.37}, [4]float64{h, 0, 0, h} }, true},
		"somewhere else":   {func(n *gltf.Node) { n.Translation = [3]float64{5, -3, 8} }, false},
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

// A mesh that stands in a T-pose comes to the same body; in our pose it is what skinning
// itself leaves of it on the way to the T-pose and back.
func TestFitPose(t *testing.T) {
	sk := person(t)
	grown := grown(t, sk)
	want := posed(grown, tPose(t, sk))
	got, _ := fitted(t, written(t, sk, want, nil), sk, nil)
	if pos, place, angle := apart(got, want); pos > 0.002 || place > 0.002 || angle > 0.02 {
		t.Errorf("vertices are off by %g m, joints by %g m and %g rad", pos, place, angle)
	}
	if pos, _, _ := apart(posed(got, grown.Bind), posed(want, grown.Bind)); pos > 0.004 {
		t.Errorf("in our pose vertices are off by %g m", pos)
	}
}

// Another person, of other proportions, under Mixamo's names.
func TestFitMixamo(t *testing.T) {
	sk, other := person(t), mixamo(t)
	b := grown(t, other)
	name := func(n string) string { return "mixamorig:" + n }
	got, r := fitted(t, written(t, renamed(other, name), posed(b, tPose(t, other)), nil), sk, nil)
	for _, want := range []Pair{{"Hips", "Hips"}, {"Spine1", "Spine2"}, {"Neck1", "Neck"}, {"Head", "Head"}, {"LeftShoulder", "LeftShoulder"},
		{"LeftHand", "LeftHand"}, {"RightToeBase", "RightToeBase"}} {
		want.Source = name(want.Source)
		if !slices.Contains(r.Pairs, want) {
			t.Errorf("%s is not played by %s: %v", want.Joint, want.Source, r)
		}
	}
	// Its hands are longer than ours, and stay so.
	if !slices.Contains(r.Following, "mixamorig:LeftHandThumb1") || !slices.Contains(r.Following, "mixamorig:LeftHandIndex1") {
		t.Errorf("unmatched joints: %v", r.Following)
	}
	// In our standing pose every bone of a limb runs inside the mesh that it moves.
	m := &posed(got, grown(t, sk).Bind).Levels[0]
	for _, bone := range [][2]string{{"UpLeg", "Leg"}, {"Leg", "Foot"}, {"Arm", "ForeArm"}, {"ForeArm", "Hand"}} {
		for _, side := range []string{"Left", "Right"} {
			j, k := sk.Index(side+bone[0]), sk.Index(side+bone[1])
			p, q := grown(t, sk).Bind[j].Pos, grown(t, sk).Bind[k].Pos
			var centre m3.Vec3
			n := float32(0)
			for v, w := range m.Weights {
				if int(m.Joints[v][0]) == j && w[0] > 0.9 {
					centre, n = centre.Add(m.Pos[v]), n+1
				}
			}
			centre = centre.Scale(1 / n)
			along := q.Sub(p)
			share := centre.Sub(p).Dot(along) / along.Dot(along)
			if off := centre.Dist(p.Lerp(q, share)); off > 0.025 || share < 0.3 || share > 0.7 {
				t.Errorf("%s%s: the middle of what it moves is %g m beside the bone, at %g of it", side, bone[0], off, share)
			}
		}
	}
	// What was flat on the ground still is.
	worn := posed(b, tPose(t, other)).Levels[0].Pos
	floor, ground, soles, worst := lowest(worn), lowest(m.Pos), 0, float32(0)
	for v, p := range worn {
		if p.Y < floor+0.006 {
			soles, worst = soles+1, max(worst, m.Pos[v].Y-ground)
		}
	}
	if soles < 20 || worst > 0.012 || m3.Abs(ground-lowest(grown(t, sk).Levels[0].Pos)) > 0.008 {
		t.Errorf("of %d vertices on the ground one is %g m above it, and the ground is at %g", soles, worst, ground)
	}
}

// A dog with another tool's names and joint orientations.
func TestFitDog(t *testing.T) {
	sk := dog(t)
	want := grown(t, sk)
	names := strings.NewReplacer("Hips", "pelvis", "Spine1", "spine_02", "Spine", "spine_01", "Neck", "neck", "Head", "head", "Left", "l_", "Right", "r_",
		"Shoulder", "scapula", "ForeArm", "forearm", "Arm", "upperarm", "Hand", "hand", "UpLeg", "thigh", "Leg", "calf", "Foot", "foot", "Tail1", "tail_02", "Tail", "tail_01", "Site", "_toe")
	got, r := fitted(t, written(t, renamed(sk, names.Replace), want, nil), sk, nil)
	for _, j := range []string{"Hips", "Neck", "Head", "LeftShoulder", "LeftArm", "RightForeArm", "LeftHand", "RightUpLeg", "LeftLeg", "LeftFoot", "Tail", "Tail1"} {
		if !slices.Contains(r.Pairs, Pair{j, names.Replace(j)}) {
			t.Errorf("%s is not played by %s: %v", j, names.Replace(j), r)
		}
	}
	if pos, _, angle := apart(got, want); pos > 0.05 || angle > 0.2 {
		t.Errorf("vertices are off by %g m, joints by %g rad", pos, angle)
	}
}

// A dog that holds its neck high has its head as level as ours.
func TestFitNeck(t *testing.T) {
	sk := dog(t)
	ours := grown(t, sk)
	bones := slices.Clone(ours.Bind)
	neck, head := sk.Index("Neck"), sk.Index("Head")
	bones[neck].Rot = m3.AxisAngle(m3.V(1, 0, 0), -0.5).Mul(bones[neck].Rot)
	for j := neck + 1; j < sk.Len() && int(sk.Parents[j]) >= neck; j++ {
		bones[j].Pos = bones[sk.Parents[j]].Apply(sk.Offsets[j])
	}
	want := posed(ours, bones)
	got, _ := fitted(t, written(t, sk, want, nil), sk, nil)
	if a := got.Bind[neck].Rot.Angle(bones[neck].Rot); a > 0.01 {
		t.Errorf("the neck is off by %g rad", a)
	}
	if a := got.Bind[head].Rot.Angle(bones[head].Rot); a > 0.01 {
		t.Errorf("the head is off by %g rad", a)
	}
	if pos, _, _ := apart(got, want); pos > 0.005 {
		t.Errorf("vertices are off by %g m", pos)
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
		if _, _, err := s.Fit(sk, c.as); err == nil || !strings.Contains(err.Error(), c.want) {
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
	if _, _, err := s.Fit(skeleton(t, "base - 0 0 0\nlamp base 0 1 0"), nil); err == nil || !strings.Contains(err.Error(), "want a person's or a dog's") {
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
	from := must.Get(s.match(sk, nil))(t)
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
		b, _, err := s.fit(sk, grown(t, sk), slices.Clone(from))
		if err != nil {
			continue
		}
		fits++
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

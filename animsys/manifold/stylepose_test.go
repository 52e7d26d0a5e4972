package manifold

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// changed returns the root mean square distance of the joints of two motions, m.
func changed(l *feature.Motion, a, b []float32) float64 {
	sum, n := 0.0, 0
	for f := 0; f < len(a); f += l.Columns() {
		for c := range l.Body() {
			d := float64(a[f+c] - b[f+c])
			sum += d * d
		}
		n += len(l.Joints)
	}
	return math.Sqrt(sum / float64(n))
}

// poseStyles returns the shipped styles with their maps of poses, their model, and a walk of the shipped networks
// with the same walk in each style as crowds on curves show it.
func poseStyles(t testing.TB) (m *Model, styles []*StyleTransfer, walk []float32) {
	t.Helper()
	base, footsteps, locomotion := shipped(t)
	m = must.Get(NewModel(base))(t)
	set := must.Get(OpenStyleSet("../../models/styles-gram/styles-gram.safetensors"))(t)
	return m, must.Get(set.For(m))(t), m.round(t, footsteps, locomotion, 7, 1.3, 240)
}

// Single poses get nearly the change that a style makes of the whole motion.
func TestPoseStyler(t *testing.T) {
	m, styles, walk := poseStyles(t)
	l, cols := m.Layout, m.Layout.Columns()
	p := must.Get(NewPoseStyler(styles, m.Skel, 0))(t)
	for i, s := range styles {
		want := must.Get(m.Restyle(walk, WeightedStyle{s, 1}, 0, 2))(t)
		clip := must.Get(m.Clip(walk, Rate, feature.Place{}))(t)
		for f := range clip.Frames {
			pos, rot := clip.Frame(f)
			p.Run(pos, rot, i, 1)
		}
		got := m.rowsOf(clip, walk)
		ends := 24 * cols // windows end there
		size := changed(l, want[ends:len(want)-ends], walk[ends:len(want)-ends])
		rest := changed(l, got[ends:len(want)-ends], want[ends:len(want)-ends])
		t.Logf("%s: moves joints by %.1f cm, single poses are %.1f cm off that", s.Name, 100*size, 100*rest)
		if rest > 0.4*size+0.01 {
			t.Errorf("%s: moves joints by %.1f cm, single poses are %.1f cm off that", s.Name, 100*size, 100*rest)
		}
	}
}

// rowsOf returns the joints of a clip's frames as rows, in the frames of the body of other rows.
func (m *Model) rowsOf(clip *skel.Clip, of []float32) []float32 {
	l, rows := m.Layout, slices.Clone(of)
	course, model := m.Trajectory(of, feature.Place{}), make([]m3.Xform, m.Skel.Len())
	for f := range clip.Frames {
		clip.Model(model, f)
		into := m3.YawQuat(-course[f].Yaw)
		for j, name := range l.Joints {
			put(rows[f*l.Columns():], l.Pos(j), into.Rotate(model[m.Skel.Index(name)].Pos.Sub(course[f].Pos)))
		}
	}
	return rows
}

// The style does not depend on where a pose is and faces, and a skeleton of half the size changes by half as much. A person
// who lies, a pose that is not finite, and an index of no style keep the pose.
func TestPoseStylerPlaces(t *testing.T) {
	m, styles, walk := poseStyles(t)
	p := must.Get(NewPoseStyler(styles, m.Skel, 0))(t)
	clip := must.Get(m.Clip(walk, Rate, feature.Place{}))(t)
	n := m.Skel.Len()
	small := *m.Skel
	small.Offsets = slices.Clone(m.Skel.Offsets)
	for j := range small.Offsets {
		small.Offsets[j] = small.Offsets[j].Scale(0.5)
	}
	half := must.Get(NewPoseStyler(styles, &small, 0))(t)
	model, other := make([]m3.Xform, n), make([]m3.Xform, n)
	for f := 30; f < 200; f += 40 {
		from, turns := clip.Frame(f)
		pos, rot := slices.Clone(from), slices.Clone(turns)
		p.Run(pos, rot, 0, 1)
		m.Skel.LocalToModel(model, pos, rot)
		if model[0].Pos.Dist(from[0]) > 0.3 || slices.Equal(rot, turns) {
			t.Errorf("frame %d: the style moves the hips by %g m", f, model[0].Pos.Dist(from[0]))
		}

		turn, by := m3.YawQuat(2), m3.V(4, 0, -3)
		pos, rot = slices.Clone(from), slices.Clone(turns)
		pos[0], rot[0] = turn.Rotate(pos[0]).Add(by), turn.Mul(rot[0])
		p.Run(pos, rot, 0, 1)
		m.Skel.LocalToModel(other, pos, rot)
		for j := range model {
			if d := turn.Rotate(model[j].Pos).Add(by).Dist(other[j].Pos); d > 2e-3 {
				t.Errorf("frame %d, turned and moved: joint %d is %g m off", f, j, d)
			}
		}

		pos, rot = slices.Clone(from), slices.Clone(turns)
		for j := range pos {
			pos[j] = pos[j].Scale(0.5)
		}
		half.Run(pos, rot, 0, 1)
		small.LocalToModel(other, pos, rot)
		for j := range model {
			if d := model[j].Pos.Scale(0.5).Dist(other[j].Pos); d > 2e-3 {
				t.Errorf("frame %d, half the size: joint %d is %g m off", f, j, d)
			}
		}

		keeps := func(what string, style int, weight float32, spoil func(pos []m3.Vec3, rot []m3.Quat)) {
			pos, rot := slices.Clone(from), slices.Clone(turns)
			spoil(pos, rot)
			was, were := slices.Clone(pos), slices.Clone(rot)
			p.Run(pos, rot, style, weight)
			for j := range pos { // NaN too
				if math.Float32bits(pos[j].Y) != math.Float32bits(was[j].Y) || math.Float32bits(rot[j].W) != math.Float32bits(were[j].W) {
					t.Fatalf("%s: joint %d has moved", what, j)
				}
			}
		}
		none := func([]m3.Vec3, []m3.Quat) {}
		keeps("lies", 0, 1, func(_ []m3.Vec3, rot []m3.Quat) { rot[0] = m3.AxisAngle(m3.V(1, 0, 0), -math.Pi/2) })
		keeps("not finite", 0, 1, func(pos []m3.Vec3, _ []m3.Quat) { pos[0].Y = float32(math.NaN()) })
		keeps("not finite", 0, 1, func(_ []m3.Vec3, rot []m3.Quat) { rot[3].X = float32(math.Inf(1)) })
		keeps("no weight", 0, 0, none)
		keeps("a weight that is none", 0, float32(math.NaN()), none)
		keeps("no style", 99, 1, none)
		keeps("no style", -1, 1, none)
	}
}

// Maps of poses survive their file, without the network; damaged ones and none are errors.
func TestPoseStylesFile(t *testing.T) {
	m, styles, walk := poseStyles(t)
	set := must.Get(m.NewStyleSet(styles[:2]))(t)
	file := encodeStyles(t, set)
	again := must.Get(DecodeStyleSet(file))(t)
	for i, s := range must.Get(again.ForPoses())(t) {
		if s.Name != styles[i].Name || !slices.Equal(s.poses, styles[i].poses) {
			t.Errorf("style %q comes back as %q, or with another map", styles[i].Name, s.Name)
		}
	}
	if !bytes.Equal(encodeStyles(t, again), file) {
		t.Error("written again the file differs")
	}
	plain := []*StyleTransfer{{Name: "curves", model: m, delta: styles[0].delta}}
	if _, err := must.Get(m.NewStyleSet(plain))(t).ForPoses(); !errors.Is(err, ErrNoPoses) {
		t.Errorf("without maps: %v", err)
	}
	if _, err := NewPoseStyler(plain, m.Skel, 0); !errors.Is(err, ErrNoPoses) {
		t.Errorf("a styler without maps: %v", err)
	}
	damaged := bytes.Replace(file, []byte("poses "+styles[0].Name), []byte("poses X"+styles[0].Name[1:]), 1)
	if _, err := DecodeStyleSet(damaged); err == nil {
		t.Error("a map of no style is read")
	}
	dog := &skel.Skeleton{Names: []string{"Hips"}, Parents: []int16{-1}, Offsets: make([]m3.Vec3, 1), EndSite: make([]bool, 1)}
	if _, err := NewPoseStyler(styles, dog, 0); err == nil || !strings.Contains(err.Error(), "joint") {
		t.Errorf("a skeleton without the joints: %v", err)
	}
	if err := m.FitPoses(plain, nil, 1); err == nil {
		t.Error("maps are fitted to nothing")
	}
	if err := m.FitPoses(plain, [][]float32{walk}, 2); err != nil || plain[0].poses == nil {
		t.Errorf("fitted to a walk: %v", err)
	}
}

func BenchmarkPoseStyler(b *testing.B) {
	m, styles, walk := poseStyles(b)
	p := must.Get(NewPoseStyler(styles, m.Skel, 0))(b)
	clip := must.Get(m.Clip(walk, Rate, feature.Place{}))(b)
	pos, rot := slices.Clone(clip.Pos), slices.Clone(clip.Rot)
	n := m.Skel.Len()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := i % clip.Frames * n
		copy(pos[f:f+n], clip.Pos[f:])
		copy(rot[f:f+n], clip.Rot[f:])
		p.Run(pos[f:f+n], rot[f:f+n], i%len(styles), 1)
	}
}

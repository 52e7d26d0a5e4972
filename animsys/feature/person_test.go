package feature_test

import (
	"math"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// biped returns a layout of five joints on a skeleton that stands up.
func biped() (*feature.Motion, *skel.Skeleton) {
	l := &feature.Motion{
		Joints:   []string{"Hips", "LeftLeg", "RightLeg", "LeftArm", "RightArm"},
		Left:     []string{"LeftLeg", "LeftArm"},
		Contacts: []feature.Contact{{Joint: "LeftLeg", Height: 0.1, Speed: 1}, {Joint: "RightLeg", Height: 0.1, Speed: 1}},
	}
	return l, &skel.Skeleton{Names: l.Joints, Parents: []int16{-1, 0, 0, 0, 0}, EndSite: make([]bool, 5),
		Offsets: []m3.Vec3{{}, m3.V(0.1, -0.9, 0), m3.V(-0.1, -0.9, 0), m3.V(0.3, 0.4, 0), m3.V(-0.3, 0.4, 0)}}
}

// A clip of frames has its joints where the frames say, seen from where it starts.
func TestPersonClip(t *testing.T) {
	l, sk := biped()
	p := must.Get(feature.NewPerson(l, sk))(t)
	const frames = 4
	cols := l.Columns()
	rows := make([]float32, frames*cols)
	for f := range frames {
		for j, o := range sk.Offsets {
			v := o.Add(m3.V(0, 0.9, 0))
			copy(rows[f*cols+l.Pos(j):], []float32{v.X, v.Y, v.Z})
		}
		rows[f*cols+l.Body()+feature.MotionZ] = 0.6
	}
	start := feature.Place{Pos: m3.V(1, 0, 2), Yaw: math.Pi / 2}
	clip := must.Get(p.Clip(rows, 60, start))(t)
	model := make([]m3.Xform, sk.Len())
	for f := range frames {
		clip.Model(model, f)
		// It faces +X and goes there, a centimetre a frame; its left is −Z.
		for j, o := range sk.Offsets {
			want := m3.V(1+0.01*float32(f), o.Y+0.9, 2-o.X)
			if d := model[j].Pos.Dist(want); d > 1e-4 {
				t.Fatalf("%s in frame %d is at %v, want %v", l.Joints[j], f, model[j].Pos, want)
			}
		}
	}
	rows[cols+2] = float32(math.NaN())
	if _, err := p.Clip(rows, 60, start); err == nil || !strings.Contains(err.Error(), "value 2 of frame 1") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := p.Clip(rows[:cols-1], 60, start); err == nil {
		t.Error("half a frame accepted")
	}
}

// What a file says of a person is read back, or told in what it differs.
func TestReadPerson(t *testing.T) {
	l, sk := biped()
	schema, hash, skeleton, err := feature.DescribePerson(l, sk)
	if err != nil {
		t.Fatal(err)
	}
	p, differ := feature.ReadPerson(schema, hash, skeleton)
	if p == nil || len(differ) > 0 || p.Layout.Hash() != hash || p.Skel.Len() != 5 {
		t.Fatalf("%v", differ)
	}
	for _, c := range []struct{ schema, hash, skeleton, want string }{
		{"", hash, skeleton, "not a layout"},
		{"{}", hash, skeleton, "no joints"},
		{schema, "0", skeleton, "hash"},
		{schema, hash, "[]", "skeleton"},
		{schema, hash, strings.ReplaceAll(skeleton, "LeftArm", "Other"), `no joint "LeftArm"`},
	} {
		if p, differ := feature.ReadPerson(c.schema, c.hash, c.skeleton); p != nil || !strings.Contains(strings.Join(differ, "; "), c.want) {
			t.Errorf("%v, want %q", differ, c.want)
		}
	}
}

package fbx

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

var (
	zUp = []tree{prop("UpAxis", 2), prop("UpAxisSign", 1), prop("FrontAxis", 1), prop("FrontAxisSign", -1), prop("CoordAxis", 0), prop("CoordAxisSign", 1),
		prop("UnitScaleFactor", 1.0), prop("TimeMode", 11)}
	// An armature of 2 times the size, turned by 90°, with hips and a spine whose joint has a rotation
	// before its own and another order.
	body = []tree{
		rec("Model", 1, "Armature\x00\x01Model", "Null", rec("Properties70", prop("Lcl Rotation", 0.0, 0.0, 90.0), prop("Lcl Scaling", 2.0, 2.0, 2.0))),
		limb(2, "Hips", prop("Lcl Translation", 1.0, 2.0, 90.0)),
		limb(3, "Spine", prop("Lcl Translation", 0.0, 0.0, 10.0), prop("PreRotation", 0.0, 30.0, 0.0), prop("PostRotation", 0.0, 0.0, 20.0), prop("RotationOrder", 4)),
	}
)

// formats are the same records in each form.
func formats(records []tree) map[string][]byte {
	return map[string][]byte{"ASCII 7.5": asciiFile(7500, records), "binary 7.4": binaryFile(7400, records), "binary 7.5": binaryFile(7500, records)}
}

// Joints are where the formula puts them, in every form.
func TestRead(t *testing.T) {
	rad := func(deg float32) float32 { return deg * math.Pi / 180 }
	x, y, z := m3.V(1, 0, 0), m3.V(0, 1, 0), m3.V(0, 0, 1)
	up := m3.FromAxes(m3.V(1, 0, 0), m3.V(0, 0, -1), m3.V(0, 1, 0)) // +Z becomes +Y, −Y becomes +Z
	for name, data := range formats(walker(zUp, body)) {
		all, err := Read(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c := all[0].Clip
		if len(all) != 1 || all[0].Name != "walk" || c.FPS != 24 || c.Frames != 25 || strings.Join(c.Skel.Names, " ") != "Hips Spine" || c.Skel.Parents[1] != 0 {
			t.Errorf("%s: %d animations, %q: %d frames at %g of %v", name, len(all), all[0].Name, c.Frames, c.FPS, c.Skel.Names)
			continue
		}
		model := make([]m3.Xform, 2)
		for f := range c.Frames {
			s := float32(f) / 24
			height := 90 + 20*s
			if s >= 0.25 {
				height = 95 + 20*(s-0.25)
			}
			armature := m3.AxisAngle(z, rad(90))
			hips := up.Rotate(armature.Rotate(m3.V(1, 2, height)).Scale(2))
			own := m3.AxisAngle(y, rad(10+40*s)).Mul(m3.AxisAngle(x, rad(80*s))) // ZXY: Z first, Y last
			turn := up.Mul(armature).Mul(m3.AxisAngle(y, rad(30))).Mul(own).Mul(m3.AxisAngle(z, rad(-20)))
			spine := hips.Add(up.Rotate(armature.Rotate(m3.V(0, 0, 10)).Scale(2)))
			pos, rot := c.Frame(f)
			c.Skel.LocalToModel(model, pos, rot)
			if d := max(model[0].Pos.Dist(hips.Scale(0.01)), model[1].Pos.Dist(spine.Scale(0.01))); d > 1e-5 {
				t.Fatalf("%s, frame %d: joints at %v and %v, want %v and %v", name, f, model[0].Pos, model[1].Pos, hips.Scale(0.01), spine.Scale(0.01))
			}
			if a := model[1].Rot.Angle(turn); a > 1e-3 {
				t.Fatalf("%s, frame %d: the spine is turned otherwise, by %g rad", name, f, a)
			}
		}
	}
}

// All rotation orders, pivots and offsets, scales that are inherited in three ways.
func TestTransforms(t *testing.T) {
	names := []string{"XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX"}
	deg := [3]float64{20, -50, 110}
	for order, name := range names {
		want := m3.Ident
		for _, axis := range name { // in this order
			k := int(axis - 'X')
			want = m3.AxisAngle([]m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}}[k], float32(deg[k]*math.Pi/180)).Mul(want)
		}
		m := euler(deg, order)
		q := quatOf(&m)
		got := m3.Quat{X: float32(q[0]), Y: float32(q[1]), Z: float32(q[2]), W: float32(q[3])}
		if a := got.Angle(want); a > 1e-3 {
			t.Errorf("the order %s is off by %g rad", name, a)
		}
		if back := q.matrix(); math.Abs(back[5]-m[5]) > 1e-12 || math.Abs(back[6]-m[6]) > 1e-12 {
			t.Errorf("the order %s: %v came back as %v", name, m, back)
		}
	}
	turn, none := euler([3]float64{0, 0, 90}, 0), euler([3]float64{}, 0)
	m := &model{pre: none, post: none, rpiv: [3]float64{1, 0, 0}, roff: [3]float64{0, 0, 5}}
	if p := m.place([3]float64{10, 0, 0}, [3]float64{1, 1, 1}, &turn, nil); math.Abs(p.world[3]-11) > 1e-9 || math.Abs(p.world[7]+1) > 1e-9 || p.world[11] != 5 {
		t.Errorf("turned about a pivot, the model is at %g, %g, %g", p.world[3], p.world[7], p.world[11])
	}
	m = &model{pre: none, post: none, spiv: [3]float64{1, 0, 0}, soff: [3]float64{0, 7, 0}}
	if p := m.place([3]float64{}, [3]float64{3, 1, 1}, &none, nil); p.world[3] != -2 || p.world[7] != 7 {
		t.Errorf("scaled about a pivot, the model is at %g, %g", p.world[3], p.world[7])
	}
	// A parent stretched along X, and a child turned by 90°: its own X is the parent's Y.
	parent := (&model{pre: none, post: none}).place([3]float64{}, [3]float64{4, 1, 1}, &none, nil)
	for inherit, want := range [][2]float64{{4, 1}, {1, 4}, {1, 1}} { // lengths of the child's X and Y axes
		p := (&model{pre: none, post: none, inherit: inherit}).place([3]float64{1, 0, 0}, [3]float64{1, 1, 1}, &turn, &parent)
		x, y := math.Hypot(p.world[0], p.world[4]), math.Hypot(p.world[1], p.world[5])
		if math.Abs(x-want[0]) > 1e-9 || math.Abs(y-want[1]) > 1e-9 || p.world[3] != 4 {
			t.Errorf("inherit type %d: axes of %g and %g at %g, want %v at 4", inherit, x, y, p.world[3], want)
		}
	}
}

// Layers add to the lowest one or replace it, by their weights.
func TestLayers(t *testing.T) {
	second := func(mode int, weight float64) []tree {
		return []tree{rec("AnimationLayer", 201, "Top\x00\x01AnimLayer", "", rec("Properties70", prop("BlendMode", mode), prop("Weight", weight))),
			rec("AnimationCurveNode", 210, "T\x00\x01AnimCurveNode", "", rec("Properties70", prop("d|X", 10.0), prop("d|Y", 0.0), prop("d|Z", 0.0))),
			link2(201, 100), link2(210, 201), linkTo(210, 2, "Lcl Translation")}
	}
	for _, c := range []struct {
		mode         int
		weight, want float64
	}{{0, 100, 1 + 10}, {0, 50, 1 + 5}, {1, 100, 10}, {1, 25, 0.75*1 + 0.25*10}} {
		records := walker(nil, []tree{body[0], body[1], body[2]}, second(c.mode, c.weight)...)
		all := must.Get(Read("a.fbx", binaryFile(7400, records)))(t)
		pos, _ := all[0].Clip.Frame(0)
		if got := float64(pos[0].Y) * 100 / 2; math.Abs(got-c.want) > 1e-4 { // the armature turns X to Y
			t.Errorf("mode %d, weight %g %%: %g, want %g", c.mode, c.weight, got, c.want)
		}
	}
}

// Version 6 knows objects by their names and has takes.
func TestVersion6(t *testing.T) {
	property := func(name string, values ...any) tree {
		return rec("Property", append([]any{name, "", "A"}, values...)...)
	}
	records := []tree{
		rec("Objects", rec("Model", "Model::Hips", "Limb", rec("Properties60", property("Lcl Translation", 0.0, 100.0, 0.0))),
			rec("Model", "Model::Head", "Limb", rec("Properties60", property("Lcl Translation", 0.0, 50.0, 0.0)))),
		rec("Connections", rec("Connect", "OO", "Model::Hips", "Model::Scene"), rec("Connect", "OO", "Model::Head", "Model::Hips")),
		rec("Takes", rec("Take", "nod", rec("LocalTime", int64(0), second), rec("Model", "Model::Hips", rec("Channel", "Transform",
			rec("Channel", "T", rec("Channel", "X", rec("Default", 3.0)), rec("Channel", "Y", rec("KeyVer", 4005), rec("KeyCount", 3),
				rec("Key", int64(0), 100.0, "L", second/2, 200.0, "C", "n", second, 300.0, "U", "s", 0.0, 0.0, "n"))))))),
	}
	all := must.Get(Read("a.fbx", asciiFile(6100, records)))(t)
	c := all[0].Clip
	if all[0].Name != "nod" || c.Skel.Len() != 2 || c.FPS != 24 {
		t.Fatalf("%q, %v at %g", all[0].Name, c.Skel.Names, c.FPS)
	}
	for f, want := range map[int]m3.Vec3{0: m3.V(0.03, 1, 0), 6: m3.V(0.03, 1.5, 0), 12: m3.V(0.03, 2, 0), 18: m3.V(0.03, 3, 0), 24: m3.V(0.03, 3, 0)} {
		if pos, _ := c.Frame(f); pos[0].Dist(want) > 1e-6 || pos[1].Dist(m3.V(0, 0.5, 0)) > 1e-6 {
			t.Errorf("frame %d: %v, want the first at %v", f, pos, want)
		}
	}
	broken := bytes.Replace(asciiFile(6100, records), []byte(`"U","s"`), []byte(`"U",7`), 1)
	if _, err := Read("a.fbx", broken); err == nil || !strings.Contains(err.Error(), "line ") {
		t.Errorf("a key with a number for a letter: %v", err)
	}
}

// Editors of text put a byte order mark before a file.
func TestReadWithMark(t *testing.T) {
	text := asciiFile(7500, walker(zUp, body))
	want := must.Get(Read("a.fbx", text))(t)
	got := must.Get(Read("a.fbx", append([]byte("\ufeff"), text...)))(t)
	if !IsFBX([]byte("\ufeff; FBX 7.4.0 project file")) || len(got) != len(want) || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Files that cannot be read are refused with the place.
func TestRefused(t *testing.T) {
	good := binaryFile(7400, walker(zUp, body))
	text := asciiFile(7500, walker(zUp, body))
	loop := walker(zUp, body, link2(1, 3))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":   {nil, "is not an FBX file"},
		"text":      {[]byte("hello"), "is not an FBX file"},
		"cut":       {good[:len(good)/2], "byte "},
		"old":       {binaryFile(5800, nil), "has FBX version 5800"},
		"empty":     {binaryFile(7400, nil), "has no objects"},
		"models":    {binaryFile(7400, []tree{rec("Objects", rec("Geometry", 7, "", ""))}), "has no models"},
		"cut text":  {text[:len(text)*2/3], "line "},
		"brace":     {append(append([]byte{}, text...), '}'), "a } without its {"},
		"circle":    {binaryFile(7400, loop), "is above itself"},
		"no motion": {binaryFile(7400, []tree{rec("Objects", body)}), "has no animation"},
		"left":      {binaryFile(7400, walker([]tree{prop("UpAxis", 1), prop("CoordAxis", 0), prop("FrontAxis", 2), prop("FrontAxisSign", -1)}, body)), "are not right-handed"},
		"infinite":  {binaryFile(7400, walker(zUp, []tree{body[0], body[1], limb(3, "Spine", prop("Lcl Translation", math.Inf(1), 0.0, 0.0))})), "has Lcl Translation"},
	} {
		if _, err := Read(name, c.data); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	back := bytes.Replace(good, []byte("KeyTime"), []byte("KeyTimE"), 1)
	if _, err := Read("a", back); err == nil || !strings.Contains(err.Error(), "the curve has no keys") {
		t.Errorf("a curve without times: %v", err)
	}
}

// A file costs memory in proportion to its size.
func TestGrowth(t *testing.T) {
	read := func(b []byte) error { _, err := Read("a.fbx", b); return err }
	curves := func(n int) []tree {
		times, values := make([]float64, n), make([]float32, n)
		for i := range times {
			times[i], values[i] = float64(i)/1e6, float32(i%7)
		}
		return walker(zUp, body, keys(220, times, values))
	}
	growth.Check(t, 100, read,
		growth.Accepted("records", func(n int) []byte {
			return binaryFile(7400, append(walker(zUp, body), make([]tree, n)...))
		}),
		growth.Accepted("curves", func(n int) []byte { return binaryFile(7500, curves(n)) }),
		growth.Accepted("curves as text", func(n int) []byte { return asciiFile(7500, curves(n)) }),
	)
}

func FuzzRead(f *testing.F) {
	for _, data := range formats(walker(zUp, body)) {
		f.Add(data)
	}
	f.Add(asciiFile(6100, []tree{rec("Objects", rec("Model", "Model::A", "Limb")), rec("Takes", rec("Take", "a", rec("Model", "Model::A",
		rec("Channel", "Transform", rec("Channel", "T", rec("Channel", "X", rec("Key", int64(0), 1.0, "U", "t", 1.0, 2.0, 3.0, "n", second, 2.0, "L")))))))}))
	for _, data := range formats(bends()) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Read("a.fbx", data)
		for _, m := range all {
			if err == nil && (m.Clip.Skel.Validate() != nil || m.Clip.Frames < 1 || !(m.Clip.FPS >= 1)) {
				t.Fatalf("%q is no clip", m.Name)
			}
		}
	})
}

// Joints of one name stay apart.
func TestNames(t *testing.T) {
	var joints []*model
	for i, n := range []string{"X", "X", "X_2", "", "X"} {
		joints = append(joints, &model{name: n, index: i})
	}
	if got := strings.Join(names(joints), " "); got != "X X_2 X_2_2 node3 X_3" {
		t.Error(got)
	}
}

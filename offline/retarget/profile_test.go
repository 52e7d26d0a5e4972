package retarget

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// The uniform skeleton is what its documentation says.
func TestHuman(t *testing.T) {
	s := Human()
	must.Do(t, s.Validate())
	ends := 0
	for j, name := range s.Names {
		if s.EndSite[j] {
			ends++
			if name != s.Names[s.Parents[j]]+"Site" {
				t.Errorf("the End Site of %s is called %s", s.Names[s.Parents[j]], name)
			}
		}
		if left, ok := strings.CutPrefix(name, "Left"); ok {
			o, m := s.Offsets[j], s.Offsets[s.Index("Right"+left)]
			if m3.V(-o.X, o.Y, o.Z) != m || o.X < 0 {
				t.Errorf("%s is at %v, its partner at %v", name, o, m)
			}
		} else if !strings.HasPrefix(name, "Right") && s.Offsets[j].X != 0 {
			t.Errorf("%s is beside the middle", name)
		}
	}
	if s.Len()-ends != 25 || ends != 5 {
		t.Errorf("%d joints and %d End Sites", s.Len()-ends, ends)
	}
	if _, err := skel.NewMirror(s); err != nil {
		t.Error(err)
	}
	if p := Detect(s); p == nil || p.Name != "cmu" {
		t.Errorf("detected as %v", p)
	}
	s.Offsets[0].X = 7
	if Human().Offsets[0].X == 7 {
		t.Error("callers share the skeleton")
	}
}

// Every built-in profile is complete, names joints of ours, and survives writing.
func TestProfiles(t *testing.T) {
	human := Human()
	for _, p := range Profiles() {
		for name := range p.Joints {
			if human.Index(name) < 0 {
				t.Errorf("%s: joints.%s is no joint of the uniform skeleton", p.Name, name)
			}
			if left, ok := strings.CutPrefix(name, "Left"); ok && p.Joints["Right"+left] == "" {
				t.Errorf("%s: joints.%s has no partner", p.Name, name)
			}
		}
		if p.About == "" || Named(p.Name) == nil {
			t.Errorf("%s: not described or not found", p.Name)
		}
		var b bytes.Buffer
		must.Do(t, p.Write(&b))
		back, err := ReadProfile(p.Name, b.Bytes())
		if err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%s: %v; read back as %+v", p.Name, err, back)
		}
	}
	if n := len(ProfileNames()); n < 7 {
		t.Errorf("%d profiles", n)
	}
	if Named("none") != nil || Detect(&skel.Skeleton{Names: []string{"Hips"}}) != nil {
		t.Error("found what is not there")
	}
}

const small = `name = "mine"
metres_per_unit = 0.01
turn_only = ["Hips"]
[joints]
Hips = "pelvis"
Spine = "back"
LeftUpLeg = "a"
LeftLeg = "b"
LeftFoot = "c"
RightUpLeg = "d"
RightLeg = "e"
RightFoot = "f"
[axes]
Hips = "z -x"
`

func TestReadProfileRejects(t *testing.T) {
	must.Get(ReadProfile("p.toml", []byte(small)))(t)
	for _, c := range []struct{ from, to, want string }{
		{`"pelvis"`, `pelvis`, "p.toml:5:"},
		{`"pelvis"`, `7`, "joints"},
		{"0.01", "-1", "metres_per_unit is -1"},
		{"0.01", "nan", "metres_per_unit"},
		{"metres_per_unit", "meters_per_unit", `axes; did you mean metres_per_unit?`},
		{`turn_only`, "rest_frames = 5000\nturn_only", "rest_frames is 5000"},
		{`turn_only`, "up = \"w\"\nturn_only", `up is "w"`},
		{`LeftLeg = "b"`, ``, "joints.LeftLeg is missing"},
		{`Spine = "back"`, `Head = "back"`, "one joint of LowerBack, Spine, Spine1"},
		{`"b"`, `""`, "joints.LeftLeg is missing"},
		{`"b"`, `"c"`, "joints.LeftFoot and joints.LeftLeg are both"},
		{`["Hips"]`, `["Tail"]`, `turn_only has "Tail"`},
		{`"z -x"`, `"z"`, "axes.Hips"},
		{`"z -x"`, `"z up"`, `"up" is none of`},
		{`"z -x"`, `"z -z"`, "not at right angles"},
		{`"z -x"`, strings.Repeat("[", 300), ": nested"},
		{`Hips = "z -x"`, strings.Repeat("a.", 300) + "a = 1", ":14: nested"},
		{`"z -x"`, strings.Repeat("9", 9999), "p.toml:14: not TOML: 9999"},
		{`Hips = "z -x"`, `Tail = "z -x"`, "axes.Tail: joints has no such line"},
	} {
		text := strings.Replace(small, c.from, c.to, 1)
		if _, err := ReadProfile("p.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "p.toml") || len(err.Error()) > 400 {
			t.Errorf("%.80s for %s: %v, want one with %q", c.to, c.from, err, c.want)
		}
	}
	dir := t.TempDir()
	large := filepath.Join(dir, "large.toml")
	must.Do(t, os.WriteFile(large, bytes.Repeat([]byte("#"), maxProfile+1), 0o644))
	for _, path := range []string{large, dir, filepath.Join(dir, "none.toml")} {
		if _, err := OpenProfile(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	good := filepath.Join(dir, "good.toml")
	must.Do(t, os.WriteFile(good, []byte(small), 0o644))
	if p, err := OpenProfile(good); err != nil || p.Name != "mine" || p.Joints["Hips"] != "pelvis" || p.Axes["Hips"] != "z -x" {
		t.Errorf("%+v, %v", p, err)
	}
}

// A profile that is accepted from any text is valid and can be written and read again.
func FuzzReadProfile(f *testing.F) {
	f.Add(small)
	f.Add("name = 3\n[joints]\n")
	f.Add("[joints]\nHips = {}\n")
	f.Add("[[joints")
	f.Add("Hips = \"#3\"\nHead = \"\"\n")
	f.Add("a.b.c = [[[{d.e = 1}]]]\n")
	for _, p := range Profiles() {
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadProfile("fuzz", []byte(text))
		if err != nil {
			return
		}
		if p.Name != "" {
			must.Do(t, p.Validate())
		}
		var b bytes.Buffer
		must.Do(t, p.Write(&b))
		q, err := ReadProfile("again", b.Bytes())
		if err != nil || len(q.Joints) != len(p.Joints) || q.Name != p.Name {
			t.Fatalf("%v: %+v became %+v from\n%s", err, p, q, b.String())
		}
	})
}

// The fit of a rigid rotation, against rotations that it must find.
func TestRigidFit(t *testing.T) {
	from := []m3.Vec3{m3.V(1, 0, 0), m3.V(0, 1, 0), m3.V(0.6, 0, 0.8)}
	for _, q := range []m3.Quat{m3.Ident, m3.AxisAngle(m3.V(0, 0, 1), 3.1), m3.FromRotationVector(m3.V(1, -2, 0.5)), m3.AxisAngle(m3.V(1, 0, 0), -1.6)} {
		var to []m3.Vec3
		for _, v := range from {
			to = append(to, q.Rotate(v))
		}
		for n := 2; n <= 3; n++ {
			if got, ok := rigidFit(from[:n], to[:n]); !ok || got.Angle(q) > 1e-3 {
				t.Errorf("%d directions: %v, %v, want %v", n, got, ok, q)
			}
		}
	}
	line := []m3.Vec3{m3.V(1, 0, 0), m3.V(-1, 0, 0)}
	if _, ok := rigidFit(line, line); ok {
		t.Error("directions on one line tell a rotation")
	}
}

package control

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func TestReadPath(t *testing.T) {
	open := must.Get(ReadPath("p.csv", []byte("# a comment\r\nx, z\r\n0,0\r\n\r\n1, 2.5e0\r\n3,2\r\n")))(t)
	if _, d := open.Nearest(m3.V(1, 0, 2.5)); d > 1e-6 || open.Closed() {
		t.Errorf("open path: %g m off, closed %v", d, open.Closed())
	}
	loop, err := ReadPath("p.csv", []byte("0,0\n1,0\n1,1\n0,0\n"))
	if err != nil || !loop.Closed() {
		t.Errorf("loop: %v", err)
	}
	tom, err := ReadPath("p.TOML", []byte("closed = true\npoints = [[0,0],[1,0.0],[1,1]]\n"))
	if err != nil || tom.Length() != loop.Length() {
		t.Errorf("TOML and CSV differ: %v", err)
	}
}

func TestPathFileErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"a.csv", "0,0\n1;2\n", "a.csv:2: want two numbers"},
		{"a.csv", "0,0\n\n1,x\n", "a.csv:3:"},
		{"a.csv", "0,0\n1,nan\n", "finite"},
		{"a.csv", "", "want 2 to"},
		{"a.csv", strings.Repeat("0,0\n", MaxPathPoints+2), "more than"},
		{"a.csv", strings.Repeat(" ", maxFile+1), "allowed"},
		{"a.toml", "points = [[0,0],\n[1]]", "point 2 has 1 numbers"},
		{"a.toml", "closed = true\npoints = 0,", "a.toml:2:"},
		{"a.toml", "closd = true", `a.toml:1: unknown key "closd": want closed, points; did you mean closed?`},
		{"a.toml", "points = 3", "a.toml"},
		{"a.toml", "\n" + strings.Repeat("a.", 1<<16) + "a = 1", "a.toml:2: nested"},
		{"a.toml", "a = " + strings.Repeat("{a=", 1<<16), "a.toml:1: nested"},
	} {
		_, err := ReadPath(c.name, []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: error %v, want one line with %q", c.data, err, c.want)
		}
	}
	if _, err := OpenPath(filepath.Join(t.TempDir(), "none.csv")); err == nil {
		t.Error("missing file accepted")
	}
}

// A file that never ends is not read.
func TestEndlessFile(t *testing.T) {
	const zeros = "/dev/zero"
	if _, err := os.Stat(zeros); err != nil {
		t.Skip("no endless file here")
	}
	for _, read := range []func(string) error{
		func(f string) error { _, err := OpenPath(f); return err },
		func(f string) error { _, err := OpenScript(f); return err },
	} {
		if err := read(zeros); err == nil || !strings.Contains(err.Error(), "/dev/zero: not a regular file") {
			t.Errorf("error %v", err)
		}
	}
}

func TestScript(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "p.csv"), []byte("0,0\n0,3\n"), 0o644))
	const text = `
[[goal]]
at = 0
action = "move"
speed = 2
turn = -0.5

[[goal]]
at = 1.5
action = "sit"

[[goal]]
at = 4
path = "p.csv"
`
	s := must.Get(ReadScript(filepath.Join(dir, "s.toml"), []byte(text)))(t)
	if g := s.At(1.4, m3.Ident); g.Action != Move || g.Speed != 2 || g.Turn != -0.5 || g.Move != m3.V(0, 0, 1) {
		t.Errorf("at 1.4 s: %+v", g)
	}
	if g := s.At(1.5, m3.Ident); g.Action != Sit || g.Move != (m3.Vec3{}) {
		t.Errorf("at 1.5 s: %+v", g)
	}
	if g := s.At(99, m3.Ident); g.Path == nil || g.Path.Length() != 3 || g.Speed != PaceSpeed {
		t.Errorf("at 99 s: %+v", g)
	}
	for _, c := range []struct{ data, want string }{
		{"", "0 goals"},
		{"[[goal]]\nat = 1", "begin at 0"},
		{"[[goal]]\nat = 0\n[[goal]]\nat = 0", "goal 2: begins at 0 s"},
		{"[[goal]]\naction = \"fly\"", "no action \"fly\""},
		{"[[goal]]\nmove = [1]", "move has 1"},
		{"[[goal]]\nspeed = -1", "not negative"},
		{"[[goal]]\nturn = nan", "finite"},
		{"[[goal]]\npath = \"nowhere\"", "neither circle"},
		{"[[goal]]\nat = 0\nspede = 1", "spede"},
	} {
		_, err := ReadScript("s.toml", []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.data, err, c.want)
		}
	}
}

// Sticks and facings of a script are in the world, whichever way the character faces.
func TestScriptOfSticks(t *testing.T) {
	const text = `
[[goal]]
at = 0
stick = [3, 0]
speed = 2

[[goal]]
at = 1
stick = [0, -0.5]
face = [1, 0]
action = "jump"

[[goal]]
at = 2
stick = [0, 0]
`
	s := must.Get(ReadScript("s.toml", []byte(text)))(t)
	for _, yaw := range []float32{0, 1.2, -2.5} {
		rot := m3.YawQuat(yaw)
		for i, want := range []Goal{{Move: m3.V(1, 0, 0), Face: m3.V(1, 0, 0), Speed: 2, Action: Move}, {Move: m3.V(0, 0, -0.5), Face: m3.V(1, 0, 0), Speed: PaceSpeed, Action: Jump}, {Speed: PaceSpeed}} {
			g := s.At(float64(i)+0.5, rot)
			if g.Move, g.Face = rot.Rotate(g.Move), rot.Rotate(g.Face); g.Move.Dist(want.Move) > 1e-5 || g.Face.Dist(want.Face) > 1e-5 || g.Speed != want.Speed || g.Action != want.Action {
				t.Errorf("goal %d at a yaw of %g: %+v, want %+v", i+1, yaw, g, want)
			}
		}
	}
	for data, want := range map[string]string{"stick = [1]": "stick has 1 numbers", "face = [1, 2, 3]": "face has 3", "stick = [1, 0]\nturn = 1": "exclude", "stick = [nan, 0]": "finite", "stick = [1e30, 0]": "finite", "stick = []": "has 0 numbers"} {
		_, err := ReadScript("s.toml", []byte("[[goal]]\n"+data))
		must.FailWith(t, err, want)
	}
}

// A script names the tags of the character that it is for, and these come after the actions that all have.
func TestScriptOfTags(t *testing.T) {
	tags := []string{"carry", "Sit", "crouch"}
	s := must.Get(ReadScript("s.toml", []byte("[[goal]]\naction = \"Crouch\"\nmove = [0, 1]\n[[goal]]\nat = 1\naction = \"sit\"\n[[goal]]\nat = 2\naction = \"carry\"\n"), tags...))(t)
	if g := s.At(0, m3.Ident); g.Action != Own+2 || g.Move != m3.V(0, 0, 1) || s.At(1, m3.Ident).Action != Sit || s.At(2, m3.Ident).Action != Own {
		t.Errorf("%+v, then %v and %v", g, s.At(1, m3.Ident).Action, s.At(2, m3.Ident).Action)
	}
	_, err := ReadScript("s.toml", []byte("[[goal]]\naction = \"cruoch\"\n"), tags...)
	must.FailWith(t, err, "stand, carry, Sit, crouch; did you mean crouch?")
	_, err = ReadScript("s.toml", []byte("[[goal]]\naction = \"x64\"\n"), many(65)...)
	must.FailWith(t, err, "no action")
}

func many(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("x%d", i))
	}
	return names
}

// A path file that many goals name is read once.
func TestScriptSharesPaths(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "p.csv"), []byte("0,0\n0,3\n"), 0o644))
	text := "[[goal]]\nat = 0\npath = \"p.csv\"\n[[goal]]\nat = 1\npath = \"p.csv\"\n"
	s := must.Get(ReadScript(filepath.Join(dir, "s.toml"), []byte(text)))(t)
	if s.At(0, m3.Ident).Path != s.At(1, m3.Ident).Path {
		t.Error("each goal has a path of its own")
	}
}

// Whatever the bytes: an error or a usable path, never a panic.
func FuzzPath(f *testing.F) {
	f.Add("a.csv", []byte("x,z\n0,0\n1,1\n2,0\n0,0"))
	f.Add("a.toml", []byte("closed = true\npoints = [[0,0],[1,0],[1,1]]"))
	f.Add("a.csv", []byte("1e30,0\n,\n"))
	f.Add("a.svg", svg(`<path d="m0 0l9 9c1 1 2 2 3 0s3-3 6 0q1 2 3 4t5-6h9v-9z"/>`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		new(Path).UnmarshalBinary(data)
		p, err := ReadPath(name, data)
		if err != nil {
			return
		}
		for i := range 20 {
			if pos, dir := p.At(p.Length() * float32(i) / 10); !pos.Finite() || m3.Abs(dir.Len()-1) > 1e-3 {
				t.Fatalf("point %v, tangent %v", pos, dir)
			}
		}
		var again Path
		if b, err := p.AppendBinary(nil); err != nil || again.UnmarshalBinary(b) != nil || !again.Equal(p) || again.Closed() != p.Closed() {
			t.Fatalf("%v: another path comes back of %d bytes", err, len(b))
		}
		if s, d := p.Nearest(m3.V(1, 0, 1)); !m3.Finite(s) || !m3.Finite(d) {
			t.Fatalf("nearest %g at %g", d, s)
		}
	})
}

func FuzzScript(f *testing.F) {
	f.Add([]byte("[[goal]]\nat = 0\naction = \"move\"\n[[goal]]\nat = 2\npath = \"circle\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Paths name files: keep the fuzzer off the disk.
		if strings.Contains(string(data), "path") {
			return
		}
		if s, err := ReadScript("s.toml", data); err == nil {
			if g := s.At(1, m3.Ident); !g.Finite() {
				t.Fatalf("goal %+v", g)
			}
		}
	})
}

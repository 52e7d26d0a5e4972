package script

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

const head = `length = 20
[[actor]]
name = "ann"
kind = "person"
at = [0, 0]
[[actor]]
name = "rex"
kind = "dog"
at = [5, 0]
`

// headLines is how many lines head has: what follows begins on the next.
const headLines = 9

func TestRead(t *testing.T) {
	s, err := Read("a.toml", []byte(`title = "T"
`+head+`facing = 90
colour = "#ff0000"
[[move]]
actor = "rex"
from = 1
points = [[5, 4], [9, 4]]
times = [3, 6.5]
[[action]]
actor = "rex"
do = "sit"
from = 7
to = 12
[[look]]
actor = "rex"
target = "ann.LeftHand"
offset = [0, 0.5, 0]
from = 2
to = 8
ease = 1
weight = 0.5
[[look]]
actor = "rex"
target = [0, 0, 0]
from = 8
to = 12
[[reach]]
actor = "ann"
hand = "right"
target = [1, 1.2, 1]
from = 3
[[camera]]
from = 0
eye = [1, 2, 3]
target = "rex"
[[camera]]
from = 10
eye = [[0, 1, 0], [1, 1, 0], [2, 1, 0]]
target = [0, 1, 5]
follow = "rex"
fov = 60
[[caption]]
from = 15
to = 16
text = "two"
[[caption]]
from = 3
to = 4
text = "one"
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "T" || s.Length != 20 || s.Terrain != "flat" || len(s.Actors) != 2 || len(s.Moves) != 1 || len(s.Actions) != 1 || len(s.Looks) != 2 || len(s.Reaches) != 1 || len(s.Shots) != 2 {
		t.Fatalf("%+v", s)
	}
	if a := s.Actors[1]; a.Kind != Dog || a.At != m3.V(5, 0, 0) || m3.Abs(a.Yaw-math.Pi/2) > 1e-6 || a.Colour != [3]float32{1, 0, 0} || !a.Coloured || s.Actors[0].Coloured {
		t.Errorf("%+v", a)
	}
	m := &s.Moves[0]
	if m.From() != 1 || m.To() != 6.5 || m3.Abs(m.Arcs[2]-m.Path.Length()) > 1e-4 || m3.Abs(m.Arcs[1]-4.2) > 0.3 {
		t.Errorf("%v %v", m.Times, m.Arcs)
	}
	if p, _ := m.Path.At(m.Arcs[1]); p.Dist(m3.V(5, 0, 4)) > 0.02 {
		t.Errorf("point 1 is at %v", p)
	}
	for _, c := range []struct{ t, arc, speed float32 }{{0, 0, 0}, {2, m.Arcs[1] / 2, m.Arcs[1] / 2}, {9, m.Arcs[2], 0}} {
		if arc, speed := m.Along(c.t); m3.Abs(arc-c.arc) > 1e-4 || m3.Abs(speed-c.speed) > 1e-4 {
			t.Errorf("at %g s: %g m, %g m/s, want %+v", c.t, arc, speed, c)
		}
	}
	if a := s.Actions[0]; a.Do != control.Sit || a.Actor != 1 || a.From != 7 || a.To != 12 {
		t.Errorf("%+v", a)
	}
	l := &s.Looks[0]
	if l.Target.Actor != 0 || l.Joint != "LeftHand" || l.Offset.Y != 0.5 || l.Span.At(5) != 0.5 || l.Span.At(2.5) != 0.25 || l.Span.At(1) != 0 || l.Span.At(9) != 0 || l.Span.At(7.99) != 0.5 || s.Looks[1].At(8) != 1 || s.Looks[1].At(11.75) != 0.5 {
		t.Errorf("%+v", l)
	}
	if r := &s.Reaches[0]; !r.Right || r.Target.Actor != -1 || r.Point != m3.V(1, 1.2, 1) || r.To != 20 {
		t.Errorf("%+v", r)
	}
	if a, b := &s.Shots[0], &s.Shots[1]; a.Watch != 1 || a.Follow != -1 || len(a.Eye.Times) != 1 || b.Follow != 1 || b.Watch != -1 || b.Eye.Times[1] != 15 || m3.Abs(b.FOV-math.Pi/3) > 1e-6 {
		t.Errorf("%+v %+v", a, b)
	}
	if s.Captions[0].Text != "one" || s.Captions[1].From != 15 {
		t.Errorf("%+v", s.Captions)
	}
}

// Every fault is told with its line.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		text string
		line int // of the text, after head
		want string
	}{
		{"[[move]]\nactor = \"bob\"\nfrom = 1\npoints = [[1, 1]]", 2, `no actor "bob": want ann, rex`},
		{"[[move]]\nactor = \"ann\"\nfrom = 1", 1, "points is missing"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = []", 4, "0 places: want 1"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[1, 1], [1, 1]]", 4, "points 2 and 3 of the path coincide"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[0, 0]]", 4, "coincide"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[1, 1, 1]]", 4, "3 numbers, want 2"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[nan, 1]]", 4, "NaN: want -50 to 50"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [\n  [1, 1],\n  [1e9, 1]]", 4, "1e+09: want -50 to 50"},
		{"[[move]]\nactor = \"ann\"\nfrom = inf\npoints = [[1, 1]]", 3, "+Inf: want 0 to 20"},
		{"[[move]]\nactor = \"ann\"\nfrom = -1\npoints = [[1, 1]]", 3, "from = -1: want 0 to 20"},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[1, 1], [2, 2]]\ntimes = [8, 7]", 5, "after 8 s: time does not go back"},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[1, 1], [2, 2]]\ntimes = [8]", 5, "1 numbers, want 2"},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[9, 9]]\ntimes = [6]", 5, "takes 12.7 m/s: at most 4.5"},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[9, 9]]\ntimes = [9]\nspeed = 1", 1, "one of speed, gait and times"},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[9, 9]]\ngait = \"trot\"", 5, `gait = "trot": want jog, run, walk`},
		{"[[move]]\nactor = \"ann\"\nfrom = 5\npoints = [[9, 9]]\ngait = \"wlak\"", 5, `want jog, run, walk; did you mean walk?`},
		{"[[move]]\nactor = \"anm\"\nfrom = 5\npoints = [[9, 9]]", 2, `want ann, rex; did you mean ann?`},
		{"[[move]]\nactor = \"ann\"\nfrom = 19\npoints = [[9, 9]]", 1, "ends at 28.79 s, the scene at 20 s"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[3, 3]]\n[[move]]\nactor = \"ann\"\nfrom = 2\npoints = [[5, 5]]", 7, "but the move on line 10 ends"},
		{"[[move]]\nactor = \"ann\"\nfrom = 1\npoints = [[3, 3]]\nsped = 3", 5, `; did you mean speed?`},
		{"[[action]]\nactor = \"ann\"\ndo = \"sit\"\nfrom = 1", 3, "people can only face"},
		{"[[action]]\nactor = \"rex\"\ndo = \"fly\"\nfrom = 1", 3, `do = "fly": want face, sit, lie, stand, jump`},
		{"[[action]]\nactor = \"rex\"\ndo = \"sit\"\nfrom = 3\nto = 2", 5, "ends at 2 s, but begins at 3 s"},
		{"[[action]]\nactor = \"rex\"\ndo = \"sit\"\nfrom = 3\nto = 5\n[[action]]\nactor = \"rex\"\ndo = \"lie\"\nfrom = 4\nto = 6", 6, "acts already from 3 to 5 s, on line 10"},
		{"[[move]]\nactor = \"rex\"\nfrom = 1\npoints = [[8, 8]]\n[[action]]\nactor = \"rex\"\ndo = \"sit\"\nfrom = 3\nto = 5", 5, "on line 10: it can only jump then"},
		{"[[style]]\nactor = \"rex\"\nname = \"old\"\nfrom = 3", 2, `"rex" is no person`},
		{"[[look]]\nactor = \"rex\"\ntarget = \"tom.Head\"\nfrom = 3", 3, `no actor "tom": want a point`},
		{"[[look]]\nactor = \"rex\"\ntarget = 7\nfrom = 3", 3, "want a list of numbers"},
		{"[[look]]\nactor = \"rex\"\ntarget = \"ann\"\nfrom = 3\nto = 9\n[[look]]\nactor = \"rex\"\ntarget = \"ann\"\nfrom = 8", 6, "looks elsewhere from 3 to 9 s, on line 10"},
		{"[[look]]\nactor = \"rex\"\ntarget = \"ann\"\nfrom = 3\nweight = 2", 5, "weight = 2: want 0 to 1"},
		{"[[look]]\nactor = \"rex\"\ntarget = \"ann\"\nfrom = 3\nease = -1", 5, "ease = -1: want 0 to 30"},
		{"[[reach]]\nactor = \"rex\"\nhand = \"left\"\ntarget = \"ann\"\nfrom = 3", 2, "no person"},
		{"[[reach]]\nactor = \"ann\"\nhand = \"foot\"\ntarget = \"rex\"\nfrom = 3", 3, "want left, right"},
		{"[[camera]]\nfrom = 1\neye = [0, 1, 0]\ntarget = \"ann\"", 2, "first shot begins at 1 s"},
		{"[[camera]]\nfrom = 0\neye = [0, 1, 0]\ntarget = \"ann\"\n[[camera]]\nfrom = 0\neye = [0, 1, 0]\ntarget = \"ann\"", 6, "time does not go back"},
		{"[[camera]]\nfrom = 0\neye = [0, 1]\ntarget = \"ann\"", 3, "2 numbers, want 3"},
		{"[[camera]]\nfrom = 0\neye = [[0, 1, 0], [1, 1, 1]]\ntarget = \"ann\"\ntimes = [4, 3]", 5, "3 s comes after 4 s"},
		{"[[camera]]\nfrom = 0\neye = [0, 1, 0]\ntarget = \"bob\"", 4, `no actor "bob"`},
		{"[[camera]]\nfrom = 0\neye = [0, 1, 0]\ntarget = \"ann\"\nfov = 500", 5, "want 5 to 120"},
		{"[[caption]]\nfrom = 0\nto = 3\ntext = \"a\\nb\"", 4, "line break"},
		{"[[caption]]\nfrom = 0\nto = 3\ntext = \"a\"\n[[caption]]\nfrom = 2\nto = 4\ntext = \"b\"", 5, "is there until 3 s"},
		{"[[caption]]\nfrom = 0\nto = 3\ntext = 5", 4, "want a text in quotes"},
		{"[[actor]]\nname = \"ann\"\nkind = \"dog\"\nat = [1, 1]", 2, `an actor "ann" already, on line 2`},
		{"[[actor]]\nname = \"cat\"\nkind = \"cat\"\nat = [1, 1]", 3, `kind = "cat": want dog, person`},
		{"[[actor]]\nname = \"tom\"\nkind = \"dog\"\nat = [1, 1]\ncolour = \"red\"", 5, "want a colour as #c04030"},
		{"[[actor]]\nname = \"a.b\"\nkind = \"dog\"\nat = [1, 1]", 2, "a dot begins"},
		{"[[camera]\nfrom = 0", 2, "expected"},
		{"[lights]\nx = 1", 1, `unknown key "lights"`},
		{"caption = 3", 0, ""},
		{"x = " + strings.Repeat("[", 40) + strings.Repeat("]", 40), 1, "nested too deeply"},
		{"look = [{actor = \"rex\", target = \"ann\"}]", 0, ""},
	} {
		_, err := Read("a.toml", []byte(head+c.text+"\n"))
		if err == nil {
			t.Errorf("%s\nis taken", c.text)
			continue
		}
		if c.line == 0 {
			continue // of the last table of head: whatever is said
		}
		if want := "a.toml:" + itoa(headLines+c.line) + ": "; !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\nsays %q, want %s… %s", c.text, err, want, c.want)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// Faults of the head, of sizes and of tables written in line.
func TestMoreMistakes(t *testing.T) {
	actor := "[[actor]]\nname = \"%\"\nkind = \"dog\"\nat = [0, 0]\n"
	many := "length = 10\n"
	for i := range MaxActors + 1 {
		many += strings.ReplaceAll(actor, "%", "d"+itoa(i))
	}
	long := "length = 600\n"
	for i := range 7 {
		long += strings.ReplaceAll(actor, "%", "d"+itoa(i))
	}
	captions := head
	for range MaxEntries + 1 {
		captions += "[[caption]]\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "a.toml:1: length is missing"},
		{"length = 0\n", "a.toml:1: length = 0: want 0.1 to 600"},
		{"length = 1e9\n", "a.toml:1: length = 1e+09"},
		{"length = 5\n", "a.toml:1: nobody is there"},
		{"\nlength = 5\nterrain = \"moon\"\n", "a.toml:3: terrain = \"moon\""},
		{many, "a.toml:" + itoa(1+4*MaxActors+1) + ": 33 actors: at most 32"},
		{long, "a.toml:1: 7 actors for 600 s: at most 3600"},
		{captions, "1001 tables [[caption]]: at most 1000"},
		{"actor = 3\nlength = 3", "a.toml:1: actor: want tables [[actor]]"},
		{"length = 3\nactor = [3]", "a.toml:2: actor: want tables [[actor]]"},
		{"length = 3\nactor = [{name = \"a\", kind = \"dog\", at = [0, 0], wings = 2}]", "a.toml:2: unknown key \"wings\""},
		{"\nOnce upon a time", "a.toml:2: not TOML: "},
		{strings.Repeat("#", MaxFile+1), "131073 bytes, at most 131072"},
	} {
		if _, err := Read("a.toml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q says %v, want %s", c.text, err, c.want)
		}
	}
	_, err := Read("a.toml", []byte(head+strings.Repeat("[[caption]]\nfrom = -1\nto = 99\ntext = \"\"\n", 5)))
	if err == nil || strings.Count(err.Error(), "\n") != maxErrors || !strings.HasSuffix(err.Error(), "and 5 more") {
		t.Errorf("many faults: %v", err)
	}
	_, err = Read("a.toml", []byte(head+strings.ReplaceAll(actor, "%", "ann")+"[[action]]\nactor = \"bob\"\n"))
	if err == nil || !strings.Contains(err.Error()+"\n", "no actor \"bob\": want ann, rex\n") {
		t.Errorf("two of a name: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Whatever strings and comments hold, lines are counted right.
func TestLines(t *testing.T) {
	l := find("a = \"x # \\\" [[no]]\"\nb = '''\n[[no]]\n\\'''\nc = [ # ]\n 1,\n]\n\"d\" = \"\"\"\\\n x\n\"\"\" # e = 1\n[[t]] # c\n k.x = 1\n[o]\nz = 1\n[[t]]\n'k' = {a = [\n1]}\n")
	if l.keys["a"] != 1 || l.keys["b"] != 2 || l.keys["c"] != 5 || l.keys["d"] != 8 || l.keys["o"] != 13 || len(l.keys) != 5 {
		t.Errorf("%v", l.keys)
	}
	if k := l.tables["t"]; len(l.tables) != 1 || len(k) != 2 || k[0].line != 11 || k[0].keys["k"] != 12 || k[1].line != 15 || k[1].keys["k"] != 16 {
		t.Errorf("%v", l.tables)
	}
}

// Read takes whatever comes, and what it takes is sound.
func FuzzRead(f *testing.F) {
	for _, file := range []string{"../scripts/good-dog.toml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(head + "[[move]]\nactor = \"rex\"\nfrom = 1\npoints = [[5, 4], [9, 4]]\ntimes = [3, 6.5]\n"))
	f.Add([]byte(head + "look = [{actor = \"rex\", target = [1, 2, 3], from = 1}]"))
	f.Add([]byte("a = \"\"\"\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read("f.toml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.toml:") {
				t.Errorf("an error without file and line: %v", err)
			}
			return
		}
		for i := range s.Moves {
			m := &s.Moves[i]
			if len(m.Times) != len(m.Arcs) || m.Actor < 0 || m.Actor >= len(s.Actors) {
				t.Fatalf("%+v", m)
			}
			for k := range m.Times[1:] {
				if !(m.Times[k+1] > m.Times[k]) || !(m.Arcs[k+1] > m.Arcs[k]) {
					t.Fatalf("move %d goes back: %v %v", i, m.Times, m.Arcs)
				}
			}
		}
		for i := range s.Shots {
			for _, c := range []Curve{s.Shots[i].Eye, s.Shots[i].Target} {
				if len(c.Times) != len(c.Points) {
					t.Fatalf("shot %d: %+v", i, c)
				}
			}
		}
		for i := range s.Looks {
			if s.Looks[i].Actor < 0 || s.Looks[i].Target.Actor >= len(s.Actors) {
				t.Fatalf("%+v", s.Looks[i])
			}
		}
	})
}

// The example of docs/cutscene.md can be read.
func TestExample(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/cutscene.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```toml\n")
	text, _, _ = strings.Cut(text, "```")
	if s, err := Read("docs/cutscene.md", []byte(text)); err != nil || len(s.Shots) != 2 {
		t.Error(err)
	}
}

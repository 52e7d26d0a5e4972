package mar

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// small is a database of few frames, for tests of files.
func small(t testing.TB) *Database {
	t.Helper()
	db, err := NewDatabase([]*Take{plain.take("walk", 0, 0.4, 1), old.take("walk", 0, 0.4, 1)}, map[string]float64{"walk": 60})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func encoded(t testing.TB, db *Database, half bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := db.Encode(&b, half); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A database comes back from its file, does the same to the bit, and is written the same again; at
// half precision nearly.
func TestFile(t *testing.T) {
	mine := *database(t)
	db := &mine
	db.Name, db.Data, db.License, db.Card = "test", "made up", "CC0-1.0", "# Test"
	file := encoded(t, db, false)
	path := filepath.Join(t.TempDir(), "styles.safetensors")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, again, false), file) {
		t.Error("written again the file is another")
	}
	if again.Name != "test" || again.Data != "made up" || again.License != "CC0-1.0" || again.Card != "# Test" {
		t.Errorf("came back as %q, %q, %q, %q", again.Name, again.Data, again.License, again.Card)
	}
	half, err := Decode(encoded(t, db, true))
	if err != nil {
		t.Fatal(err)
	}
	in := plain.take("walk", 7, 3, 1.04)
	run := func(db *Database) []float32 {
		s := db.stylist(t, StyleTranslatorOptions{Characters: 1, Workers: 1})
		s.Weights[index1(db.Styles, "old")] = 1
		rows, _ := s.run(in.Clip)
		return rows
	}
	want := run(db)
	if !slices.Equal(run(again), want) {
		t.Error("from its file the database does something else")
	}
	cols := len(db.Columns())
	for f, rows := 0, run(half); f < in.Clip.Frames; f++ {
		if d := db.apart(rows[f*cols:][:cols], want[f*cols:][:cols]); d > 1e-3 {
			t.Fatalf("at half precision frame %d is %.2f mm off", f, 1000*d)
		}
	}
}

// Equal takes make equal files in any order.
func TestOrderOfTakes(t *testing.T) {
	all := takes()
	one, err := NewDatabase(all, map[string]float64{"walk": 60, "amble": 60})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	two, err := NewDatabase(all, map[string]float64{"walk": 60, "amble": 60})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, one, false), encoded(t, two, false)) {
		t.Error("the order of takes changes the file")
	}
}

func TestDatabaseRefuses(t *testing.T) {
	good := func() *Take { return plain.take("walk", 0, 1, 1) }
	bone := good()
	sk := *bone.Clip.Skel
	sk.Offsets = slices.Clone(sk.Offsets)
	sk.Offsets[3].Y -= 0.1
	bone.Clip.Skel = &sk
	for want, edit := range map[string]func(k *Take){
		"action or the style is missing": func(k *Take) { k.Style = "" },
		"too short":                      func(k *Take) { k.Clip = skel.NewClip(k.Clip.Skel, 60, 3) },
		"frames per second":              func(k *Take) { k.Clip.FPS = 30 },
		"register it first":              func(k *Take) { k.Times = nil },
		"increasing":                     func(k *Take) { k.Times[5] = k.Times[4] },
		"not finite":                     func(k *Take) { k.Clip.Rot[7].X = float32(math.NaN()) },
		"its bone to":                    func(k *Take) { k.Clip = bone.Clip },
	} {
		k := good()
		k.Name = "bad"
		edit(k)
		_, err := NewDatabase([]*Take{old.take("walk", 0, 1, 1), k}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("want an error with %q that names the take, got %v", want, err)
		}
	}
	if _, err := NewDatabase(nil, nil); err == nil {
		t.Error("a database without takes was made")
	}
}

// Motion of another skeleton is refused with the first difference.
func TestFits(t *testing.T) {
	db := small(t)
	must.Do(t, db.Fits(db.Skeleton()))
	for want, edit := range map[string]func(s *skel.Skeleton){
		"a skeleton of 3 joints, ": func(s *skel.Skeleton) {
			s.Names, s.Parents, s.Offsets, s.EndSite = s.Names[:3], s.Parents[:3], s.Offsets[:3], s.EndSite[:3]
		},
		`, "Pelvis", …: want `: func(s *skel.Skeleton) { s.Names[0] = "Pelvis" },
		"retarget it first":    func(s *skel.Skeleton) { s.Parents[2] = 0 },
		"its bone to LeftLeg is (0 -1 0), want (": func(s *skel.Skeleton) {
			s.Offsets[slices.Index(s.Names, "LeftLeg")] = m3.V(0, -1, 0)
		},
	} {
		sk := *db.Skeleton()
		sk.Names, sk.Parents, sk.Offsets = slices.Clone(sk.Names), slices.Clone(sk.Parents), slices.Clone(sk.Offsets)
		edit(&sk)
		must.FailWith(t, db.Fits(&sk), want)
		must.Fail(db.Rows(skel.NewClip(&sk, 60, 2)))(t, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	file := encoded(t, small(t), false)
	meta, arrays, err := netruntime.DecodeArrays(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, edit := range map[string]func(m *netruntime.Meta, a map[string]*netruntime.Tensor){
		"architecture":      func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { m.Arch = "poem" },
		"metadata takes":    func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { m.Extra = nil },
		"metadata skeleton": func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { m.Skeleton = "{" },
		"the takes need": func(m *netruntime.Meta, a map[string]*netruntime.Tensor) {
			a["times"].Data = a["times"].Data[1:]
			a["times"].Shape[0]--
		},
		"array stands is missing": func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { delete(a, "stands") },
		"finite":                  func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { a["rows"].Data[100] = float32(math.Inf(1)) },
		"want 0 to 3":             func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { a["stands"].Data[1] = 0.5 },
		"increasing":              func(m *netruntime.Meta, a map[string]*netruntime.Tensor) { a["times"].Data[3] = 0 },
		"frames per second":       replaceTakes(`"fps":60`, `"fps":0`),
		"of action 9":             replaceTakes(`"action":0`, `"action":9`),
		"0 actions":               replaceTakes(`"actions":["walk"]`, `"actions":[]`),
		"a period of -1":          replaceTakes(`"periods":[60]`, `"periods":[-1]`),
		"2 periods":               replaceTakes(`"periods":[60]`, `"periods":[60,60]`),
		"want 6 to":               replaceTakes(`"frames":25`, `"frames":2`),
	} {
		m := meta
		m.Extra = map[string]string{keyTakes: meta.Extra[keyTakes]}
		list := map[string]*netruntime.Tensor{}
		for _, a := range arrays {
			list[a.Name] = &netruntime.Tensor{Name: a.Name, Shape: slices.Clone(a.Shape), Data: slices.Clone(a.Data)}
		}
		edit(&m, list)
		var all []netruntime.Tensor
		for _, a := range list {
			all = append(all, *a)
		}
		var b bytes.Buffer
		if err := netruntime.EncodeArrays(&b, m, all, nil); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if _, err := Decode(b.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := Decode(file[:len(file)-1]); err == nil {
		t.Error("a file cut short was read")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func replaceTakes(from, to string) func(m *netruntime.Meta, a map[string]*netruntime.Tensor) {
	return func(m *netruntime.Meta, a map[string]*netruntime.Tensor) {
		m.Extra[keyTakes] = strings.Replace(m.Extra[keyTakes], from, to, 1)
	}
}

// tiny is a database of a figure of a root and two legs.
func tiny(t testing.TB) *Database {
	t.Helper()
	sk := &skel.Skeleton{Names: []string{"root", "left", "right"}, Parents: []int16{-1, 0, 0}, Offsets: []m3.Vec3{{}, {X: 0.1, Y: -0.9}, {X: -0.1, Y: -0.9}}, EndSite: make([]bool, 3)}
	var all []*Take
	for i, name := range []string{"plain", "wide"} {
		k := &Take{Name: name, Action: "walk", Style: name, Clip: skel.NewClip(sk, 60, 12), Stands: make([]uint8, 12)}
		for f := range 12 {
			k.Times = append(k.Times, float64(f))
			pos, rot := k.Clip.Frame(f)
			pos[0].Y, pos[0].Z = 1, 0.1*float32(f)
			rot[1] = m3.AxisAngle(m3.V(1, 0, 0), 0.1*float32(f*(i+1)))
		}
		all = append(all, k)
	}
	db, err := NewDatabase(all, map[string]float64{"walk": 10})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, tiny(f), false))
	f.Add(encoded(f, tiny(f), true))
	f.Add(bytes.Replace(encoded(f, tiny(f), false), []byte("checksum"), []byte("comments"), 1)) // changed bytes get further
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := Decode(b)
		if err != nil {
			return
		}
		s, err := db.NewStyleTranslator(StyleTranslatorOptions{Characters: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Weights[0] = 1
		c := skel.NewClip(db.Skeleton(), float64(db.FPS), 3)
		for i := range c.Frames {
			pos, rot := c.Frame(i)
			row, _ := s.Step(0, pos, rot)
			for _, v := range row {
				if v != v {
					t.Fatalf("a database without NaN makes one")
				}
			}
		}
	})
}

// Match finds the frames at the same time: exactly where times are equal, by whole periods where
// one has ended, and nowhere where there is none.
func TestMatch(t *testing.T) {
	line := func(from, step float32, n int) []float32 {
		var out []float32
		for i := range n {
			out = append(out, from+step*float32(i))
		}
		return out
	}
	for name, c := range map[string]struct {
		a, b   []float32
		period float32
		want   []float32
	}{
		"equal":                  {line(0, 1, 4), line(0, 1, 4), 0, []float32{0, 1, 2, 3}},
		"twice as fast":          {line(0, 2, 4), line(0, 1, 7), 0, []float32{0, 2, 4, 6}},
		"half as fast":           {line(0, 1, 4), line(0, 2, 3), 0, []float32{0, 0.5, 1, 1.5}},
		"out of reach":           {line(-2, 1, 6), line(0, 1, 3), 0, []float32{-1, -1, 0, 1, 2, -1}},
		"from a later cycle":     {line(12, 1, 3), line(0, 1, 9), 10, []float32{2, 3, 4}},
		"both begin together":    {line(12, 1, 3), line(0, 1, 41), 10, []float32{2, 3, 4}},
		"it ends and goes back":  {line(0, 2, 8), line(0, 1, 13), 10, []float32{0, 2, 4, 6, 8, 10, 12, 4}},
		"it begins in the midst": {line(0, 1, 3), line(7, 1, 11), 10, []float32{3, 4, 5}},
	} {
		got := make([]float32, len(c.a))
		Match(got, c.a, c.b, c.period)
		for i, v := range got {
			if math.Abs(float64(v-c.want[i])) > 1e-5 {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				break
			}
		}
	}
}

// What a file says of its takes may be anything, with arrays that fit and that do not.
func FuzzContents(f *testing.F) {
	meta, arrays, err := netruntime.DecodeArrays(encoded(f, tiny(f), false))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(meta.Extra[keyTakes], meta.Skeleton, 3, float32(2))
	f.Fuzz(func(t *testing.T, takes, skeleton string, at int, v float32) {
		m := meta
		m.Extra, m.Skeleton = map[string]string{keyTakes: takes}, skeleton
		list := slices.Clone(arrays)
		for i := range list {
			list[i].Data = slices.Clone(list[i].Data)
			list[i].Data[max(at, -at, 0)%len(list[i].Data)] = v
		}
		db, err := decode(&m, list)
		if err != nil {
			return
		}
		s, err := db.NewStyleTranslator(StyleTranslatorOptions{Characters: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Weights[len(db.Styles)-1] = 1
		c := skel.NewClip(db.Skeleton(), float64(db.FPS), 3)
		for i := range c.Frames {
			pos, rot := c.Frame(i)
			row, _ := s.Step(0, pos, rot)
			for _, v := range row {
				if v != v {
					t.Fatal("a database without NaN makes one")
				}
			}
		}
	})
}

// A class goes as fast as the roots of its takes do.
func TestSpeed(t *testing.T) {
	takes := []*Take{plain.take("walk", 1, 4, 1), plain.take("walk", 2, 4, 1.3), old.take("walk", 1, 3, 1)}
	db, err := NewDatabase(takes, map[string]float64{"walk": 60})
	if err != nil {
		t.Fatal(err)
	}
	for s, style := range db.Styles {
		way, seconds := float32(0), float32(0)
		for _, tk := range takes {
			if tk.Style == style {
				n := tk.Clip.Skel.Len()
				for f := 1; f < tk.Clip.Frames; f++ {
					way += tk.Clip.Pos[f*n].Sub(tk.Clip.Pos[(f-1)*n]).Flat().Len()
				}
				seconds += float32(tk.Clip.Seconds())
			}
		}
		if got, want := db.Speed(0, s), way/seconds; m3.Abs(got-want) > 0.02*want || want < 0.1 {
			t.Errorf("%s goes at %g m/s, want %g", style, got, want)
		}
	}
	if v := db.Speed(1, 0); v != 0 {
		t.Errorf("an action that is not there goes at %g m/s", v)
	}
}

// A checksum is that of the motion.
func TestChecksum(t *testing.T) {
	sum := func(db *Database) string {
		t.Helper()
		s, err := db.Checksum()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	db := small(t)
	was := sum(db)
	db.Name, db.Card = "another", "# Card"
	if sum(db) != was {
		t.Error("another name has another checksum")
	}
	db.rows[len(db.rows)-1] += 0.01
	if sum(db) == was {
		t.Error("other motion has the same checksum")
	}
}

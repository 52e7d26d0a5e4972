package mocap

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func readStick(t testing.TB, asf, amc string) *Recording {
	t.Helper()
	a := must.Get(ReadASF("stick.asf", []byte(asf)))(t)
	return must.Get(a.ReadAMC("stick.amc", []byte(amc), AMCRate))(t)
}

// Positions that paper and pencil give, in world space.
func TestAMC(t *testing.T) {
	radians := strings.NewReplacer(":DEGREES", ":RADIANS", "90", fmt.Sprint(math.Pi/2)).Replace(stickAMC)
	bare := strings.Replace(stickAMC, ":FULLY-SPECIFIED\n:DEGREES\n", "", 1)
	shuffled := strings.Replace(stickAMC, "root 1 2 3 0 90 0\nback 90 90 0\nleg 90 0.5 2\n", "leg 90 0.5 2\n  ROOT\t1 2 3 0 90 0 # where\nback 90 90 0\n\n", 1)
	for name, text := range map[string]string{"as it is": stickAMC, "CRLF": strings.ReplaceAll(stickAMC, "\n", "\r\n"), "radians": radians,
		"no flags": bare, "another order, comments": shuffled, "a later start": strings.NewReplacer("\n1\n", "\n7\n", "\n2\n", "\n8\n").Replace(stickAMC)} {
		b := readStick(t, stickASF, text)
		c := b.Clip
		if c.Frames != 2 || c.FPS != 120 || b.FrameTime != 1./120 || len(b.Notes) > 0 {
			t.Fatalf("%s: %d frames at %g, %v", name, c.Frames, c.FPS, b.Notes)
		}
		model := make([]m3.Xform, c.Skel.Len())
		for f, want := range []map[string]m3.Vec3{
			{
				"root": m3.V(1, 3, 3),
				// x first: up turns to the front; then y: the front to +x; then the root's y: +x to the back.
				"backSite": m3.V(1, 3, -1),
				// The hip is fixed. The leg moves by 0.5 along z, turned by the root to +x.
				"leg": m3.V(1.5, 1.5, 3),
				// Its x axis is the world's y: +z turns to +x, and the root's turn makes that −z; 3 + 2 long.
				"legSite": m3.V(1.5, 1.5, -2),
			},
			{"root": m3.V(1, 3, 4), "back": m3.V(1, 3, 4), "backSite": m3.V(1, 7, 4), "leg": m3.V(1, 1.5, 4), "legSite": m3.V(1, 1.5, 7)},
		} {
			c.Model(model, f)
			for joint, p := range want {
				if got := model[c.Skel.Index(joint)].Pos; !(got.Dist(p) <= 1e-5) {
					t.Errorf("%s, frame %d: %s is at %v, want %v", name, f, joint, got, p)
				}
			}
		}
	}
}

// A bone that a frame does not name is at rest in it, and noted.
func TestAMCGaps(t *testing.T) {
	b := readStick(t, stickASF, "5\nroot 0 0 0 90 0 0\nleg 90 1 1\n6\nback 90 0 0\n7\n")
	pos, rot := b.Clip.Frame(2)
	for j := range pos {
		if pos[j] != b.Clip.Skel.Offsets[j] || rot[j] != m3.Ident {
			t.Errorf("%s is not at rest: %v %v", b.Clip.Skel.Names[j], pos[j], rot[j])
		}
	}
	want := `[stick.amc:4: bone "root" is not in 2 of 3 frames and at rest there stick.amc:1: bone "back" is not in 2 of 3 frames and at rest there stick.amc:4: bone "leg" is not in 2 of 3 frames and at rest there]`
	if got := fmt.Sprint(b.Notes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAMCErrors(t *testing.T) {
	far := strings.NewReplacer("position 0 1 0", "position 0 100 0", "length 3", "length 300").Replace(stickASF)
	a := must.Get(ReadASF("stick.asf", []byte(far)))(t)
	for _, c := range []struct{ text, want string }{
		{"", `f:1: expected the number of the first frame, found the end of the file`},
		{"# nothing\n:DEGREES\n", `f:3: expected the number of the first frame, found the end of the file`},
		{"\x00\x01garbage", `f:1: expected a flag such as :DEGREES or the number of the first frame, found "garbage"`},
		{":DEGREES\nroot 1 2 3 0 0 0", `f:2: expected a flag such as :DEGREES or the number of the first frame, found "root"`},
		{"1\nroot 1 2 3 0 0 0\narm 1", `f:3: expected a bone of stick.asf or the number of a frame, found "arm"`},
		{"1\nleg 1 2", `f:2: bone "leg" has the degrees of freedom rx tz l in stick.asf: expected 3 values, found 2`},
		{"1\nleg 1 2 3 4", `f:2: bone "leg" has the degrees of freedom rx tz l in stick.asf: expected 3 values, found "4" after them`},
		{"1\nhip 1", `f:2: bone "hip" has no degrees of freedom in stick.asf: expected 0 values, found "1" after them`},
		{"1\nleg 1 x 3", `f:2: expected tz of bone "leg", a number, found "x"`},
		{"1\nleg 1 -1.#IND00 3", `f:2: expected tz of bone "leg", a number, found "-1.#IND00"`},
		{"1\nleg 1 2 1e999", `f:2: l of bone "leg" is 1e999: beyond ±1e+09`},
		{"1\nleg 1 2 1e9", `f:2: bone "leg" is beyond ±1e+09 long`},
		{"1\nroot 0 1e9 0 0 0 0", `f:2: bone "root" is moved beyond ±1e+09`},
		{"1\nleg 1 2 3\nleg 1 2 3", `f:3: bone "leg" is in the frame twice`},
		{"1\n3", `f:2: expected the number of frame 2, frames count upwards by one, found "3"`},
		{"2\n2", `found "2"`},
		{"2\r\n1", `f:2: expected the number of frame 3`},
		{"99999999999999999999", `found "99999999999999999999"`},
		{"9223372036854775807\n9223372036854775808", `f:2: expected the number of frame`},
		{"1 2", `f:1: expected the end of the line after the number of a frame, found "2"`},
		{strings.TrimSuffix(stickAMC, "leg 0 0 0\n"), `f:11: the file ends after 2 bones of frame 2, of 3 in the frame before: it was cut off`},
		{strings.Repeat("1\n", 500000), `f:1: 500000 frames of 6 joints, most of them without values, need more than the 77 MB that a file of 1000000 bytes may take`},
	} {
		_, err := a.ReadAMC("f", []byte(c.text), 60)
		refused(t, err, c.want)
	}
	for _, fps := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-9, 1e9} {
		if _, err := a.ReadAMC("f", []byte("1\n"), fps); err == nil || !strings.Contains(err.Error(), "expected a rate") {
			t.Errorf("%g: %v", fps, err)
		}
	}
}

// A file that was cut inside of a frame never reads as a whole one.
func TestAMCTruncation(t *testing.T) {
	a := must.Get(ReadASF("stick.asf", []byte(stickASF)))(t)
	second := strings.Index(stickAMC, "\n2\n") + 1
	for n := second + 1; n < strings.LastIndexByte(stickAMC, ' ')+1; n++ {
		if b, err := a.ReadAMC("f", []byte(stickAMC[:n]), 60); err == nil {
			t.Fatalf("%d of %d bytes read as %d frames", n, len(stickAMC), b.Clip.Frames)
		}
	}
}

// actor is a random skeleton with its motion, in the format's own numbers.
type actor struct {
	parents    []int // −1 for the root
	direction  [][3]float64
	length     []float64
	angles     [][3]float64
	order      []string
	dofs       [][]dof // the root's are the last entry
	frames     [][][]float64
	start      [3]float64
	startAngle [3]float64
	rad        bool
}

func genActor(t *rapid.T) *actor {
	a := &actor{rad: rapid.Bool().Draw(t, "radians")}
	turn := 400.0
	if a.rad {
		turn = 7
	}
	triple := func(r float64, name string) (v [3]float64) {
		for k := range v {
			v[k] = rapid.Float64Range(-r, r).Draw(t, name)
		}
		return v
	}
	n := rapid.IntRange(1, 6).Draw(t, "bones")
	for j := range n {
		a.parents = append(a.parents, rapid.IntRange(-1, j-1).Draw(t, "parent"))
		d := triple(1, "direction")
		if l := math.Hypot(math.Hypot(d[0], d[1]), d[2]); l > 0.1 {
			a.direction = append(a.direction, scale3(d, 1/l))
		} else {
			a.direction = append(a.direction, [3]float64{0, 1, 0})
		}
		a.length = append(a.length, rapid.Float64Range(0, 20).Draw(t, "length"))
		a.angles = append(a.angles, triple(turn, "axis"))
		a.order = append(a.order, rapid.SampledFrom([]string{"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"}).Draw(t, "order"))
		d7 := rapid.Permutation([]dof{0, 1, 2, 3, 4, 5, stretch}).Draw(t, "dofs")
		a.dofs = append(a.dofs, d7[:rapid.IntRange(0, 7).Draw(t, "count")])
	}
	a.dofs = append(a.dofs, rapid.Permutation([]dof{0, 1, 2, 3, 4, 5}).Draw(t, "root's order"))
	a.start, a.startAngle = triple(10, "position"), triple(turn, "orientation")
	for range rapid.IntRange(1, 3).Draw(t, "frames") {
		frame := make([][]float64, n+1)
		for j, list := range a.dofs {
			for _, d := range list {
				r := 20.0
				if d.rotation() {
					r = turn
				}
				frame[j] = append(frame[j], rapid.Float64Range(-r, r).Draw(t, "value"))
			}
		}
		a.frames = append(a.frames, frame)
	}
	return a
}

func (a *actor) text() (asf, amc string) {
	unit := "deg"
	if a.rad {
		unit = "rad"
	}
	names := func(list []dof) (s string) {
		for _, d := range list {
			s += " " + dofNames[d]
		}
		return s
	}
	var b, m strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(":units\nangle %s\n:root\norder%s\naxis XYZ\nposition %v %v %v", unit, names(a.dofs[len(a.parents)]), a.start[0], a.start[1], a.start[2])
	line("orientation %v %v %v\n:bonedata", a.startAngle[0], a.startAngle[1], a.startAngle[2])
	for j := range a.parents {
		d, r := a.direction[j], a.angles[j]
		line("begin\nname b%d\ndirection %v %v %v\nlength %v\naxis %v %v %v %s\ndof%s\nend", j, d[0], d[1], d[2], a.length[j], r[0], r[1], r[2], a.order[j], names(a.dofs[j]))
	}
	line(":hierarchy")
	for j, p := range a.parents {
		parent := "root"
		if p >= 0 {
			parent = fmt.Sprint("b", p)
		}
		line("%s b%d", parent, j)
	}
	for f, frame := range a.frames {
		fmt.Fprintln(&m, f+1)
		for j, values := range frame {
			name := fmt.Sprint("b", j)
			if j == len(a.parents) {
				name = "root"
			}
			fmt.Fprintln(&m, name, strings.Trim(fmt.Sprint(values), "[]"))
		}
	}
	return b.String(), m.String()
}

func (a mat) transposed() (r mat) {
	for i := range 3 {
		for j := range 3 {
			r[i][j] = a[j][i]
		}
	}
	return r
}

func (a mat) apply(v [3]float64) (r [3]float64) {
	for i := range 3 {
		for j := range 3 {
			r[i] += a[i][j] * v[j]
		}
	}
	return r
}

func sum3(a, b [3]float64) [3]float64 { return [3]float64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// motion returns the matrix of a bone's rotations, its translation and its
// stretch in a frame: the first rotation is the innermost factor.
func (a *actor) motion(j, f int) (m mat, move [3]float64, l float64) {
	m = mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	unit := 1.0
	if a.rad {
		unit = 180 / math.Pi
	}
	for k, d := range a.dofs[j] {
		switch v := a.frames[f][j][k]; {
		case d == stretch:
			l = v
		case d.rotation():
			m = axisMat(Channel(d).Axis(), v*unit).mul(m)
		default:
			move[d] = v
		}
	}
	return m, move, l
}

// Joints are where the format's bones start and end in world space, by float64 matrices.
func TestAMCForwardKinematics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := genActor(t)
		asf, amc := src.text()
		a := must.Get(ReadASF("a.asf", []byte(asf)))(t)
		b := must.Get(a.ReadAMC("a.amc", []byte(amc), AMCRate))(t)
		if b.Clip.Frames != len(src.frames) || len(b.Notes) > 0 {
			t.Fatal(b.Clip.Frames, b.Notes)
		}
		c := b.Clip
		n := len(src.parents)
		model := make([]m3.Xform, c.Skel.Len())
		unit := 1.0
		if src.rad {
			unit = 180 / math.Pi
		}
		near := func(joint string, p [3]float64, f int) {
			got := model[c.Skel.Index(joint)].Pos
			if !(got.Dist(m3.V(float32(p[0]), float32(p[1]), float32(p[2]))) <= 1e-3) {
				t.Fatalf("frame %d: %s is at %v, want %v", f, joint, got, p)
			}
		}
		for f := range src.frames {
			c.Model(model, f)
			world, ends := make([]mat, n), make([][3]float64, n)
			s := src.startAngle
			axes := axisMat(2, s[2]*unit).mul(axisMat(1, s[1]*unit)).mul(axisMat(0, s[0]*unit))
			m, move, _ := src.motion(n, f)
			rootTurn, rootPos := axes.mul(m).mul(axes.transposed()), sum3(src.start, move)
			near("root", rootPos, f)
			leaf := make([]bool, n)
			for j, p := range src.parents {
				leaf[j] = true
				up, start := rootTurn, rootPos
				if p >= 0 {
					up, start, leaf[p] = world[p], ends[p], false
				}
				axes := mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
				for _, letter := range src.order[j] {
					k := int(letter - 'X')
					axes = axisMat(k, src.angles[j][k]*unit).mul(axes)
				}
				m, move, l := src.motion(j, f)
				start = sum3(start, up.mul(axes).apply(move))
				world[j] = up.mul(axes).mul(m).mul(axes.transposed())
				ends[j] = sum3(start, world[j].apply(scale3(src.direction[j], src.length[j]+l)))
				near(fmt.Sprint("b", j), start, f)
				if e := world[j].angleTo(model[c.Skel.Index(fmt.Sprint("b", j))].Rot); !(e <= 1e-3) {
					t.Fatalf("frame %d: b%d is %g° off", f, j, e)
				}
			}
			for j := range n {
				if leaf[j] {
					near(fmt.Sprintf("b%dSite", j), ends[j], f)
				}
			}
		}
		again := rewritten(t, b)
		must.Do(t, sameClip(c, again.Clip, 0, 1e-4))
		if fmt.Sprint(again.Channels) != fmt.Sprint(b.Channels) {
			t.Fatalf("channels %v became %v", b.Channels, again.Channels)
		}
	})
}

func TestFindASF(t *testing.T) {
	for _, c := range []struct {
		amc, files, want string
	}{
		{"35_01.amc", "35.asf 3.asf 36.asf", "35.asf"},
		{"35_01.amc", "35_01.asf 35.asf", "35_01.asf"},
		{"35_01.AMC", "35.ASF x.asf", "35.ASF"},
		{"take_1_mm_jump_120.amc", "take_1_mm.asf take_1.asf take_2_mm.asf", "take_1_mm.asf"},
		{"walk.amc", "someone.asf", "someone.asf"},
		{"walk_1.amc", "a.asf b.asf", "no skeleton: 2 ASF files in its folder, none of them called walk.asf: name the right one"},
		{"walk.amc", "", "no skeleton: 0 ASF files"},
	} {
		dir := t.TempDir()
		for _, name := range strings.Fields(c.files) {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		}
		got, err := FindASF(filepath.Join(dir, c.amc))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), filepath.Join(dir, c.amc)) {
				t.Errorf("%s in %s: %v", c.amc, c.files, err)
			}
		} else if got != filepath.Join(dir, c.want) {
			t.Errorf("%s in %s: %s, want %s", c.amc, c.files, got, c.want)
		}
	}
	if _, err := FindASF(filepath.Join(t.TempDir(), "none", "1.amc")); err == nil {
		t.Error("no folder, but no error")
	}
}

func FuzzReadAMC(f *testing.F) {
	f.Add([]byte(stickASF), []byte(stickAMC))
	f.Add([]byte(stickASF), []byte(strings.ReplaceAll(stickAMC, "\n", "\r\n")))
	f.Add([]byte(stickASF), []byte(":RADIANS\n5\nroot 0 0 0 1e9 0 0\nleg 1.5 1 -1e3\n6\nback -.5e-3 0 3.2\n7\n"))
	f.Fuzz(func(t *testing.T, asf, amc []byte) {
		a, err := ReadASF("fuzz", asf)
		if err != nil {
			return
		}
		b, err := a.ReadAMC("fuzz", amc, AMCRate)
		if saved, serr := a.readAMC("fuzz", amc, AMCRate, true); serr == nil {
			if n := saved.Clip.Frames * a.Skel.Len(); saved.Clip.Frames == 0 || len(saved.Clip.Pos) != n || len(saved.Clip.Rot) != n || notFinite(saved.Clip.Pos) {
				t.Fatalf("%d frames, %d positions", saved.Clip.Frames, len(saved.Clip.Pos))
			}
			if err == nil {
				must.Do(t, sameClip(saved.Clip, b.Clip, 0, 1e-3))
			}
		} else if err == nil {
			t.Fatal(serr)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatal(err)
			}
			return
		}
		if len(b.Clip.Pos) > 20000 {
			return // frames without values: nothing to learn, and slow
		}
		again := rewritten(t, b)
		must.Do(t, sameClip(b.Clip, again.Clip, 0, 1e-3))
	})
}

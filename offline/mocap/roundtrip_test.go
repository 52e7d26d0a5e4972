package mocap

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// mat is a 3×3 rotation matrix, the oracle for quaternions and Euler angles.
type mat [3][3]float64

// axisMat is the textbook rotation matrix about axis 0, 1 or 2.
func axisMat(axis int, deg float64) mat {
	s, c := math.Sincos(deg * math.Pi / 180)
	switch axis {
	case 0:
		return mat{{1, 0, 0}, {0, c, -s}, {0, s, c}}
	case 1:
		return mat{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}
	}
	return mat{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}
}

func (a mat) mul(b mat) (r mat) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				r[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return r
}

// angleTo returns the angle in degrees between the rotation a and q.
func (a mat) angleTo(q m3.Quat) float64 {
	sum := 0.0
	for j, e := range []m3.Vec3{{X: 1}, {Y: 1}, {Z: 1}} {
		v := q.Rotate(e)
		for i, x := range [3]float32{v.X, v.Y, v.Z} {
			sum += (a[i][j] - float64(x)) * (a[i][j] - float64(x))
		}
	}
	// ‖A−B‖² = 8 sin²(θ/2) for rotation matrices.
	return 2 * math.Asin(min(math.Sqrt(sum/8), 1)) * 180 / math.Pi
}

// source is a random BVH in the form that the format speaks of: values.
type source struct {
	parents  []int
	offsets  [][3]float64
	channels [][]Channel
	ends     []bool
	frames   [][]float64
}

// text spells the file with the given separators between words and lines.
func (s *source) text(sep, eol string) string {
	var b strings.Builder
	b.WriteString("HIERARCHY" + eol)
	var walk func(p int, word string)
	walk = func(p int, word string) {
		for j, q := range s.parents {
			if q != p {
				continue
			}
			fmt.Fprintf(&b, "%s j%d%s{%sOFFSET%s%v%s%v%s%v%sCHANNELS%s%d", word, j, eol, sep,
				sep, s.offsets[j][0], sep, s.offsets[j][1], sep, s.offsets[j][2], eol, sep, len(s.channels[j]))
			for _, c := range s.channels[j] {
				b.WriteString(sep + c.String())
			}
			b.WriteString(eol)
			if s.ends[j] {
				b.WriteString("End Site" + eol + "{" + sep + "OFFSET 1 2 3" + sep + "}" + eol)
			}
			walk(j, "JOINT")
			b.WriteString("}" + eol)
		}
	}
	walk(-1, "ROOT")
	fmt.Fprintf(&b, "MOTION%sFrames:%s%d%sFrame Time:%s.0166667%s", eol, sep, len(s.frames), eol, sep, eol)
	for _, f := range s.frames {
		for _, v := range f {
			fmt.Fprintf(&b, "%v%s", v, sep)
		}
		b.WriteString(eol)
	}
	return b.String()
}

func genSource(t *rapid.T) *source {
	s := &source{}
	n := rapid.IntRange(1, 6).Draw(t, "joints")
	for j := range n {
		// Depth first: a parent is the last joint or one of its ancestors.
		p := j - 1
		for up := rapid.IntRange(0, 3).Draw(t, "up"); up > 0 && p >= 0; up-- {
			p = s.parents[p]
		}
		s.parents = append(s.parents, p)
		length := rapid.Float64Range(-50, 50)
		s.offsets = append(s.offsets, [3]float64{length.Draw(t, "x"), length.Draw(t, "y"), length.Draw(t, "z")})
		order := rapid.Permutation([]Channel{0, 1, 2, 3, 4, 5}).Draw(t, "channels")
		s.channels = append(s.channels, order[:rapid.IntRange(0, 6).Draw(t, "count")])
		s.ends = append(s.ends, rapid.Bool().Draw(t, "end"))
	}
	angle := rapid.OneOf(
		rapid.Float64Range(-400, 400),
		rapid.SampledFrom([]float64{0, 90, -90, 180, -180, 270, 90.0001, 89.99999, -90.000001, 1e-5}))
	for range rapid.IntRange(0, 4).Draw(t, "frames") {
		var f []float64
		for _, list := range s.channels {
			for _, c := range list {
				if c.Rotation() {
					f = append(f, angle.Draw(t, "angle"))
				} else {
					f = append(f, rapid.Float64Range(-900, 900).Draw(t, "pos"))
				}
			}
		}
		s.frames = append(s.frames, f)
	}
	return s
}

// nearest32 is the float32 nearest to the text that fmt prints for v.
func nearest32(v float64) float32 {
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 32)
	return float32(f)
}

func TestReadAndRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := genSource(t)
		sep := rapid.SampledFrom([]string{" ", "\t", "  "}).Draw(t, "sep")
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r", "\n\n"}).Draw(t, "eol")
		b := must.Get(ReadBVH("src.bvh", []byte(src.text(sep, eol))))(t)
		c := b.Clip
		if c.Frames != len(src.frames) || c.FPS != 60 || c.Skel.Validate() != nil {
			t.Fatalf("%d frames at %g, %v", c.Frames, c.FPS, c.Skel.Validate())
		}
		for f, values := range src.frames {
			pos, rot := c.Frame(f)
			for j := range src.parents {
				k := c.Skel.Index(fmt.Sprintf("j%d", j))
				want := mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
				p := src.offsets[j]
				for _, ch := range src.channels[j] {
					if ch.Rotation() {
						want = want.mul(axisMat(ch.Axis(), values[0]))
					} else {
						p[ch.Axis()] = values[0]
					}
					values = values[1:]
				}
				if e := want.angleTo(rot[k]); !(e <= 1e-4) {
					t.Fatalf("frame %d, joint %d is %g° off", f, j, e)
				}
				if pos[k] != m3.V(nearest32(p[0]), nearest32(p[1]), nearest32(p[2])) {
					t.Fatalf("frame %d, joint %d is at %v, not %v", f, j, pos[k], p)
				}
			}
		}

		again := rewritten(t, b)
		if fmt.Sprint(again.Channels) != fmt.Sprint(b.Channels) {
			t.Fatalf("channels %v became %v", b.Channels, again.Channels)
		}
		must.Do(t, sameClip(c, again.Clip, 1e-6, 1e-4))

		must.Do(t, sameClip(c, rewritten(t, usual(c)).Clip, 5e-5, 1e-4))
	})
}

// rewritten writes b and reads it again.
func rewritten(t rapid.TB, b *Recording) *Recording {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, b.Write(&out))
	again, err := ReadBVH("again", out.Bytes())
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.Bytes())
	}
	return again
}

// refused checks that reading f failed with an error of one line that has want in it.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:") {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// sameClip returns an error unless b equals a to the given units and degrees.
func sameClip(a, b *skel.Clip, units float32, degrees float64) error {
	if a.Frames != b.Frames || a.FPS != b.FPS || !slices.Equal(a.Skel.Names, b.Skel.Names) || !slices.Equal(a.Skel.Parents, b.Skel.Parents) ||
		!slices.Equal(a.Skel.Offsets, b.Skel.Offsets) || !slices.Equal(a.Skel.EndSite, b.Skel.EndSite) {
		return fmt.Errorf("%d frames at %g of %v became %d at %g of %v", a.Frames, a.FPS, a.Skel, b.Frames, b.FPS, b.Skel)
	}
	for i := range a.Pos {
		d := a.Pos[i].Sub(b.Pos[i])
		if m := max(m3.Abs(d.X), m3.Abs(d.Y), m3.Abs(d.Z)); !(m <= units) {
			return fmt.Errorf("frame %d, joint %d moved by %g", i/a.Skel.Len(), i%a.Skel.Len(), m)
		}
		if e := float64(a.Rot[i].Angle(b.Rot[i])) * 180 / math.Pi; !(e <= degrees) {
			return fmt.Errorf("frame %d, joint %d turned by %g°", i/a.Skel.Len(), i%a.Skel.Len(), e)
		}
	}
	return nil
}

// A clip that left its channels behind is still written whole.
func TestWriteWidens(t *testing.T) {
	b, err := ReadBVH("x", []byte(`HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 2 Yrotation Xrotation
		JOINT b
		{ OFFSET 1 2 3 CHANNELS 1 Zrotation } } MOTION Frames: 2 Frame Time: 0.1  10 20 30  -170 80 30`))
	if err != nil {
		t.Fatal(err)
	}
	q := m3.FromRotationVector(m3.V(0.3, -0.4, 1))
	b.Clip.Pos[1].Y = 7
	b.Clip.Rot[2] = q
	got := rewritten(t, b)
	if s := fmt.Sprint(got.Channels); s != "[[Yrotation Xrotation Zrotation] [Yposition Zrotation]]" {
		t.Error(s)
	}
	must.Do(t, sameClip(b.Clip, got.Clip, 1e-6, 1e-4))
}

// A hundredth of a degree about an axis without a channel is not lost.
func TestWriteWidensForSmallTurns(t *testing.T) {
	b := must.Get(ReadBVH("x", []byte("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Yrotation } MOTION Frames: 1 Frame Time: 0.1  10")))(t)
	b.Clip.Rot[0] = b.Clip.Rot[0].Mul(m3.AxisAngle(m3.V(1, 0, 0), 0.01*math.Pi/180))
	got := rewritten(t, b)
	must.Do(t, sameClip(b.Clip, got.Clip, 0, 1e-3))
}

// Curves that are written do not jump by whole turns.
func TestWriteIsContinuous(t *testing.T) {
	s := &skel.Skeleton{Names: []string{"a"}, Parents: []int16{-1}, Offsets: []m3.Vec3{{}}, EndSite: []bool{false}}
	c := skel.NewClip(s, 30, 200)
	for f := range c.Rot {
		// Z runs through three turns and X beyond the pole at 90°.
		c.Rot[f] = m3.AxisAngle(m3.V(0, 0, 1), float32(f)*0.1).Mul(m3.AxisAngle(m3.V(1, 0, 0), float32(f)*0.02)).Mul(m3.YawQuat(0.5))
	}
	var out bytes.Buffer
	must.Do(t, WriteClip(&out, c))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	lines = lines[len(lines)-c.Frames:]
	var prev [3]float64
	for f, l := range lines {
		var x, y, z float64
		var a [3]float64
		must.Get(fmt.Sscan(l, &x, &y, &z, &a[0], &a[1], &a[2]))(t)
		for k := range a {
			if d := math.Abs(a[k] - prev[k]); f > 0 && !(d <= 15) {
				t.Errorf("frame %d: angle %d jumps by %g°", f, k, d)
			}
		}
		prev = a
	}
	if !(math.Abs(prev[0]-199*0.1*180/math.Pi) <= 1e-3) {
		t.Errorf("the turns were lost: Z ends at %g°", prev[0])
	}
}

func TestWriteRefuses(t *testing.T) {
	nan := float32(math.NaN())
	fresh := func() *skel.Clip {
		s := &skel.Skeleton{Names: []string{"a", "aSite"}, Parents: []int16{-1, 0},
			Offsets: []m3.Vec3{{}, {Y: 1}}, EndSite: []bool{false, true}}
		return skel.NewClip(s, 30, 2)
	}
	must.Do(t, WriteClip(&bytes.Buffer{}, fresh()))
	for want, spoil := range map[string]func(*skel.Clip){
		"not a finite transform": func(c *skel.Clip) { c.Pos[0].X = nan },
		"frame 1 of joint \"a\"": func(c *skel.Clip) { c.Rot[2].W = nan },
		"moves in its parent":    func(c *skel.Clip) { c.Pos[3].Y = 2 },
		"cannot hold the name":   func(c *skel.Clip) { c.Skel.Names[0] = "a\nb" },
		"frames per second":      func(c *skel.Clip) { c.FPS = 0 },
		"0 frames":               func(c *skel.Clip) { c.Frames = 0 },
		"no parent":              func(c *skel.Clip) { c.Skel.EndSite[0] = true },
		"come before":            func(c *skel.Clip) { c.Skel.Parents[0] = 1 },
	} {
		c := fresh()
		spoil(c)
		if err := WriteClip(&bytes.Buffer{}, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

package mocap_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
)

const streamHead = "HIERARCHY\nROOT hips\n{\n OFFSET 0 1 0\n CHANNELS 4 Xposition Zrotation Xrotation Yrotation\n JOINT knee\n {\n  OFFSET 0 -0.5 0\n  CHANNELS 1 Xrotation\n  End Site\n  {\n   OFFSET 0 -0.5 0\n  }\n }\n}\nMOTION\n"

// A stream holds the same frames as a file of the same text, with any count in its header.
func TestFrameReader(t *testing.T) {
	const lines = "0.5 10 20 30 40\r\n\n-1e-1 0 0 90 -5\n"
	want := must.Get(mocap.ReadBVH("f", []byte(streamHead+"Frames: 2\nFrame Time: 0.0166667\n"+lines)))(t)
	for _, frames := range []string{"Frames: 2\n", "Frames: 0\n", "Frames:\n", ""} {
		r, err := mocap.NewFrameReader("f", strings.NewReader(streamHead+frames+"Frame Time: 0.0166667\n"+lines))
		if err != nil {
			t.Fatalf("%q: %v", frames, err)
		}
		if r.FPS() != 60 || r.Skel.Len() != 3 {
			t.Errorf("%g frames per second, %d joints", r.FPS(), r.Skel.Len())
		}
		pos, rot := make([]m3.Vec3, 3), make([]m3.Quat, 3)
		for f := range 2 {
			if err := r.Next(pos, rot); err != nil {
				t.Fatalf("%q: %v", frames, err)
			}
			p, q := want.Clip.Frame(f)
			for j := range pos {
				if pos[j] != p[j] || rot[j] != q[j] {
					t.Errorf("frame %d, joint %d: %v %v, want %v %v", f, j, pos[j], rot[j], p[j], q[j])
				}
			}
		}
		if err := r.Next(pos, rot); err != io.EOF {
			t.Errorf("%q: %v after the last frame, want EOF", frames, err)
		}
	}
	// A file that was written as a stream is read whole.
	b, err := mocap.ReadBVH("f", []byte(streamHead+"Frames: 0\nFrame Time: 0.0166667\n"+lines))
	if err != nil || b.Clip.Frames != 2 || len(b.Notes) != 1 {
		t.Fatalf("%v, %+v", err, b)
	}
}

func TestFrameReaderRefuses(t *testing.T) {
	head := streamHead + "Frames: 0\nFrame Time: 0.02\n" // its last line is 18
	for _, c := range []struct{ text, want string }{
		{"", `f:1: expected "HIERARCHY"`},
		{"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n", "f:5: expected OFFSET"},
		{streamHead, `expected "Frame" before "Time:"`},
		{streamHead + "Frames: -3\nFrame Time: 1\n", `expected the number of frames`},
		{streamHead + "Frames: 0\nFrame Time: 0\n", "the Frame Time is 0"},
		{streamHead + "Frames: 0\nFrame Time: 1 2\n", `f:18: expected the end of the line after the Frame Time, found "2"`},
		{"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrame Time: 1\n", "no joint has CHANNELS"},
		{head + "1 2 3\n", "f:19: frame 1 has 3 values, want 5"},
		{head + "1 2 3 4 5\n1 2 3 4 5 6 7\n", "f:20: frame 2 has 7 values, want 5"},
		{head + "1 2 nan 4 5\n", `f:19: expected a number, Xrotation of "hips" in frame 1, found "nan"`},
		{head + "1 2 3 4 inf\n", `f:19: expected a number, Xrotation of "knee" in frame 1, found "inf"`},
		{head + "1 2 3 4 1e300\n", `Xrotation of "knee" in frame 1 is 1e300: beyond`},
		{head + strings.Repeat("1 ", 1<<20), "f:19: a line of more than 1048576 bytes"},
		{strings.Replace(head, "Frames: 0", "Frames: 2", 1) + "1 2 3 4 5\n", "the stream ends after 1 of 2 frames"},
		{strings.Replace(head, "Frames: 0", "Frames: 1", 1) + "1 2 3 4 5\n1 2 3 4 5\n", `expected the end after 1 frames, found "1 2 3 4 5"`},
		{strings.Repeat("HIERARCHY\n", 1<<20), "within 8 MB"},
	} {
		r, err := mocap.NewFrameReader("f", strings.NewReader(c.text))
		for err == nil {
			err = r.Next(make([]m3.Vec3, r.Skel.Len()), make([]m3.Quat, r.Skel.Len()))
		}
		var syntax *mocap.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
	r, err := mocap.NewFrameReader("f", io.MultiReader(strings.NewReader(head), failing{}))
	if err == nil {
		err = r.Next(make([]m3.Vec3, 3), make([]m3.Quat, 3))
	}
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a pipe that breaks: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A frame is read as soon as its line is complete, and written at once.
func TestFrameByFrame(t *testing.T) {
	in, feed := io.Pipe()
	go io.WriteString(feed, streamHead+"Frames: 0\nFrame Time: 0.02\n")
	r := must.Get(mocap.NewFrameReader("f", in))(t)
	var out bytes.Buffer
	w := must.Get(mocap.NewFrameWriter(&out, r.Skel, r.FPS()))(t)
	pos, rot := make([]m3.Vec3, 3), make([]m3.Quat, 3)
	for f := range 50 {
		go io.WriteString(feed, "0.25 0 0 0 90\n")
		before := out.Len()
		must.Do(t, r.Next(pos, rot))
		pos[0].X += float32(f)
		must.Do(t, w.Frame(pos, rot))
		if !bytes.HasSuffix(out.Bytes()[before:], []byte("\n")) {
			t.Fatalf("frame %d: %q was written", f, out.Bytes()[before:])
		}
	}
	b, err := mocap.ReadBVH("out", out.Bytes())
	if err != nil || b.Clip.Frames != 50 || b.Clip.FPS != 50 {
		t.Fatalf("%v, %+v", err, b)
	}
	if p, q := b.Clip.Frame(49); p[0] != m3.V(49.25, 1, 0) || q[1].Angle(m3.AxisAngle(m3.V(1, 0, 0), math.Pi/2)) > 1e-4 {
		t.Errorf("the last frame is %v %v", p, q)
	}
	// Apart from the count the text equals a whole clip's.
	var whole bytes.Buffer
	must.Do(t, mocap.WriteClip(&whole, b.Clip))
	if got := strings.Replace(out.String(), "Frames: 0", "Frames: 50", 1); got != whole.String() {
		t.Error("a stream's text is not that of the clip")
	}
}

func TestFrameWriterRefuses(t *testing.T) {
	s := &skel.Skeleton{Names: []string{"a", "b", "bSite"}, Parents: []int16{-1, 0, 1}, Offsets: []m3.Vec3{{}, {Y: 1}, {Y: 1}}, EndSite: []bool{false, false, true}}
	if _, err := mocap.NewFrameWriter(io.Discard, s, 0); err == nil {
		t.Error("no frames per second are taken")
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		want string
		hurt func(pos []m3.Vec3, rot []m3.Quat)
	}{
		{"not a finite", func(pos []m3.Vec3, _ []m3.Quat) { pos[0].X = nan }},
		{"not a finite", func(_ []m3.Vec3, rot []m3.Quat) { rot[1] = m3.Quat{} }},
		{"moves in its parent", func(pos []m3.Vec3, _ []m3.Quat) { pos[1].X = 0.1 }},
	} {
		w := must.Get(mocap.NewFrameWriter(io.Discard, s, 60))(t)
		pos, rot := append([]m3.Vec3(nil), s.Offsets...), []m3.Quat{m3.Ident, m3.Ident, m3.Ident}
		must.Do(t, w.Frame(pos, rot))
		c.hurt(pos, rot)
		if err := w.Frame(pos, rot); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Reading any stream ends in frames of finite numbers or an error that names a line. The
// frames can be written and read again.
func FuzzFrameReader(f *testing.F) {
	f.Add([]byte(streamHead + "Frames: 0\nFrame Time: 0.02\n1 2 3 4 5\n6 7 8 9 10\n"))
	f.Add([]byte(streamHead + "Frames: 2\nFrame Time: 0.02\n1 2 3 4 5\n1 2 nan 4 5\n"))
	f.Add([]byte(streamHead + "Frame Time: 1e-3\r\n1e9 -2 .3 4. 5e-9\r\n"))
	f.Add([]byte("Frame Time\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := mocap.NewFrameReader("f", bytes.NewReader(data))
		var out bytes.Buffer
		var w *mocap.FrameWriter
		n := 0
		if err == nil {
			if w, err = mocap.NewFrameWriter(&out, r.Skel, r.FPS()); err != nil {
				return // a name that a BVH cannot hold, as of the whole file's reader
			}
			pos, rot := make([]m3.Vec3, r.Skel.Len()), make([]m3.Quat, r.Skel.Len())
			for err = r.Next(pos, rot); err == nil; err = r.Next(pos, rot) {
				for j := range pos {
					if !pos[j].Finite() || !rot[j].Finite() {
						t.Fatalf("frame %d: %v %v", n, pos[j], rot[j])
					}
				}
				if w.Frame(pos, rot) != nil {
					return // joints that move
				}
				n++
			}
		}
		var syntax *mocap.SyntaxError
		if err != io.EOF && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > 2+bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r"))) {
			t.Fatalf("%v", err)
		}
		if w != nil {
			b, err := mocap.ReadBVH("again", out.Bytes())
			if err != nil || b.Clip.Frames != n {
				t.Fatalf("%d frames were written: %v", n, err)
			}
		}
	})
}

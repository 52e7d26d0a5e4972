package mocap

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

// Unusual files with their joints, parents, channels, frames, and the last position of joint 0.
var oddFiles = []struct {
	name, text, want string
}{
	{"plain", "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 1 2\n\tCHANNELS 3 Zrotation Xrotation Yrotation\n\tEnd Site\n\t{\n\t\tOFFSET 0 5 0\n\t}\n}\nMOTION\nFrames: 1\nFrame Time: .0083333\n0 90 0\n",
		"Hips<-1[Zrotation Xrotation Yrotation] HipsSite<0[] 1@120 {0 1 2}"},
	{"rotations first, CRLF, tabs", "HIERARCHY\r\nROOT a\r\n{\r\n\tOFFSET\t1\t1\t1\r\n\tCHANNELS 6 Zrotation Yrotation Xrotation Zposition Yposition Xposition\r\n}\r\nMOTION\r\nFrames:\t2\r\nFrame Time:\t0.041708333\r\n1\t2\t3\t4\t5\t6\r\n1 2 3 7 8 9 \r\n\r\n",
		"a<-1[Zrotation Yrotation Xrotation Zposition Yposition Xposition] 2@23.97602 {9 8 7}"},
	{"two roots in two hierarchies with one name", "HIERARCHY\nROOT a\n{ OFFSET 0 0 0 CHANNELS 1 Xposition JOINT b\n{ OFFSET 0 0 0 End Site { OFFSET 1 1 1 } } }\nHIERARCHY\nROOT a\n{ OFFSET 0 0 0 CHANNELS 1 Xposition JOINT b\n{OFFSET 0 0 0 End Site\n{OFFSET 1 1 1}}}\nMOTION Frames: 2 Frame Time: 1\n1\n2\n3\n4",
		"a<-1[Xposition] b<0[] bSite<1[] a_2<-1[Xposition] b_2<3[] b_2Site<4[] 2@1 {3 0 0}"},
	{"lower case, one line of values, exponents, BOM", "\xef\xbb\xbfhierarchy\nroot my hip\n{ offset 1e1 -.5E-1 +2.\nchannels 2 xrotation YPOSITION\njoint Left:Leg{\noffset 0 0 0\nchannels 0\n}\n}\nmotion\nframes: 3\nframe time: 0.5\n1 2 3 4 5 6.5e+0",
		"my hip<-1[Xrotation Yposition] Left:Leg<0[] 3@2 {10 6.5 2}"},
	{"old Mac line ends and no frames", "HIERARCHY\rROOT a\r{\rOFFSET 0 0 0\rCHANNELS 0\rEnd Site one\r{\rOFFSET 0 0 0\r}\rEnd Site\r{\rOFFSET 0 0 0\r}\r}\rMOTION\rFrames: 0\rFrame Time: 0.0333\r",
		"a<-1[] aSite<0[] aSite_2<0[] 0@30.03003 "},
	{"names that no terminal should print", "HIERARCHY\nROOT a\x1b[31m\tb\xff\n{ OFFSET 0 0 0\nCHANNELS 0 }\nMOTION\nFrames: 0\nFrame Time: 1",
		"a?[31m?b?<-1[] 0@1 "},
	{"comments", "\xef\xbb\xbf# made by hand\nHIERARCHY\n// the root\nROOT #1 // a\n{\n\t# where\nOFFSET 0 0 0\nCHANNELS 1 Yposition\n}\nMOTION\n# rates\nFrames: 1\nFrame Time: 1\n7\n# the end",
		"#1 // a<-1[Yposition] 1@1 {0 7 0}"},
	{"stray words of a removed joint", "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Yposition\n  z\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n7",
		"a<-1[Yposition] 1@1 {0 7 0}"},
}

func describe(b *Recording) string {
	var s strings.Builder
	for j, n := range b.Clip.Skel.Names {
		fmt.Fprintf(&s, "%s<%d%v ", n, b.Clip.Skel.Parents[j], b.Channels[j])
	}
	fmt.Fprintf(&s, "%d@%.7g ", b.Clip.Frames, b.Clip.FPS)
	if b.Clip.Frames > 0 {
		pos, _ := b.Clip.Frame(b.Clip.Frames - 1)
		fmt.Fprint(&s, pos[0])
	}
	return s.String()
}

func TestOddFiles(t *testing.T) {
	for _, f := range oddFiles {
		b, err := ReadBVH(f.name, []byte(f.text))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := describe(b); got != f.want {
			t.Errorf("%s:\n got %s\nwant %s", f.name, got, f.want)
		}
	}
	b, err := ReadBVH("f", []byte(oddFiles[len(oddFiles)-1].text))
	if err != nil || fmt.Sprint(b.Notes) != `[f:6: skipped a stray "z" f:8: skipped a stray "}" f:9: skipped a stray "}"]` {
		t.Error(b.Notes, err)
	}
}

// Frames that are not a line each are read, and noted once with the first of them.
func TestSplitRows(t *testing.T) {
	const head = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n}\nMOTION\nFrames: 3\nFrame Time: 1"
	for rows, want := range map[string]string{
		"\n1 2 3\n4 5 6\n7 8 9\n":                  "",
		"\r\n\r\n1 2 3 \t\r\n\r\n 4 5 6\r\n7 8 9 ": "",
		"\r1 2 3\r4 5 6\r7 8 9":                    "",
		"\n1 2\n3 4 5 6\n7 8 9\n":                  "f:10: 2 of 3 frames are not a line each, the first is frame 1: ", // a value moved from a line to the next
		"\n1 2 3\n4 5\n6 7 8\n9\n":                 "f:11: 2 of 3 frames are not a line each, the first is frame 2: ",
		"\r\n1 2 3\r\n4 5 6 7 8 9\r\n":             "f:11: 2 of 3 frames are not a line each, the first is frame 2: ",
		" 1 2 3\n4 5 6\n7 8 9\n":                   "f:9: 1 of 3 frames are not a line each, the first is frame 1: ",
		"\n1 2 3 4 5 6 7 8 9":                      "f:10: 3 of 3 frames are not a line each, the first is frame 1: ",
		strings.Repeat("\n1", 9):                   "f:10: 3 of 3 frames are not a line each, the first is frame 1: ",
	} {
		b, err := ReadBVH("f", []byte(head+rows))
		notes := fmt.Sprint(b.Notes)
		if err != nil || want == "" && notes != "[]" || want != "" && (len(b.Notes) != 1 || !strings.HasPrefix(notes, "["+want)) {
			t.Errorf("%q: %v, %v, want %q", rows, err, notes, want)
		}
	}
}

// Every error names the file, the line and what was expected.
func TestErrors(t *testing.T) {
	const head = "HIERARCHY\nROOT a\n{\n\tOFFSET 0 0 0\n\tCHANNELS 2 Xposition Yrotation\n}\nMOTION\n"
	deep := "HIERARCHY\nROOT a\n" + strings.Repeat("{ OFFSET 0 0 0\nJOINT a\n", skel.MaxDepth)
	var many strings.Builder
	many.WriteString("HIERARCHY\nROOT a\n{ OFFSET 0 0 0\n")
	for range skel.MaxJoints {
		many.WriteString("JOINT a\n{OFFSET 0 0 0 }\n")
	}
	for _, c := range []struct{ text, want string }{
		{"", `f:1: expected "HIERARCHY" at the start of a BVH file, found the end of the file`},
		{"\n\nHIERARCHIE", `f:3: expected "HIERARCHY" at the start of a BVH file, found "HIERARCHIE"`},
		{"HIERARCHY\nMOTION", `f:2: expected "ROOT", found "MOTION": the skeleton has no joints`},
		{"HIERARCHY\r\nROOT\r\n", `f:3: expected "{" of joint "joint0", found the end of the file`},
		{"HIERARCHY\rROOT a\rOFFSET", `f:3: expected "{" of joint "a", found "OFFSET"`},
		{"HIERARCHY ROOT a { OFFSET 0 0 x }", `f:1: expected Z of the OFFSET of joint "a", a number, found "x"`},
		{"HIERARCHY ROOT a { OFFSET 0 0 1e10 }", `f:1: Z of the OFFSET of joint "a" is 1e10: beyond ±1e+09`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 OFFSET 0 0 0}", `f:1: a second OFFSET of joint "a"`},
		{"HIERARCHY ROOT a { }", `f:1: expected OFFSET of joint "a" before its end`},
		{"HIERARCHY ROOT a { CHANNELS 10", `f:1: expected the number of CHANNELS of joint "a", 0 to 6, found "10"`},
		{"HIERARCHY ROOT a { CHANNELS 9", `f:1: 9 CHANNELS of joint "a": those of scale are not read: export without scale`},
		{"HIERARCHY ROOT a { CHANNELS 1 Wrotation", `expected channel 1 of 1 of joint "a", one of Xposition`},
		{"HIERARCHY ROOT a { CHANNELS 2 Xrotation Xrotation", `channel Xrotation of joint "a" is listed twice`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 End Site { OFFSET 0 0 0 } CHANNELS 0", `expected once, before its children`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 End Site { CHANNELS", `expected "OFFSET" of the End Site of "a", found "CHANNELS"`},
		{"HIERARCHY ROOT a {\nCHANELS 1 Xrotation\n}", `f:2: expected OFFSET, CHANNELS, JOINT, End Site or "}" of joint "a", found "CHANELS"`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 }\nJOINT b", `f:2: expected "ROOT" or "MOTION", found "JOINT"`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 ", `found the end of the file`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 } ", `f:1: expected "ROOT" or "MOTION", found the end of the file`},
		{"HIERARCHY ROOT " + strings.Repeat("n", 2000) + "{", `a joint name of 2000 bytes, at most 1024`},
		{deep, `f:514: joint "a" is nested deeper than 256`},
		{many.String(), `f:8194: more than 4096 joints`},
		{head + "Frames: 2147483648\nFrame Time: 1\n1 2\n", `f:8: "Frames: 2147483648" of 2 values each, but the 5 bytes that follow hold at most 1 frames`},
		{head + "Frames: 9223372036854775807\nFrame Time: 1\n1 2\n", `f:8: "Frames: 9223372036854775807" of 2 values`},
		{head + "Frames: 99999999999999999999\n", `f:8: expected the number of frames after "Frames:", found "99999999999999999999"`},
		{head + "Frames: -1\n", `found "-1"`},
		{head + "Frames:\nFrame Time: 1", `found "Frame"`},
		{head + "Frames: 1\nFrame: 1", `f:9: expected "Time" after "Frame", found ":"`},
		{head + "Frames: 1\nFrame Time: 0\n1 2", `f:9: the Frame Time is 0: expected seconds between 1e-06 and 3600`},
		{head + "Frames: 1\nFrame Time: nan\n1 2", `f:9: expected the Frame Time, a number, found "nan"`},
		{head + "Frames: 1\nFrame Time: -0.01\n1 2", `f:9: the Frame Time is -0.01: expected seconds`},
		{head + "Frames: 1\nFrame Time: 1e-12\n1 2", `f:9: the Frame Time is 1e-12: expected seconds`},
		{head + "Frames: 1\nFrame Time: 1e12\n1 2", `f:9: the Frame Time is 1e12: beyond`},
		{head + "Frame Time: 1\n1 2", `f:8: expected "Frames" after MOTION, found "Frame"`},
		{head + "Frames: -2147483648\nFrame Time: 1\n1 2", `f:8: expected the number of frames after "Frames:", found "-2147483648"`},
		{head + "Frames: 2\nFrame Time: 1\n1 2\n10000000000", `f:11: Xposition of "a" in frame 2 of 2 is 10000000000: beyond ±1e+09`},
		{head + "Frames: 2\nFrame Time: 1\n1 2\n3   ", `f:11: the file ends before Yrotation of "a" in frame 2 of 2`},
		{head + "Frames: 2\nFrame Time: 1\n1 2\n3 -1.#IND00", `f:11: expected a number, Yrotation of "a" in frame 2 of 2, found "-1.#IND00"`},
		{head + "Frames: 1\nFrame Time: 1\n1 1e999", `is 1e999: beyond`},
		{head + "Frames: 1\nFrame Time: 1\n1 inf", `found "inf"`},
		{head + "Frames: 1\nFrame Time: 1\n1 1,5", `found "1,5"`},
		{head + "Frames: 1\nFrame Time: 1\n1 -Infinity", `found "-Infinity"`},
		{head + "Frames: 1\nFrame Time: 1\n1 0x1p3", `found "0x1p3"`},
		{head + "Frames: 1\nFrame Time: 1\n1 1_000", `found "1_000"`},
		{head + "Frames: 1\nFrame Time: 1\n1 1e300", `f:10: Yrotation of "a" in frame 1 of 1 is 1e300: beyond`},
		{head + "Frames: 1\nFrame Time: 1\n1 2\n3 4\n5", `f:12: this line is no frame: it has 1 of 2 values; the file says 1 frames and has 2 whole ones: --salvage keeps those`},
		{head + "Frames: 1\nFrame Time: 1\n1 2\n3 4\n", `f:11: expected the end of the file after 1 frames of 2 values, found 2 more values; the file says 1 frames and has 2 whole ones: --salvage keeps those`},
		{head + "Frames: 1\nFrame Time: 1\n1 2\n3 4 x", `f:11: expected the end of the file after 1 frames, found "x"`},
		{"HIERARCHY ROOT a { OFFSET 0 0 0 } MOTION Frames: 1000000 Frame Time: 1", `1000000 frames of 1 joints, most of them without values, need more than the 16 MB`},
	} {
		_, err := ReadBVH("f", []byte(c.text))
		refused(t, err, c.want)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	giant := filepath.Join(dir, "giant.bvh") // takes no room on the disk
	must.Do(t, os.WriteFile(giant, nil, 0o644))
	must.Do(t, os.Truncate(giant, maxFileSize+1))
	for path, want := range map[string]string{dir: "not a regular file", os.DevNull: "not a regular file",
		filepath.Join(dir, "none.bvh"): "no such file", giant: "at most"} {
		if _, err := OpenBVH(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A truncated file never reads as a shorter clip.
func TestTruncation(t *testing.T) {
	whole := syntheticBVH(5, 3)
	whole = bytes.TrimSpace(whole)
	for n := range len(whole) {
		b, err := ReadBVH("f", whole[:n])
		// Cutting digits off the last number cannot be seen.
		if err == nil && n <= bytes.LastIndexByte(whole, ' ')+1 {
			t.Fatalf("%d of %d bytes read as %s", n, len(whole), describe(b))
		}
	}
}

func TestScanNumber(t *testing.T) {
	check := func(fatalf func(string, ...any), s string) {
		v, n := scanNumber([]byte(s + " 1"))
		want, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(want, 0) {
			fatalf("bad test number %q", s)
		}
		if n != len(s) || v != want {
			fatalf("%q read as %v in %d bytes, want %v", s, v, n, want)
		}
		want32, _ := strconv.ParseFloat(s, 32)
		if got := toFloat32(v, []byte(s)); got != float32(want32) {
			fatalf("%q became the float32 %v, want %v", s, got, float32(want32))
		}
	}
	for _, s := range []string{"0", "-0", "1.", ".5", "-.5e-3", "+3E+2", "1e400", "1e-400", "9007199254740993",
		"12345678901234567890123", "0.00000000000000000000000000001", "1.00000005960464477539062500001",
		"1.00000005960464477539062499999", "7.0064923216240853e-46", "1e22", "1e23", "123456789012345678e-5", "1e9999999999",
		"18446744073709551617", "0.18446744073709551617"} {
		check(t.Errorf, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t.Fatalf, rapid.StringMatching(`[+-]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?`).Draw(t, "number"))
		check(t.Fatalf, rapid.StringMatching(`-?[0-9]{1,4}\.[0-9]{1,9}`).Draw(t, "usual"))
	})
	for _, s := range []string{"", "-", ".", "e5", "nan", "inf", "x1", "-.e1"} {
		if _, n := scanNumber([]byte(s)); n != 0 {
			t.Errorf("%q is not a number", s)
		}
	}
	if v, n := scanNumber([]byte("12e")); v != 12 || n != 2 {
		t.Error("12e", v, n)
	}
}

func TestTidyRate(t *testing.T) {
	for dt, want := range map[float64]float64{0.0166667: 60, .0083333: 120, 0.041667: 24, 0.033333: 30, 0.01667: 60, 0.04: 25,
		1: 1, 0.5: 2, 3600: 1. / 3600, 1e-6: 1e6, 0.041708333: 1 / 0.041708333, 0.0333667: 1 / 0.0333667, 0.0166833: 1 / 0.0166833} {
		if got := tidyRate(dt); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("a frame time of %g gives %g, want %g", dt, got, want)
		}
	}
}

func FuzzReadBVH(f *testing.F) {
	for _, o := range oddFiles {
		f.Add([]byte(o.text))
	}
	f.Add(syntheticBVH(3, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadBVH("fuzz", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatal(err)
			}
			return
		}
		must.Do(t, a.Clip.Skel.Validate())
		if len(a.Clip.Pos) > 20000 {
			return // frames without values: nothing to learn, and slow
		}
		b := rewritten(t, a)
		if b.FrameTime != a.FrameTime {
			t.Fatalf("frame time %g became %g", a.FrameTime, b.FrameTime)
		}
		must.Do(t, sameClip(a.Clip, b.Clip, 0, 1e-3))
	})
}

// A joint's name cannot change the terminal or the direction of text.
func TestNamesArePrintable(t *testing.T) {
	b, err := ReadBVH("f", []byte("HIERARCHY ROOT a\x1b[2J\u202eé\n{ OFFSET 0 0 0 CHANNELS 1 Xposition }\nMOTION Frames: 1 Frame Time: 0.1\n0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Clip.Skel.Names[0]; got != "a?[2J?é" {
		t.Errorf("%q", got)
	}
}

// Joints without names are called by their index.
func TestReadNameless(t *testing.T) {
	b := must.Get(ReadBVH("f", []byte("HIERARCHY\nROOT\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nJOINT\n{\nOFFSET 0 1 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nJOINT {\nOFFSET 1 0 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3\n")))(t)
	if got := strings.Join(b.Clip.Skel.Names, " "); got != "joint0 joint1 joint1Site joint3" || len(b.Notes) != 1 || !strings.Contains(b.Notes[0], `f:2: a joint without a name is called joint0 here, by its index, and so are others`) {
		t.Errorf("%s, %q", got, b.Notes)
	}
}

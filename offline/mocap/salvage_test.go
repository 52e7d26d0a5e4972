package mocap

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// rowsFile returns a BVH of the given lines of three values, which says a number of frames.
func rowsFile(frames any, lines ...string) string {
	return fmt.Sprintf("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n}\nMOTION\nFrames: %v\nFrame Time: 0.1\n%s", frames, strings.Join(lines, "\n"))
}

// A damaged BVH is refused with the line, and with Salvage its whole frames are read.
func TestSalvage(t *testing.T) {
	var good []string
	for i := range 20 {
		good = append(good, fmt.Sprintf("%d 2 3", i))
	}
	with := func(i int, line string) []string {
		lines := append([]string(nil), good...)
		lines[i] = line
		return lines
	}
	for name, c := range map[string]struct {
		text     string
		err      string // without Salvage
		frames   int
		note     string
		x4, last float32 // of frame 4 and the last
	}{
		"rows too many": {rowsFile(18, good...), "f.bvh:28: expected the end of the file after 18 frames of 3 values, found 6 more values; the file says 18 frames and has 20 whole ones: --salvage keeps those",
			20, "f.bvh:9: kept 20 whole frames of the 18 that the file says", 4, 19},
		"rows too few": {rowsFile(30, good...), "the file says 30 frames and has 20 whole ones", 20, "kept 20 whole frames of the 30 that the file says", 4, 19},
		"many missing": {rowsFile(3000, good...), "hold at most 21 frames; the file says 3000 frames and has 20 whole ones", 20, "of the 3000 that", 4, 19},
		"last row cut": {rowsFile(20, with(19, "19 2")...), "f.bvh:29: this line is no frame: it has 2 of 3 values; the file says 20 frames and has 19 whole ones", 19,
			"f.bvh:29: kept 19 whole frames of the 20 that the file says; lost line 29, since it has 2 of 3 values", 4, 18},
		"cut within a number": {rowsFile(20, with(19, "19 2 -")...), "f.bvh:29: this line is no frame: its value 3 is \"-\"", 19, "lost line 29", 4, 18},
		"a value too few":     {rowsFile(20, with(3, "3 2")...), "f.bvh:13: this line is no frame: it has 2 of 3 values", 19, "lost line 13, since it has 2 of 3 values", 5, 19},
		"a value too many":    {rowsFile(20, with(3, "3 2 3 4")...), "f.bvh:13: this line is no frame: it has 4 of 3 values", 19, "lost line 13", 5, 19},
		"as many as it says":  {rowsFile(20, append(with(3, "3 2"), "")[:20]...) + "\n20", "f.bvh:13: this line is no frame: it has 2 of 3 values", 19, "lost line 13, since it has 2 of 3 values, line 30", 5, 19},
		"no numbers":          {rowsFile(20, with(3, "nan -1.#IND 1,5")...), "f.bvh:13: this line is no frame: its value 1 is \"nan\"", 19, "lost line 13, since its value 1 is \"nan\"", 5, 19},
		"an infinite one":     {rowsFile(20, with(3, "3 1e300 3")...), "its value 2 is \"1e300\"", 19, "lost line 13", 5, 19},
		"text at the end":     {rowsFile(20, append(good, "the end")...), "f.bvh:30: this line is no frame: its value 1 is \"the\"", 20, "lost line 30", 4, 19},
		"no count":            {rowsFile("many", good...), "expected the number of frames after \"Frames:\", found \"many\"", 20, "kept 20 whole frames", 4, 19},
		"an empty count":      {rowsFile("", good...), "expected the number of frames after \"Frames:\", found \"Frame\"", 20, "kept 20 whole frames", 4, 19},
		"on one line":         {rowsFile(20, strings.Join(good, " ")) + " 20 2", "20 frames", 20, "kept 20 whole frames; lost line 10, since the last frame has 2 of 3 values", 4, 19},
		"broken on one line":  {rowsFile(20, strings.Join(with(7, "7 x 3"), " ")), "found \"x\"", 7, "kept 7 whole frames of the 20 that the file says; lost line 10, since a value of frame 8 is \"x\"", 4, 6},
	} {
		file := filepath.Join(t.TempDir(), "f.bvh")
		must.Do(t, os.WriteFile(file, []byte(c.text), 0o644))
		_, err := Open(file, OpenOptions{})
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		b, err := Open(file, OpenOptions{Salvage: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		x := func(f int) float32 { return b.Clip.Pos[f].X }
		if b.Clip.Frames != c.frames || x(4) != c.x4 || x(c.frames-1) != c.last || b.Clip.FPS != 10 {
			t.Errorf("%s: %d frames at %g, %v", name, b.Clip.Frames, b.Clip.FPS, b.Clip.Pos)
		}
		if notes := fmt.Sprint(b.Notes); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %s, want %q", name, notes, c.note)
		}
	}
	for name, text := range map[string]string{"no frames": rowsFile(3), "no whole one": rowsFile(1, "1 2"), "no numbers": rowsFile(2, "x", "y")} {
		if _, err := readBVH("f", []byte(text), OpenOptions{Salvage: true}); err == nil || !strings.Contains(err.Error(), "f:9: no whole frame of 3 values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file without damage is read in the same way.
func TestSalvageWhole(t *testing.T) {
	text := syntheticBVH(5, 3)
	a, b := must.Get(readBVH("f", text, OpenOptions{}))(t), must.Get(readBVH("f", text, OpenOptions{Salvage: true}))(t)
	must.Do(t, sameClip(a.Clip, b.Clip, 0, 1e-3))
	if fmt.Sprint(a.Notes) != fmt.Sprint(b.Notes) {
		t.Error(b.Notes)
	}
}

// One frame of an AMC or a text of exponential maps that cannot be read is left out.
func TestSalvageOthers(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.asf"), []byte(stickASF), 0o644))
	amc := filepath.Join(dir, "a.amc")
	for text, want := range map[string]struct {
		frames int
		note   string
	}{
		stickAMC: {2, ""},
		strings.Replace(stickAMC, "\n2\n", "\n2\nroot 1 2\n3\n", 1): {2, "kept 2 whole frames; lost 1 frame: "},
		stickAMC + "3\nroot 1 2 x":                                  {2, "kept 2 whole frames; lost 1 frame: "},
		stickAMC + "9\nroot 0 1 0 0 0 0\nback 0 0 0\nleg 0 0 0\n":   {3, "frame \"9\" follows frame 2"},
	} {
		must.Do(t, os.WriteFile(amc, []byte(text), 0o644))
		b, err := Open(amc, OpenOptions{Salvage: true})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if notes := fmt.Sprint(b.Notes); b.Clip.Frames != want.frames || !strings.Contains(notes, want.note) || want.note == "" && strings.Contains(notes, "kept") {
			t.Errorf("%q: %d frames, %s", text, b.Clip.Frames, notes)
		}
		if _, err := Open(amc, OpenOptions{}); (err == nil) != (want.note == "") {
			t.Errorf("%q: %v", text, err)
		}
	}
	row := strings.TrimSuffix(strings.Repeat("0,", h36mColumns), ",")
	maps := filepath.Join(dir, "m.txt")
	must.Do(t, os.WriteFile(maps, []byte(row+"\n"+row+"\n"+strings.Replace(row, "0,0", "0,nan", 1)+"\n"+row+"\n0,0"), 0o644))
	b := must.Get(Open(maps, OpenOptions{Salvage: true}))(t)
	if b.Clip.Frames != 3 || !strings.Contains(fmt.Sprint(b.Notes), "kept 3 whole frames; lost 2 frames: "+maps+":3: ") {
		t.Errorf("%d frames, %v", b.Clip.Frames, b.Notes)
	}
}

// An improbable rate is told, with the likely one, and another can be set.
func TestRate(t *testing.T) {
	for dt, want := range map[float64]float64{0.033333: 0, 0.0083333: 0, 0.041667: 0, 0.2: 0, 0.001: 0, 33.333: 30, 16.7: 60, 16.6667: 60, 8.3333: 120, 41.7: 24, 40: 25, 33: 30, 17: 60,
		30: 30, 60: 60, 120: 120, 24: 24, 16667: 60, 33333: 30, 1: 30, 2: 30, 0.5: 30, 3000: 30, 0.0001: 30, 10: 100} {
		if got, _ := likelyRate(dt); math.Abs(got-want) > 1e-9 {
			t.Errorf("a frame time of %g is likely %g frames per second, want %g", dt, got, want)
		}
	}
	b := must.Get(Open("testdata/frame-time-in-ms.bvh", OpenOptions{}))(t)
	if err := b.CheckRate(); b.LikelyFPS != 30 || err == nil || len(b.Notes) != 1 || b.Notes[0] != err.Error() ||
		!strings.Contains(err.Error(), "a Frame Time of 33.3333 s, which is 0.03 frames per second, is improbable: in milliseconds it is 30 frames per second; --frame-rate sets the rate") {
		t.Errorf("likely %g, %v, %v", b.LikelyFPS, b.Notes, err)
	}
	set := must.Get(Open("testdata/frame-time-in-ms.bvh", OpenOptions{FrameRate: 30}))(t)
	if set.Clip.FPS != 30 || set.Clip.Frames != b.Clip.Frames || set.FrameTime != 1./30 || len(set.Notes) != 0 || set.CheckRate() != nil {
		t.Errorf("%g frames per second, %d frames, %v", set.Clip.FPS, set.Clip.Frames, set.Notes)
	}
	for _, wrong := range []string{"0", "nan", "0,0333", "-1", "1e-9", "12e12"} {
		text := []byte(strings.Replace(rowsFile(2, "1 2 3", "4 5 6"), "0.1", wrong, 1))
		if _, err := readBVH("f", text, OpenOptions{}); err == nil || !strings.HasSuffix(err.Error(), "; --frame-rate sets the rate") {
			t.Errorf("%s: %v", wrong, err)
		}
		if b, err := readBVH("f", text, OpenOptions{FrameRate: 50}); err != nil || b.Clip.Frames != 2 || b.Clip.FPS != 50 || b.Clip.Pos[1].Z != 6 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	// The line is missing altogether.
	text := []byte(strings.Replace(rowsFile(2, "1 2 3", "4 5 6"), "Frame Time: 0.1\n", "", 1))
	if b, err := readBVH("f", text, OpenOptions{FrameRate: 50}); err != nil || b.Clip.Frames != 2 || b.Clip.Pos[1].Z != 6 {
		t.Errorf("without a Frame Time: %v", err)
	}
	for _, opt := range []OpenOptions{{FrameRate: -1}, {FrameRate: math.NaN()}, {FrameRate: 1e9}, {Up: "w"}} {
		if _, err := Open("testdata/frame-time-in-ms.bvh", opt); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// The file that came with the fault.
func TestOneRowTooMany(t *testing.T) {
	_, err := Open("testdata/one-row-too-many.bvh", OpenOptions{})
	if err == nil || !strings.Contains(err.Error(), "testdata/one-row-too-many.bvh:158: expected the end of the file after 23 frames of 69 values, found 69 more values; the file says 23 frames and has 24 whole ones: --salvage keeps those") {
		t.Error(err)
	}
	if b := must.Get(Open("testdata/one-row-too-many.bvh", OpenOptions{Salvage: true}))(t); b.Clip.Frames != 24 {
		t.Errorf("%d frames", b.Clip.Frames)
	}
}

// A file with another axis up than y is turned.
func TestUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.bvh")
	must.Do(t, os.WriteFile(file, []byte(rowsFile(1, "1 2 3")), 0o644))
	for up, want := range map[string]m3.Vec3{"": m3.V(1, 2, 3), "y": m3.V(1, 2, 3), "z": m3.V(1, 3, -2), "x": m3.V(-2, 1, 3), "-z": m3.V(1, -3, 2), "-y": m3.V(1, -2, -3), "-x": m3.V(2, -1, 3)} {
		b := must.Get(Open(file, OpenOptions{Up: up}))(t)
		if d := b.Clip.Pos[0].Dist(want); d > 1e-6 || b.Up != map[bool]string{true: "y"}[up != ""] {
			t.Errorf("up %q: %v, %q", up, b.Clip.Pos, b.Up)
		}
	}
}

const twoRoots = `HIERARCHY
ROOT Hips
{
	OFFSET 0 0 0
	CHANNELS 3 Xposition Yposition Zposition
	JOINT Leg { OFFSET 0 -1 0 CHANNELS 1 Xrotation End Site { OFFSET 0 -1 0 } }
	JOINT Leg { OFFSET 0 -1 0 CHANNELS 1 Xrotation }
}
ROOT Hips
{
	OFFSET 5 0 0
	CHANNELS 3 Xposition Yposition Zposition
	JOINT Leg { OFFSET 0 -2 0 CHANNELS 1 Yrotation End Site { OFFSET 0 -2 0 } }
}
ROOT Prop
{
	OFFSET 5 0 0
	CHANNELS 3 Xposition Yposition Zposition
}
MOTION
Frames: 2
Frame Time: 0.1
1 2 3 10 11 4 5 6 20 0 0 0
1 2 4 10 11 4 5 7 20 0 0 0
`

// Two characters are two skeletons, each with the file's names. Joints of one name in one character
// stay apart, and are told.
func TestRoots(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.bvh")
	must.Do(t, os.WriteFile(file, []byte(twoRoots), 0o644))
	all := must.Get(Open(file, OpenOptions{}))(t)
	if got := fmt.Sprint(all.Clip.Skel.Names, all.Roots()); got != "[Hips Leg LegSite Leg_2 Hips_2 Leg_3 Leg_3Site Prop] [0 4]" {
		t.Error(got)
	}
	if len(all.Notes) != 1 || all.Notes[0] != file+`:7: a second joint "Leg" is called Leg_2 here` {
		t.Error(all.Notes)
	}
	for root, want := range map[string]string{"Hips": "[Hips Leg LegSite Leg_2] [-1 0 1 0] 5 4", "Hips_2": "[Hips Leg LegSite] [-1 0 1] 4 7", "hips_2": "[Hips Leg LegSite] [-1 0 1] 4 7"} {
		b := must.Get(Open(file, OpenOptions{Root: root}))(t)
		must.Do(t, b.Clip.Skel.Validate())
		s := b.Clip.Skel
		if got := fmt.Sprint(s.Names, s.Parents, b.NumChannels(), b.Clip.Pos[s.Len()].Z); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
		var out bytes.Buffer
		must.Do(t, b.Write(&out))
	}
	if _, err := Open(file, OpenOptions{Root: "Prop"}); err == nil || err.Error() != file+`: it has no root joint "Prop": it has Hips, Hips_2` {
		t.Error(err)
	}
}

// An animation is chosen by its name, the name without the armature's, or its number.
func TestChooseName(t *testing.T) {
	names := []string{"Rig|Walk", "Run", "", "Run", "Rig2|Walk", "5"}
	for name, want := range map[string]string{"Run": "1 [4] <nil>", "Rig2|Walk": "4 [] <nil>", "Walk": "0 [5] <nil>", "3": "2 [] <nil>", "5": "5 [] <nil>",
		"0": `f.glb: it has no animation "0": it has Rig|Walk, Run, 3, 4, Rig2|Walk, 5`, "Runn": `5; did you mean Run`,
		"": "f.glb: it has 6 animations: choose one of Rig|Walk, Run, 3, 4, Rig2|Walk, 5 with --animation, or as f.glb#NAME"} {
		i, also, err := chooseName("f.glb", name, names)
		if got := fmt.Sprint(i, also, err); got != want && (err == nil || !strings.Contains(err.Error(), strings.Trim(want, "?"))) {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if i, _, err := chooseName("f.glb", "", []string{"only"}); i != 0 || err != nil {
		t.Error(i, err)
	}
}

func FuzzSalvage(f *testing.F) {
	for _, o := range oddFiles {
		f.Add([]byte(o.text))
	}
	f.Add(syntheticBVH(3, 2))
	f.Add([]byte(twoRoots))
	f.Add([]byte(rowsFile(3, "1 2 3", "4 5", "6 7 8 9", "nan")))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readBVH("fuzz", data, OpenOptions{Salvage: true})
		whole, werr := ReadBVH("fuzz", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") || werr == nil {
				t.Fatal(err, werr)
			}
			return
		}
		must.Do(t, b.Clip.Skel.Validate())
		if n := b.Clip.Frames * b.Clip.Skel.Len(); len(b.Clip.Pos) != n || len(b.Clip.Rot) != n || notFinite(b.Clip.Pos) {
			t.Fatalf("%d frames, %d positions", b.Clip.Frames, len(b.Clip.Pos))
		}
		if werr == nil && len(b.Clip.Pos) < 20000 {
			must.Do(t, sameClip(whole.Clip, b.Clip, 0, 1e-3))
		}
		for _, root := range b.Roots() {
			must.Do(t, b.Only(root).Clip.Skel.Validate())
		}
	})
}

func notFinite(v []m3.Vec3) bool {
	for _, p := range v {
		if !p.Finite() {
			return true
		}
	}
	return false
}

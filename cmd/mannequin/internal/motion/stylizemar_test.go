package motion

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/mar"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
	"mannequin/offline/registration"
)

// marRun gives a recording a style, with the default flags after change.
func marRun(t *testing.T, content, style, out string, change func(*stylizeFlags)) (*marReport, *skel.Clip) {
	t.Helper()
	if out == "" {
		out = filepath.Join(t.TempDir(), "out.bvh")
	}
	o := stylizeFlags{style: style, amount: 1, mar: marFlags{keep: 0.7, confidence: 2, neighbours: 40, timing: true, feet: true}}
	if change != nil {
		change(&o)
	}
	r, err := o.translate(context.Background(), testcli.Database(), content, out, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := mocap.OpenBVH(out)
	if err != nil {
		t.Fatal(err)
	}
	return r, b.Clip
}

// forward is how far a clip's head is ahead of the hips, on average, m.
func forward(c *skel.Clip) (sum float64) {
	model, head := make([]m3.Xform, c.Skel.Len()), c.Skel.Index("Head")
	for f := range c.Frames {
		c.Model(model, f)
		yaw := 2 * m3.Atan2(model[0].Rot.Y, model[0].Rot.W)
		sum += float64(m3.YawQuat(yaw).Conj().Rotate(model[head].Pos.Sub(model[0].Pos)).Z) / float64(c.Frames)
	}
	return sum
}

// A neutral walk becomes an old one: bent and slow, and its feet stand. Half of the
// style is half of that, and none the walk itself.
func TestStylizeMar(t *testing.T) {
	walk := testcli.Take(t, t.TempDir(), "walk.bvh", "neutral", 100, 90, 100)
	takes, _ := testcli.Takes()
	full, made := marRun(t, walk, "old", "", nil)
	t.Logf("%+v", full)
	if full.In != 1.5 || full.Seconds < 1.55 || full.Frames != made.Frames || made.FPS != 60 || full.Retarget || full.Licence != "CC0-1.0" || !(full.PerFrame > 0) {
		t.Errorf("%+v", full)
	}
	if len(full.Nearest) == 0 || full.Nearest[0].Style != "neutral" || full.Nearest[0].Share < 0.5 {
		t.Errorf("nearest %+v, want neutral", full.Nearest)
	}
	if !(full.Slide < 0.5*full.SlideRaw+0.02) {
		t.Errorf("standing feet slide %g cm, %g before they are held", full.Slide, full.SlideRaw)
	}
	i := slices.IndexFunc(takes, func(k *registration.Take) bool { return k.Style == "old" })
	want, own := forward(takes[i].Clip), forward(takes[slices.IndexFunc(takes, func(k *registration.Take) bool { return k.Style == "neutral" })].Clip)
	if share := (forward(made) - own) / (want - own); share < 0.7 || share > 1.3 {
		t.Errorf("the head is %g m ahead, %g in the style, %g in the content", forward(made), want, own)
	}
	half, bent := marRun(t, walk, "old:0.5", "", func(o *stylizeFlags) { o.mar.timing = false })
	if share := (forward(bent) - own) / (want - own); share < 0.3 || share > 0.7 || half.Seconds != 1.5 {
		t.Errorf("half of the style: the head is %g m ahead, %g in the style, %g in the content; %g s", forward(bent), want, own, half.Seconds)
	}
	over, late := marRun(t, walk, "0:own,0.5:own,1:old", "", func(o *stylizeFlags) {
		o.mar.timing, o.mar.action, o.mar.from = false, []string{"walk"}, []string{"neutral", "proud"}
	})
	early := &skel.Clip{Skel: late.Skel, FPS: 60, Frames: 25, Pos: late.Pos, Rot: late.Rot}
	if was, is := forward(early)-own, forward(&skel.Clip{Skel: late.Skel, FPS: 60, Frames: 15, Pos: late.Pos[75*late.Skel.Len():], Rot: late.Rot[75*late.Skel.Len():]})-own; math.Abs(was) > 0.4*math.Abs(is) {
		t.Errorf("the style comes too early: %g m of %g, %+v", was, is, over)
	}
	_, same := marRun(t, walk, "old", "", func(o *stylizeFlags) { o.amount, o.mar.feet = 0, false })
	b, err := mocap.OpenBVH(walk)
	if err != nil {
		t.Fatal(err)
	}
	for f := range b.Clip.Frames {
		p, q := b.Clip.Frame(f)
		p2, q2 := same.Frame(f)
		if d := p[0].Scale(0.01).Dist(p2[0]); d > 5e-3 {
			t.Fatalf("frame %d without a style: the root is %g m off", f, d)
		}
		for j := range q {
			if a := q[j].Angle(q2[j]); a > 0.02 {
				t.Fatalf("frame %d without a style: %s is turned by %g", f, same.Skel.Names[j], a)
			}
		}
	}
}

// Frames are written as soon as those they are made of have come, and are those of
// the file.
func TestStylizeMarStream(t *testing.T) {
	db, out := testcli.Styles(t), filepath.Join(t.TempDir(), "out.bvh")
	walk := testcli.Take(t, t.TempDir(), "walk.bvh", "neutral", 100, 40, 1)
	args := []string{"stylize", "--method", "mar", "--database", db, "--style", "proud:0.5,old:0.25", "--timing=false"}
	marRun(t, walk, "proud:0.5,old:0.25", out, func(o *stylizeFlags) { o.mar.timing = false })
	text, err := os.ReadFile(walk)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("Frame Time"))
	at += bytes.IndexByte(text[at:], '\n') + 1
	head, lines := string(text[:at]), strings.SplitAfter(strings.TrimSuffix(string(text[at:]), "\n"), "\n")
	lines[len(lines)-1] += "\n"

	in, feed := io.Pipe()
	read, made := io.Pipe()
	var report bytes.Buffer
	code := make(chan int, 1)
	go func() {
		root := testcli.Root(Commands()...)
		root.SetIn(in)
		code <- command.Run(context.Background(), root, append(args, "-", "--json"), made, &report)
		made.Close()
	}()
	got := make(chan string, 1000)
	var all strings.Builder
	go func() {
		defer close(got)
		for r := bufio.NewReader(read); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			got <- line
		}
	}()
	next := func() string {
		select {
		case line := <-got:
			all.WriteString(line)
			return line
		case <-time.After(time.Minute):
			t.Fatal("no line comes: ", report.String())
			return ""
		}
	}
	io.WriteString(feed, strings.Replace(head, "Frames: 40", "Frames: 0", 1))
	for !strings.HasPrefix(next(), "Frame Time") {
	}
	for f, line := range lines {
		io.WriteString(feed, line)
		if n := len(strings.Fields(next())); n != 78 {
			t.Fatalf("frame %d: %d values", f, n)
		}
	}
	feed.Close()
	if c := <-code; c != 0 {
		t.Fatalf("exit %d: %s", c, report.String())
	}
	for line := range got {
		t.Errorf("after the last frame: %q", line)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Replace(all.String(), "Frames: 0", "Frames: 40", 1) != string(want) {
		t.Error("the stream's frames are not those of the file")
	}
	var r marReport
	if err := json.Unmarshal(report.Bytes(), &r); err != nil || r.Frames != 40 {
		t.Errorf("%v: %s", err, report.String())
	}
}

func TestStylizeMarRefuses(t *testing.T) {
	dir := t.TempDir()
	walk := testcli.Take(t, dir, "walk.bvh", "neutral", 100, 20, 1)
	other := testcli.WriteFile(t, dir, "unknown.bvh", testcli.TinyBVH)
	out := filepath.Join(dir, "out.bvh")
	for _, c := range []struct {
		want, content, style string
		code                 int
		flags                []string
	}{
		{"--amount is 3", walk, "old", 2, []string{"--amount", "3"}},
		{"--keep is 2", walk, "old", 2, []string{"--keep", "2"}},
		{"--confidence is 0", walk, "old", 2, []string{"--confidence", "0"}},
		{"--neighbours is 1", walk, "old", 2, []string{"--neighbours", "1"}},
		{"--edit is not for --method mar", walk, "old", 2, []string{"--edit", "3"}},
		{"--keep is not for --method gram", walk, walk, 2, []string{"--method", "gram", "--keep", "0.5"}},
		{"the content - is for --method mar", "-", walk, 2, []string{"--method", "gram"}},
		{"leave out --out", "-", "old", 2, nil},
		{`no database of styles "few"`, walk, "old", 1, []string{"--database", "few"}},
		{"a network (graph), not a database of styles", walk, "old", 1, []string{"--database", testcli.Manifold(t)}},
		{`no style "lazy" in the database: it has neutral, old, proud, and own`, walk, "lazy", 2, []string{"--database", testcli.Styles(t)}},
	} {
		args := []string{"stylize", "--method", "mar", c.content, "--style", c.style, "--out", out}
		code, text, errs := mannequin(append(args, c.flags...)...)
		if code != c.code || !strings.Contains(errs, c.want) || text != "" {
			t.Errorf("%q: exit %d: %s%s", c.want, code, text, errs)
		}
	}
	if code, _, errs := mannequin("stylize", "--method", "mar", walk, "--style", "old"); code != 2 || !strings.Contains(errs, "no --out") {
		t.Errorf("no --out: exit %d: %s", code, errs)
	}
	o := stylizeFlags{amount: 1, mar: marFlags{keep: 0.7, confidence: 2, neighbours: 40, feet: true}}
	for _, c := range []struct{ want, content, style, action, from string }{
		{"the weight of \"old\" is \"x\"", walk, "old:x", "", ""},
		{"add up to 1.25", walk, "old:0.75,proud:0.5", "", ""},
		{"names no style", walk, ",", "", ""},
		{"want times that increase", walk, "1:old,1:proud", "", ""},
		{`"proud": want TIME:STYLE`, walk, "0:old,proud", "", ""},
		{`no action "swim" in the database: it has walk`, walk, "old", "swim", ""},
		{`--from-style: no style "lazy"`, walk, "old", "walk", "lazy"},
		{"no profile fits", other, "old", "", ""},
		{"none.bvh", filepath.Join(dir, "none.bvh"), "old", "", ""},
	} {
		o := o
		o.style, o.mar.action, o.mar.from = c.style, strings.Fields(c.action), strings.Fields(c.from)
		if _, err := o.translate(context.Background(), testcli.Database(), c.content, out, nil, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused motion was written")
	}
	text := testcli.Read(t, walk)
	head := text[:strings.Index(text, "Frame Time")]
	for _, c := range []struct{ want, text string }{
		{"standard input:1: expected \"HIERARCHY\"", ""},
		{"standard input: no frames", strings.Replace(head, "Frames: 20", "Frames: 0", 1) + "Frame Time: 0.02\n"},
		{`found "NaN"`, head + "Frame Time: 0.02\n" + strings.Repeat("NaN ", 78) + "\n"},
		{"frame 1 has 2 values, want 78", head + "Frame Time: 0.02\n1 2\n"},
		{"want less than 4096 from the origin", head + "Frame Time: 0.02\n9000 " + strings.Repeat("1 ", 77) + "\n"},
		{"a stream is not retargeted", testcli.Read(t, other)},
	} {
		o := o
		o.style = "old"
		if _, err := o.translate(context.Background(), testcli.Database(), "-", "-", strings.NewReader(c.text), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	o.style = "old"
	if _, err := o.translate(stopped, testcli.Database(), "-", "-", strings.NewReader(text), io.Discard); err == nil || !strings.Contains(err.Error(), "interrupted after 0 frames") {
		t.Errorf("interrupted: %v", err)
	}
}

// A database in which a style lacks an action says so, where the action is known.
func TestCheckLabel(t *testing.T) {
	classes := []input.StyleAction{{Action: "walk", Styles: []input.StyleClass{{Style: "old"}, {Style: "proud"}}}, {Action: "kick", Styles: []input.StyleClass{{Style: "old"}}}}
	for _, c := range []struct {
		actions, from, to []string
		want              string
	}{
		{nil, nil, []string{"proud"}, ""},
		{[]string{"walk", "kick"}, nil, []string{"proud"}, ""},
		{[]string{"kick"}, nil, nil, ""},
		{[]string{"kick"}, nil, []string{"proud"}, "no take of kick in proud: there are old"},
		{[]string{"kick"}, []string{"proud"}, []string{"old"}, "--from-style proud: the database has no take of kick"},
	} {
		if err := checkLabel(classes, c.actions, c.from, c.to); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c, err, c.want)
		}
	}
}

func TestParseMix(t *testing.T) {
	db := &mar.Database{Styles: []string{"12", "old", "proud"}}
	for _, c := range []struct {
		text string
		at   float64
		want string
	}{
		{"old", 0, "[0 1 0]"},
		{"old", 100, "[0 1 0]"},
		{"old:0.5,proud:0.25", 1, "[0 0.5 0.25]"},
		{"old:0.5 + proud:0.5", 1, "[0 0.5 0.5]"},
		{"12:0.5", 1, "[0.5 0 0]"}, // a style that is called like a number
		{"own", 1, "[0 0 0]"},
		{"0:old,3:proud,5:proud:0.5+old:0.5", 0, "[0 1 0]"},
		{"0:old,3:proud,5:proud:0.5+old:0.5", 1.5, "[0 0.5 0.5]"},
		{"0:old,3:proud,5:proud:0.5+old:0.5", 3, "[0 0 1]"},
		{"0:old,3:proud,5:proud:0.5+old:0.5", 9, "[0 0.5 0.5]"},
		{"2:old,4:own", 0, "[0 1 0]"},
		{"2:old,4:own", 3, "[0 0.5 0]"},
	} {
		m, err := parseMix(c.text, db, 1)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		w := make([]float32, 3)
		if m.fill(w, c.at); fmt.Sprint(w) != c.want {
			t.Errorf("%q at %g: %v, want %s", c.text, c.at, w, c.want)
		}
	}
}

// A source changes the rate as a whole clip's resampling does, but on straight lines: what comes next is unknown.
func TestSourceRate(t *testing.T) {
	db := testcli.Database()
	takes, _ := testcli.Takes()
	n := db.Skeleton().Len()
	for _, fps := range []float64{24, 30, 60, 100, 120} {
		c := &skel.Clip{Skel: takes[0].Clip.Skel, FPS: fps, Frames: 41, Pos: takes[0].Clip.Pos[:41*n], Rot: takes[0].Clip.Rot[:41*n]}
		want, in := c.Resampled(60), newSource(&clipFrames{clip: c}, db, 1, fps)
		pos, rot := make([]m3.Vec3, n), make([]m3.Quat, n)
		for f := range want.Frames {
			if err := in.Next(pos, rot); err != nil {
				t.Fatalf("%g per second, frame %d of %d: %v", fps, f, want.Frames, err)
			}
			p, q := want.Frame(f)
			for j := range pos {
				if pos[j].Dist(p[j]) > 2e-3 || rot[j].Angle(q[j]) > 0.02 {
					t.Fatalf("%g per second, frame %d: joint %d is at %v %v, want %v %v", fps, f, j, pos[j], rot[j], p[j], q[j])
				}
			}
		}
		if err := in.Next(pos, rot); err != io.EOF {
			t.Errorf("%g per second: more than %d frames: %v", fps, want.Frames, err)
		}
	}
}

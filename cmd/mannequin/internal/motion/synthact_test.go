package motion

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/eval/figure"
	"mannequin/offline/mocap"
)

const jab = "[[target]]\njoint = \"LeftHand\"\nat = [0.05, 1.45, 0.65]\nfrom = 1\nto = 1.1\n"

// A fist comes where it is wanted, in the file that is written, and a foot too; a
// table of the same places says the same as targets.
func TestSynthAct(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "o.bvh")
	m, err := input.OpenManifold("human")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, targets, joint string
		at                   m3.Vec3
		frame                int
	}{
		{"punch", jab, "LeftHand", m3.V(0.05, 1.45, 0.65), 63},
		{"kick", "[[target]]\njoint = \"RightFoot\"\nat = [-0.1, 0.5, 0.7]\nfrom = 1.2\nease = 0.4\n", "RightFoot", m3.V(-0.1, 0.5, 0.7), 72},
	} {
		file := testcli.WriteFile(t, dir, c.kind+".toml", c.targets)
		r := testcli.Report[actReport](t, mannequin, "synth", "--kind", c.kind, "--targets", file, "--seconds", "3", "--out", out, "--json")
		t.Logf("%+v", r)
		if r.Given > 1 || r.Worst > 6 || r.Motion.Skate > 0.3 || math.Abs(r.Seconds-3) > 0.02 {
			t.Errorf("%+v", r)
		}
		b, err := mocap.OpenBVH(out)
		if err != nil {
			t.Fatal(err)
		}
		// It stands where it stood, so that the world is the body's frame turned a
		// little.
		at := figure.Positions(b.Clip, c.frame)[b.Clip.Skel.Index(c.joint)]
		hips := figure.Positions(b.Clip, c.frame)[0].Flat()
		if away := at.Sub(hips).Flat().Len(); math.Abs(float64(away-c.at.Flat().Len())) > 0.15 || math.Abs(float64(at.Y-c.at.Y)) > 0.06 {
			t.Errorf("%s is at %v, the hips over %v, want %v from there", c.joint, at, hips, c.at)
		}

		columns, err := m.Columns(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		given, err := (&synthOptions{kind: c.kind, targets: file, seconds: 3}).openGiven(m)
		if err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		table.WriteString("time")
		for _, col := range columns {
			fmt.Fprintf(&table, ",%s.%c", m.Layout.Joints[col/3], "xyz"[col%3])
		}
		for f := 0; f < 180; f++ {
			fmt.Fprintf(&table, "\n%.9f", 2+float64(f)/60)
			for _, v := range given[f*len(columns):][:len(columns)] {
				fmt.Fprintf(&table, ", %.8f", v)
			}
		}
		again, err := (&synthOptions{kind: c.kind, targets: testcli.WriteFile(t, dir, c.kind+".csv", table.String()+"\n")}).openGiven(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(given) {
			t.Fatalf("the table has %d values, its targets %d", len(again), len(given))
		}
		for i, v := range again {
			if math.Abs(float64(v-given[i])) > 1e-5 {
				t.Fatalf("value %d of the table is %g, its targets' %g", i, v, given[i])
			}
		}
	}
	walk := strollBVH(t, dir)
	code, text, errs := mannequin("synth", "--kind", "kick", "--targets", walk, "--out", out)
	if code != 0 || !strings.Contains(text, "4.0 s of a kick") {
		t.Errorf("feet of a recording: %d %s\n%s", code, errs, text)
	}
}

func TestSynthActRefuses(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "o.bvh")
	files := 0
	file := func(ext, text string) string {
		files++
		return testcli.WriteFile(t, dir, fmt.Sprintf("%d%s", files, ext), text)
	}
	const head = "time,LeftHand.x,LeftHand.y,LeftHand.z,RightHand.x,RightHand.y,RightHand.z\n"
	good := file(".toml", jab)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--kind", "dance"}, 2, "--kind"},
		{nil, 2, "--path is missing"},
		{[]string{"--path", "circle", "--targets", good}, 2, "--targets is not for --kind locomotion"},
		{[]string{"--kind", "punch"}, 2, "--targets is missing"},
		{[]string{"--kind", "punch", "--targets", good, "--path", "circle"}, 2, "--path is not for --kind punch"},
		{[]string{"--kind", "punch", "--targets", good, "--speed", "1"}, 2, "--speed is not"},
		{[]string{"--kind", "punch", "--targets", good, "--kick", "x"}, 2, "--kick is not"},
		{[]string{"--kind", "punch", "--targets", good, "--punch", "human-kick"}, 1, `of the kind "kick"`},
		{[]string{"--kind", "punch", "--targets", "x.csv", "--seconds", "3"}, 2, "--seconds is for"},
		{[]string{"--kind", "punch", "--targets", "x.txt"}, 1, "want a table"},
		{[]string{"--kind", "punch", "--targets", good, "--seconds", "0.5"}, 1, ".toml:5: it is from 1 to 1.1 s"},
		{[]string{"--kind", "kick", "--targets", good}, 1, ".toml:2: a kick is made from LeftFoot"},
		{[]string{"--kind", "punch", "--targets", file(".toml", jab+"space = \"world\"\n")}, 1, ".toml:6: space is"},
		{[]string{"--kind", "punch", "--targets", file(".csv", "")}, 1, "header"},
		{[]string{"--kind", "punch", "--targets", file(".csv", "time,LeftHand.x\n0,1\n")}, 1, `:1: no column "LeftHand.y"`},
		{[]string{"--kind", "punch", "--targets", file(".csv", strings.Replace(head, "time", "t", 1)+"0,1,1,1,1,1,1\n")}, 1, ":1: 7 columns"},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1,x\n")}, 1, `:2: RightHand.z is "x"`},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1,NaN\n")}, 1, ":2: RightHand.z"},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1,1\n0,1,1,1,1,1,1\n")}, 1, ":3: time is 0 s"},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1,1\n1e4,1,1,1,1,1,1\n")}, 1, "at most 600 s"},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1\n")}, 1, "wrong number of fields"},
		{[]string{"--kind", "punch", "--targets", file(".csv", head+"0,1,1,1,1,1,1\n")}, 1, "1 rows"},
	} {
		code, _, stderr := mannequin(append([]string{"synth", "--out", out}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %s; want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}

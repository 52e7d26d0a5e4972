package judge

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/judge"
	"mannequin/offline/mocap"
	"mannequin/offline/retarget"
)

func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(Commands()...), args...)
}

// glide writes a clip of a person who glides ahead and bounces, in centimetres.
func glide(t *testing.T, dir, name string, bounce float64, frames int) string {
	t.Helper()
	c := skel.NewClip(retarget.Human(), 60, frames)
	for f := range frames {
		pos, _ := c.Frame(f)
		pos[0] = m3.V(0, float32(1+bounce*math.Sin(0.2*float64(f))), 0.02*float32(f))
	}
	var b bytes.Buffer
	must.Do(t, mocap.WriteClip(&b, c.Scaled(100)))
	return testcli.WriteFile(t, dir, name, b.String())
}

// A motion equals itself in every row, and a wilder walk does not.
func TestJudge(t *testing.T) {
	dir := t.TempDir()
	refs := filepath.Join(dir, "refs")
	must.Do(t, os.Mkdir(refs, 0o777))
	testcli.WriteFile(t, refs, "LICENSE.txt", "MIT")
	calm, wild := glide(t, refs, "calm.bvh", 0.01, 600), glide(t, dir, "wild.bvh", 0.02, 600)
	same := testcli.Report[judge.Report](t, mannequin, "judge", calm, "--ref", refs, "--json")
	if same.Count < 10 || same.Within != same.Count || len(same.Files) != 1 || len(same.Sets) != 1 {
		t.Errorf("%d of %d rows of a motion are like itself", same.Within, same.Count)
	}
	other := testcli.Report[judge.Report](t, mannequin, "judge", wild, "--ref", refs, "--json")
	if other.Within >= other.Count {
		t.Errorf("all %d rows of another motion are like it", other.Count)
	}
	code, text, errs := mannequin("judge", wild, "--ref", refs, "--ref", calm)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if code != 0 || !strings.Contains(lines[len(lines)-1], "rows lie within 0.7 to 1.4") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	own := testcli.Report[judge.Report](t, mannequin, "judge", wild, "--from", calm, "--json")
	for _, row := range own.Rows {
		if row.Made != nil && (row.From == nil || row.Recorded == nil || math.Abs(*row.From-*row.Recorded) > 1e-9**row.From) {
			t.Errorf("against its own clip: %s %s has %v and %v", row.Measure, row.Kind, row.From, row.Recorded)
		}
	}
	if own.Own == nil || own.Own.Count != own.Count || own.Own.Within != own.Within {
		t.Errorf("against its own clip %+v, as a recording %+v", own.Own, own.Score)
	}
	kept := testcli.Report[judge.Report](t, mannequin, "judge", calm, "--from", calm, "--ref", wild, "--json")
	if kept.Own == nil || kept.Own.Within != kept.Own.Count || kept.Within >= kept.Count {
		t.Errorf("a motion against itself %+v, against a wilder one %+v", kept.Own, kept.Score)
	}
	short := glide(t, dir, "short.bvh", 0.01, 30)
	odd := filepath.Join(dir, "odd")
	must.Do(t, os.Mkdir(odd, 0o777))
	testcli.Walk(t, odd, "slides.bvh", 1.8, 40, 600) // at heights that differ
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"--ref or --from", command.ExitUsage, []string{calm}},
		{"short.bvh: 0.50 s are too short", 1, []string{short, "--ref", refs}},
		{"none.bvh", 1, []string{calm, "--ref", filepath.Join(dir, "none.bvh")}},
		{"no recording in", 1, []string{calm, "--ref", refs, "--without", "calm"}},
		{"is no pattern", 1, []string{calm, "--ref", refs, "--without", "["}},
		{"odd: all recordings are on uneven ground", 1, []string{calm, "--ref", odd}},
	} {
		if code, _, errs := mannequin(append([]string{"judge"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d: %s", c.want, code, errs)
		}
	}
}

// Pairs are drawn with a form and answers, and a form that is filled in is scored.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	made, recorded, out := glide(t, dir, "made.bvh", 0.01, 300), glide(t, dir, "recorded.bvh", 0.02, 300), filepath.Join(dir, "look")
	args := []string{"compare", made, recorded, "--out", out, "--format", "png", "--seconds", "1", "--pairs", "4"}
	r := testcli.Report[compareReport](t, mannequin, append(args, "--json")...)
	if pictures, err := filepath.Glob(filepath.Join(out, "pair-*", "*.png")); r.Pairs != 4 || err != nil || len(pictures) != 4*30 {
		t.Fatalf("%+v, %d pictures", r, len(pictures))
	}
	answers := testcli.Read(t, r.Answers)
	if !strings.Contains(answers, "left") || !strings.Contains(answers, "right") || strings.Contains(testcli.Read(t, r.Form), "t\n") {
		t.Errorf("answers\n%s", answers)
	}
	// All right, and all wrong.
	right := testcli.WriteFile(t, dir, "right.csv", answers)
	if r := testcli.Report[scoreReport](t, mannequin, "compare", r.Answers, "--score", right, "--json"); r.Right != 4 || r.Of != 4 || math.Abs(r.Low-0.398) > 0.001 || r.High != 1 {
		t.Errorf("%+v", r)
	}
	turn := strings.NewReplacer("left", "right", "right", "left")
	wrong := testcli.WriteFile(t, dir, "wrong.csv", turn.Replace(answers))
	if r := testcli.Report[scoreReport](t, mannequin, "compare", r.Answers, "--score", wrong, "--json"); r.Right != 0 || r.Of != 4 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"no pair is filled in", 1, []string{r.Answers, "--score", r.Form}},
		{"no answer for \"pair-99\"", 1, []string{r.Answers, "--score", testcli.WriteFile(t, dir, "more.csv", "pair,recorded\npair-99,left\n")}},
		{"odd.csv:2: the side is \"up\"", 1, []string{r.Answers, "--score", testcli.WriteFile(t, dir, "odd.csv", "pair,recorded\npair-01,up\n")}},
		{"want a pair and a side", 1, []string{r.Answers, "--score", testcli.WriteFile(t, dir, "narrow.csv", "pair\n")}},
		{"want MADE, RECORDED", command.ExitUsage, []string{made, "--out", out}},
		{"of one kind in common", 1, []string{made, recorded, "--out", out, "--seconds", "60"}},
	} {
		if code, _, errs := mannequin(append([]string{"compare"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d: %s", c.want, code, errs)
		}
	}
}

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
	if own.Count == 0 || len(own.Told) != 0 || own.Rows[0].From == nil || *own.Rows[0].From != *own.Rows[0].Recorded {
		t.Errorf("against its own clip: %+v", own)
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

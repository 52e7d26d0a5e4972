package character

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/anatomy"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

var update = flag.Bool("update", false, "write testdata/rigs.txt anew; the verdicts stay")

const rigsFile = "testdata/rigs.txt"

// rig is a line of rigs.txt: a file, what is found in it, and whether that is right by the picture of
// mannequin inspect --picture.
type rig struct{ file, found, verdict string }

func readRigs(t *testing.T) (out []rig) {
	t.Helper()
	for s := bufio.NewScanner(bytes.NewReader(must.Get(os.ReadFile(rigsFile))(t))); s.Scan(); {
		if f := strings.Split(s.Text(), " | "); len(f) == 3 {
			out = append(out, rig{f[0], f[1], f[2]})
		}
	}
	return out
}

// describe returns the roles of a character in one line.
func describe(path string) (string, error) {
	s, err := Open(path)
	if err != nil {
		return "", err
	}
	b, names := s.Roles(nil), s.Joints()
	name := func(j int) string {
		if j < 0 {
			return "-"
		}
		return anatomy.NameOf(names, j)
	}
	text := fmt.Sprintf("%v, faces %s, hips %s, head %s", b.Kind, axis(b), name(b.Hips), name(b.Head))
	for _, c := range []struct {
		role  string
		limbs []anatomy.Limb
	}{{"leg", b.Legs}, {"arm", b.Arms}, {"wing", b.Wings}} {
		for i := 0; i < len(c.limbs); i += 2 {
			l := c.limbs[i]
			text += fmt.Sprintf(", %s %s %s %s by %v", c.role, name(l.Upper), name(l.Middle), name(l.Lower), l.Found)
		}
	}
	if n := len(b.Tails); n > 0 {
		text += fmt.Sprintf(", tail %s", name(b.Tails[0][0]))
	}
	return text, nil
}

func axis(b *anatomy.Body) string {
	for _, l := range b.Describe() {
		if _, rest, ok := strings.Cut(l, "ahead "); ok {
			return strings.Split(rest, ";")[0]
		}
	}
	return ""
}

// What is found in public characters stays as it was looked at. Each file's line says whether it is right.
// docs/rigs.md has the sums: go test -v -run PublicRigs ./offline/character
func TestPublicRigs(t *testing.T) {
	dir := mocapdata.Dir(t)
	rigs := readRigs(t)
	right, all := map[string]int{}, map[string]int{}
	var lines strings.Builder
	for _, r := range rigs {
		got, err := describe(filepath.Join(dir, filepath.FromSlash(r.file)))
		if os.IsNotExist(err) || err != nil && strings.Contains(err.Error(), "no such file") {
			t.Logf("%s is not here", r.file)
			continue
		}
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		fmt.Fprintf(&lines, "%s | %s | %s\n", r.file, got, r.verdict)
		if got != r.found && !*update {
			t.Errorf("%s:\n%s\nwas\n%s", r.file, got, r.found)
		}
		kind, _, _ := strings.Cut(got, ", faces")
		if all[kind]++; r.verdict == "right" {
			right[kind]++
		} else {
			t.Logf("%s: %s", r.file, r.verdict)
		}
	}
	for _, k := range []anatomy.Kind{anatomy.TwoLegs, anatomy.Bird, anatomy.FourLegs, anatomy.EightLegs, anatomy.Legless} {
		t.Logf("%v: %d of %d right", k, right[k.String()], all[k.String()])
	}
	if *update {
		must.Do(t, os.WriteFile(rigsFile, []byte(lines.String()), 0o644))
	}
}

// The one public character that is not found without a map is right with one: of eight lines.
func TestPublicRigWithMap(t *testing.T) {
	file := filepath.Join(mocapdata.Dir(t), "quaternius-fbx", "Skeleton.fbx")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%v", err)
	}
	as := map[string]string{
		"LeftUpLeg": "R.UpperLeg", "LeftLeg": "R.DownLeg", "RightUpLeg": "L.UpperLeg", "RightLeg": "L.DownLeg",
		"LeftArm": "R.UpperLeg.001", "LeftForeArm": "R.DownLeg.001", "RightArm": "L.UpperLeg.001", "RightForeArm": "L.DownLeg.001",
	}
	s := must.Get(Open(file))(t)
	b := s.Roles(as)
	if b.Kind != anatomy.TwoLegs || b.Ahead.Z < 0.9 {
		t.Errorf("%v, ahead %v", b.Kind, b.Ahead)
	}
	names, found := s.Joints(), b.Uniform()
	for ours, theirs := range as {
		if j, ok := found[ours]; !ok || names[j] != theirs {
			t.Errorf("%s is %v, want %s", ours, j, theirs)
		}
	}
	if err := b.NoPerson(); err != nil {
		t.Error(err)
	}
}

package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"
)

const freeSource = `name = "tin-dog"
data = "three walks"
licence = "CC0-1.0"
limits = "It has no tail."
held_out = ["b"]
repeat = 2
`

// A folder's SourceFile decides what is held out and how often fast rows are repeated,
// unless the caller does. It is kept with the rows.
func TestSourceOfFolder(t *testing.T) {
	sk := synthSkeleton()
	clips, labels := map[string]*skel.Clip{}, map[string]Labels{}
	for i, name := range []string{"a", "b", "c"} {
		clips[name] = circle{r: 2 + float64(i), w: 1, frames: 200}.clip(sk) // 2 to 4 m/s
		labels[name] = walking(200)
	}
	dir := folder(t, clips, labels)
	must.Do(t, os.WriteFile(filepath.Join(dir, SourceFile), []byte(freeSource), 0o644))
	train, held := must.Get2(BuildMANN(dir, Options{}))(t)
	if !slices.Equal(train.Clips, []string{"a", "c"}) || !slices.Equal(held.Clips, []string{"b"}) {
		t.Errorf("trains on %v, holds out %v", train.Clips, held.Clips)
	}
	if len(train.Order) != 2*train.Rows {
		t.Errorf("%d visits of %d fast rows, want each twice", len(train.Order), train.Rows)
	}
	want := Source{"tin-dog", "three walks", "CC0-1.0", "It has no tail.", []string{"b"}, 2}
	for _, set := range []*MANN{train, held} {
		if s := set.Source; s == nil || s.Name != want.Name || s.Data != want.Data || s.License != want.License || s.Limits != want.Limits {
			t.Errorf("the rows say %+v", s)
		}
	}
	train, held = must.Get2(BuildMANN(dir, Options{HeldOut: []string{"a"}, Repeat: 3}))(t)
	if !slices.Equal(held.Clips, []string{"a"}) || len(train.Order) != 3*train.Rows {
		t.Errorf("the caller's wish is not kept: held out %v, %d visits of %d rows", held.Clips, len(train.Order), train.Rows)
	}
	must.Do(t, os.Remove(filepath.Join(dir, SourceFile)))
	train, _ = must.Get2(BuildMANN(dir, Options{HeldOut: []string{"a"}}))(t)
	if train.Source != nil || len(train.Order) != 11*train.Rows {
		t.Errorf("without the file: source %v, %d visits of %d rows", train.Source, len(train.Order), train.Rows)
	}
}

func TestParseSourceRejects(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "name is missing"},
		{"name = \"x\"\ndata = \" \"\nlicence = \"y\"", "data is missing"},
		{strings.Replace(freeSource, "licence", "license", 1), `unknown key "license"`},
		{strings.Replace(freeSource, "= 2", "= -1", 1), "repeat is -1"},
		{strings.Replace(freeSource, "= 2", "= 1001", 1), "repeat is 1001"},
		{strings.Replace(freeSource, "\"three walks\"", "three walks", 1), SourceFile + ":2:"},
		{strings.Replace(freeSource, "[\"b\"]", "7", 1), "held_out"},
		{"name = 1\n" + strings.Repeat("a.", 30000) + "a = 1", SourceFile + ":2: nested"}, // decoding it would take a minute
	} {
		if _, err := parseSource(SourceFile, []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want one with %q", c.in, err, c.want)
		}
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, SourceFile), make([]byte, maxSource+1), 0o644))
	if _, err := ReadSource(dir); err == nil || !strings.Contains(err.Error(), SourceFile) {
		t.Errorf("a file that is too large: %v", err)
	}
}

func FuzzParseSource(f *testing.F) {
	f.Add(freeSource)
	f.Add("name = 3\n")
	f.Add("[a\nb")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSource(SourceFile, []byte(text))
		if err == nil && (s.Name == "" || s.Data == "" || s.License == "" || s.Repeat < 0) {
			t.Errorf("accepted %+v", s)
		}
	})
}

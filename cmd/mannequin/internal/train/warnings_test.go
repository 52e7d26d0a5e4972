package train

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// people writes recordings of a few seconds. spoil may change them first.
func people(t *testing.T, spoil func(takes []*registration.Take)) (dir string) {
	t.Helper()
	takes, _ := must.Get2(human.Generate(human.Options{Seed: 1, Minutes: 0.05, Actions: []string{human.Walk}, Styles: []string{"neutral"}}))(t)
	if spoil != nil {
		spoil(takes)
	}
	dir = filepath.Join(t.TempDir(), "people")
	must.Do(t, human.Write(dir, takes))
	return dir
}

// Trainers warn of an outlier, with the recording and the frame, before training, and counts its
// warnings in the end.
func TestTrainersWarn(t *testing.T) {
	walk := ""
	dir := people(t, func(takes []*registration.Take) {
		pos, _ := takes[1].Clip.Frame(40)
		pos[0].X, walk = 9e5, takes[1].Name
	})
	to := t.TempDir()
	model := func(name string) string { return filepath.Join(to, name+".safetensors") }
	check := func(recording string, args ...string) {
		t.Helper()
		code, stdout, stderr := mannequin(slices.Concat([]string{"train"}, args, []string{"--out", model(args[0]), "--epochs", "1"})...)
		if code != 0 || strings.Count(stderr, "recording="+recording+" frame=40") != 1 || !strings.Contains(stdout, "warnings: ") {
			t.Errorf("%s: code %d\n%s\n%s", args[0], code, stdout, stderr)
		}
	}
	for _, args := range [][]string{
		{"manifold", "--hidden", "4", "--width", "3"},
		{"synth", "--manifold", model("manifold"), "--stand", "0"},
		{"footstep", "--hidden", "4"},
		{"strnn", "--units", "4", "--encode", "4", "--predict", "4", "--latent", "2"},
		{"recurrent", "--units", "4"},
	} {
		check("people/"+walk, append(args, dir, "--held-out", "walk-straight*")...)
	}
	dogs := filepath.Join(to, "dogs")
	if code, _, errs := mannequin("procgen", "--out", dogs, "--minutes", "0.1"); code != 0 {
		t.Fatal(errs)
	}
	recording := must.Get(filepath.Glob(filepath.Join(dogs, "*.bvh")))(t)[0]
	lines := strings.Split(string(must.Get(os.ReadFile(recording))(t)), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Frame Time") }) + 1
	_, rest, _ := strings.Cut(lines[first+40], " ")
	lines[first+40] = "9e5 " + rest
	must.Do(t, os.WriteFile(recording, []byte(strings.Join(lines, "\n")), 0o666))
	check(strings.TrimSuffix(filepath.Base(recording), ".bvh"), "mann", dogs, "--experts", "1", "--hidden", "8")
}

// A better model of the same data is not overwritten; the new weights can be written by --resume with
// --force, or elsewhere. A model of other data, or a worse one, is overwritten.
func TestBetterModelIsKept(t *testing.T) {
	dir, to := people(t, nil), t.TempDir()
	out, ckpt := filepath.Join(to, "m.safetensors"), filepath.Join(to, "m.ckpt")
	train := func(more ...string) (code int, all string) {
		t.Helper()
		code, stdout, stderr := mannequin(slices.Concat([]string{"train", "footstep", dir, "--held-out", "walk-straight*", "--hidden", "4", "--threads", "2"}, more)...)
		return code, stdout + stderr
	}
	file := func(path string) string { return string(must.Get(os.ReadFile(path))(t)) }
	ok := func(what string, more ...string) {
		t.Helper()
		if code, text := train(more...); code != 0 || strings.Contains(text, "warnings:") {
			t.Fatalf("%s: code %d\n%s", what, code, text)
		}
	}
	ok("the first", "--out", out, "--epochs", "4")
	good := file(out)
	ok("the same again", "--out", out, "--epochs", "4")
	if file(out) != good {
		t.Error("the same training writes other bytes over its model")
	}
	worse := []string{"--out", out, "--epochs", "4", "--rate", "1e-6", "--seed", "2"}
	for _, more := range [][]string{worse, append(worse, "--resume")} {
		code, text := train(more...)
		if code != command.ExitFailure || file(out) != good {
			t.Errorf("a worse model: code %d, overwritten: %v\n%s", code, file(out) != good, text)
		}
		for _, want := range []string{out + " holds a better model", "--resume --force", "--checkpoint " + ckpt} {
			if !strings.Contains(text, want) {
				t.Errorf("the message lacks %q:\n%s", want, text)
			}
		}
	}
	other := filepath.Join(to, "other.safetensors")
	ok("elsewhere", append(worse[2:], "--out", other, "--checkpoint", ckpt, "--resume")...)
	ok("by force", append(worse, "--resume", "--force")...)
	if file(out) == good || file(out) != file(other) {
		t.Error("--force does not write what is in the checkpoint")
	}
	ok("a better one", "--out", out, "--epochs", "4")
	if file(out) != good {
		t.Error("a worse model is not overwritten")
	}
	must.Do(t, os.WriteFile(out, []byte("no model"), 0o666))
	ok("something else", worse...)
	must.Get(netruntime.Open(out))(t)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testdog"
	"mannequin/netruntime"
	"mannequin/scenes/open"
	"mannequin/scenes/tape"
)

// A tape replaces an older one when it is finished.
func TestTapeReplaces(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "walk.tape"), filepath.Join(dir, "link")
	must.Do(t, os.WriteFile(path, []byte("old"), 0o666))
	must.Do(t, os.Symlink(path, link))
	r := must.Get(newRecording(link, tape.Header{Setup: open.Default("quadruped")}))(t)
	if b := must.Get(os.ReadFile(path))(t); string(b) != "old" {
		t.Errorf("before the end the tape is %q", b)
	}
	must.Do(t, r.finish())
	f := must.Get(os.Open(link))(t)
	defer f.Close()
	must.Get(tape.NewReader(f))(t)
	if left := must.Get(os.ReadDir(dir))(t); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// A recorded tape is verified, and a damaged tape is reported. The recording runs without pictures
// and reports the duration of ticks.
func TestTape(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	model := modelFile(t)
	tape := path("sub/walk.tape")
	code, stdout, stderr := demo(t, "--model", model, "--agents", "3", "--no-render", "--seconds", "0.2", "--json", "--workers", "2", "--record", tape)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || stderr != "" || lines[len(lines)-1] != tape {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	var r report
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(stdout), tape)), &r); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	sum := 0.0
	for _, s := range r.Stages {
		names = append(names, s.Name)
		sum += s.Mean
	}
	if r.Scene != "quadruped" || r.Agents != 4 || r.Threads != 2 || r.Ticks != 12 || r.Seconds != 0.2 || len(r.Kernels) != 1 || r.HeapBegin == 0 || r.HeapEnd == 0 {
		t.Errorf("%+v", r)
	}
	if !(r.Median > 0 && r.Median <= r.P99 && r.P99 <= r.Max && sum > 0 && sum <= r.Mean) || !slices.Contains(names, "Infer") || !slices.Contains(names, "Ground") {
		t.Errorf("times do not fit together: %+v", r)
	}

	for _, workers := range []string{"1", "3"} {
		if code, stdout, stderr := demo(t, "--replay", tape, "--verify", "--workers", workers); code != 0 || stdout != "612 ticks, all as recorded\n" || stderr != "" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	}

	file := must.Get(os.ReadFile(tape))(t)
	write := func(name string, b []byte) string {
		if err := os.WriteFile(path(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path(name)
	}
	flipped := bytes.Clone(file)
	flipped[len(file)/2] ^= 8
	for _, c := range []struct {
		tape, out, err string
		code           int
	}{
		{write("flipped.tape", flipped), "", "flipped.tape: tape: offset ", 1},
		{write("cut.tape", file[:len(file)-40]), "600 ticks, all as recorded\n", "the tape's end is missing", 0},
		{write("short.tape", file[:100]), "", "short.tape: tape: offset 17", 1},
		{write("empty.tape", nil), "", "no tape", 1},
		{path("absent.tape"), "", "demo: --replay " + path("absent.tape") + ": no such file\n", 1},
		{dir, "", filepath.Base(dir) + ": not a regular file", 1},
	} {
		code, stdout, stderr := demo(t, "--replay", c.tape, "--verify")
		if code != c.code || stdout != c.out || !strings.Contains(stderr, c.err) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.tape, code, stdout, stderr)
		}
	}

	// The file of the network is gone; then it holds another one.
	if err := os.Remove(model); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := demo(t, "--replay", tape, "--verify"); code != 1 || stdout != "" || !strings.Contains(stderr, model) {
		t.Errorf("no network: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	net := testdog.Net(t)
	ts := net.Tensors()
	ts[len(ts)-1].Data[0] += 0.01
	net = must.Get(netruntime.New(net.Meta(), ts))(t)
	f := must.Get(os.Create(model))(t)
	if err := net.Encode(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if code, stdout, stderr := demo(t, "--replay", tape, "--verify"); code != 1 || stdout != "" || !strings.Contains(stderr, "cannot be verified: it was recorded with another") {
		t.Errorf("another network: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// A tape that is played in a video shows what was recorded; a recording that is stopped
// leaves a whole tape, too.
func TestTapeWithPictures(t *testing.T) {
	needPicture(t)
	model, dir := modelFile(t), t.TempDir()
	tape, out := filepath.Join(dir, "walk.tape"), filepath.Join(dir, "frames")
	small := []string{"--width", "64", "--height", "64", "--fps", "20"}
	code, stdout, stderr := demo(t, append(small, "--model", model, "--agents", "2", "--seconds", "0.5", "--out", filepath.Join(dir, "walk.gif"), "--record", tape)...)
	if code != 0 || stdout != filepath.Join(dir, "walk.gif")+"\n"+tape+"\n" || stderr != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if code, stdout, stderr := demo(t, append(small, "--replay", tape, "--out", out)...); code != 0 || stdout != out+"\n" || stderr != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if files, err := os.ReadDir(out); err != nil || len(files) != 10 {
		t.Errorf("%d pictures, want 10 (%v)", len(files), err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e bytes.Buffer
	if code := command.Run(ctx, newCommand(), append(small, "--model", model, "--agents", "1", "--out", filepath.Join(dir, "b.gif"), "--record", tape), &o, &e); code != 1 || o.String() != tape+"\n" || !strings.Contains(e.String(), "stopped") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, o.String(), e.String())
	}
	if code, stdout, stderr := demo(t, "--replay", tape, "--verify"); code != 0 || stdout != "0 ticks, all as recorded\n" || stderr != "" {
		t.Errorf("stopped: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// Flags that do not go together are mistakes in the command line.
func TestConflicts(t *testing.T) {
	for args, want := range map[string]string{
		"--replay a.tape --record b.tape":    "--record with --replay",
		"--replay a.tape --scene crowd":      "--scene with --replay",
		"--replay a.tape --agents 50":        "--agents with --replay",
		"--replay a.tape --bf16":             "--bf16 with --replay",
		"--replay a.tape --no-render":        "--no-render with --replay",
		"--verify":                           "--verify needs --replay",
		"--replay a.tape --verify --out b":   "--out with --verify",
		"--replay a.tape --verify --fps 5":   "--fps with --verify",
		"--replay a.tape --verify --json":    "--json",
		"--replay a.tape --verify --seconds": "seconds",
		"--no-render --out a.gif":            "--out with --no-render",
		"--no-render --width 640":            "--width with --no-render",
		"--json":                             "--no-render",
		"--record a.gif --out ./a.gif":       "two files",
		"--scene people --model dog-free":    "--model: the scene people has no such network",
		"--scene latent --keypose a":         "crowd",
		"--scene nowhere --model dog":        "want quadruped, person, course, crowd",

		"--scene crowd --kinds dogs --strnn x":          "--strnn: none of --kinds dogs has such a network: add predicted",
		"--scene crowd --kinds lanes,styles --far none": "add dogs",
		"--workers -1":   "--workers is -1, want 0 to 1024",
		"--workers 5000": "--workers is 5000",
	} {
		code, stdout, stderr := demo(t, strings.Fields(args)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

// Every field of a setup has its flag among setupFlags.
func TestSetupFlags(t *testing.T) {
	c := newCommand()
	setup := reflect.TypeOf(open.Setup{})
	keys := 0
	for i := range setup.NumField() {
		name, _, _ := strings.Cut(setup.Field(i).Tag.Get("json"), ",")
		if name == "-" { // not of the player's choice
			continue
		}
		keys++
		if !slices.Contains(setupFlags, name) || c.Flags().Lookup(name) == nil {
			t.Errorf("setupFlags, or the flags, lack %q", name)
		}
	}
	if len(setupFlags) != keys {
		t.Errorf("%d setup flags, %d keys", len(setupFlags), keys)
	}
	for _, f := range pictureFlags {
		if c.Flags().Lookup(f) == nil {
			t.Errorf("there is no flag %q", f)
		}
	}
}

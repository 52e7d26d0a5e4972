package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
)

func TestDoctor(t *testing.T) {
	code, out, _ := mannequin("doctor", "--json")
	var r doctorReport
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Findings) == 0 {
		t.Fatalf("code %d, %v:\n%s", code, err, out)
	}
	for _, f := range r.Findings {
		if f.Name == "" || f.Detail == "" || (!f.OK && f.Remedy == "") {
			t.Errorf("incomplete line %+v", f)
		}
	}
}

func TestDoctorFindsALibrary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LD_LIBRARY_PATH", dir)
	if f := library("x", "libnothere.so.9", "get it"); f.OK || f.Remedy != "get it" {
		t.Errorf("found what is not there: %+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, "libnothere.so.9"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if f := library("x", "libnothere.so.9", "get it"); !f.OK || f.Remedy != "" {
		t.Errorf("missed what is there: %+v", f)
	}
}

func TestDoctorAsksTheDemo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts need a shell")
	}
	demo := filepath.Join(t.TempDir(), "demo")
	if f := openGL(demo); f.OK || f.Remedy != "make build" {
		t.Errorf("no demo: %+v", f)
	}
	for script, want := range map[string]finding{
		"test $1 = opengl && echo 'OpenGL 4.6, a card'":                     {OK: true, Detail: "OpenGL 4.6, a card"},
		"echo 'a driver talks' >&2; echo 'demo: want 4.3' >&2; exit 1":      {Detail: "want 4.3", Remedy: "demo --gpu-beyond leaves all on the processor"},
		"echo 'unknown command' >&2; exit 2":                                {Detail: demo + " opengl: exit status 2", Remedy: "demo --gpu-beyond leaves all on the processor"},
		"exit 1":                                                            {Detail: demo + " opengl: exit status 1", Remedy: "demo --gpu-beyond leaves all on the processor"},
		"echo 'OpenGL 4.6, a card'; echo 'demo: no window' >&2; kill -9 $$": {Detail: "no window", Remedy: "demo --gpu-beyond leaves all on the processor"},
	} {
		must.Do(t, os.WriteFile(demo, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		want.Name = "compute shaders"
		if f := openGL(demo); f != want {
			t.Errorf("%s: %+v, want %+v", script, f, want)
		}
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}

package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

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

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}

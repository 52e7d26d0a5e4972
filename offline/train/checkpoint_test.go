package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// checkpoint returns the bytes of an interrupted run.
func checkpoint(t *testing.T) []byte {
	t.Helper()
	y := newToy(t)
	y.interrupt(t, toySteps+3)
	b, err := os.ReadFile(y.job.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func resume(t *testing.T, b []byte, change func(j *Job)) error {
	t.Helper()
	y := newToy(t)
	y.job.Resume = true
	if change != nil {
		change(y.job)
	}
	if err := os.WriteFile(y.job.Checkpoint, b, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := y.try(context.Background(), 1)
	return err
}

func TestResumeRefusesAnotherRun(t *testing.T) {
	b := checkpoint(t)
	if err := resume(t, b, nil); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(j *Job){
		"data set": func(j *Job) { j.DataHash = "other" },
		"recipe":   func(j *Job) { j.Recipe = "other" },
		"network":  func(j *Job) { j.Params[0].Name = "other" },

		"number of shards": func(j *Job) { j.Shards = 4 },
	} {
		var m *MismatchError
		if err := resume(t, b, change); !errors.As(err, &m) || m.What != what {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

func TestDamagedCheckpoint(t *testing.T) {
	b := checkpoint(t)
	for n := 0; n < len(b); n += 1 + n/20 {
		if err := resume(t, b[:n], nil); err == nil {
			t.Fatalf("resumed from the first %d of %d bytes", n, len(b))
		}
	}
	for at := 0; at < len(b); at += 1 + at/20 {
		c := bytes.Clone(b)
		c[at] ^= 0x10
		if err := resume(t, c, nil); err == nil {
			t.Fatalf("resumed from a file with byte %d changed", at)
		}
	}
	if err := resume(t, append(bytes.Clone(b), 0), nil); err == nil || !strings.Contains(err.Error(), "follow") {
		t.Errorf("a byte too many: %v", err)
	}
	huge := bytes.Clone(b)
	copy(huge[len(magic)+2:], "\xff\xff\xff\xff")
	if err := resume(t, huge, nil); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a header of 4 GiB: %v", err)
	}
	newer := bytes.Clone(b)
	newer[len(magic)] = version + 1
	if err := resume(t, newer, nil); err == nil || !strings.Contains(err.Error(), "checkpoint version 3") {
		t.Errorf("a newer version: %v", err)
	}
}

// Weights that are not finite are refused even in a valid file.
func TestCheckpointNotFinite(t *testing.T) {
	for name, spoil := range map[string]func(s *state){
		"weight": func(s *state) { s.params[1].Val[0] = float32(math.NaN()) },
		"moment": func(s *state) { s.slots[1][2][3] = float32(math.Inf(1)) },
	} {
		y := newToy(t)
		s := newState(y.job.Params, y.job.Optimizer)
		s.History = []Point{{}}
		spoil(s)
		var b bytes.Buffer
		if err := s.encode(&b, y.job); err != nil {
			t.Fatal(err)
		}
		if err := resume(t, b.Bytes(), nil); err == nil || !strings.Contains(err.Error(), "it holds weights") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A resumed run writes the model again, because its file may be lost.
func TestResumeSaves(t *testing.T) {
	y := newToy(t)
	y.run(t, context.Background())
	best := y.best
	z := newToy(t)
	z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
	z.run(t, context.Background())
	if len(z.saves) != 1 || !reflect.DeepEqual(z.best, best) {
		t.Errorf("%d models made, or another one", len(z.saves))
	}
}

// A run does not overwrite a file that is not a checkpoint.
func TestForeignFile(t *testing.T) {
	for content, ok := range map[string]bool{"": true, "a letter": false, magic + "\xff\xff": false, string(checkpoint(t)): false} {
		y := newToy(t)
		if err := os.WriteFile(y.job.Checkpoint, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := y.try(context.Background(), 1)
		if (err == nil) != ok {
			t.Errorf("over %.10q: %v", content, err)
		}
		if b, _ := os.ReadFile(y.job.Checkpoint); !ok && string(b) != content {
			t.Errorf("%.10q was changed", content)
		}
	}
}

// A checkpoint of a later program is refused with both versions, and stays as it is.
func TestLaterVersion(t *testing.T) {
	b := checkpoint(t)
	b[len(magic)] = version + 1
	for _, again := range []bool{false, true} {
		y := newToy(t)
		y.job.Resume = again
		must.Do(t, os.WriteFile(y.job.Checkpoint, b, 0o644))
		_, err := y.try(context.Background(), 1)
		if err == nil || !strings.Contains(err.Error(), "checkpoint version 3, this program reads versions 1 to 2") || !strings.Contains(err.Error(), y.job.Checkpoint) {
			t.Errorf("resumed %v: %v", again, err)
		}
		if after, _ := os.ReadFile(y.job.Checkpoint); !slices.Equal(b, after) {
			t.Errorf("resumed %v: the file was changed", again)
		}
	}
}

// The error about another recipe names what differs, not all of both.
func TestMismatchIsShort(t *testing.T) {
	for _, c := range [][4]string{
		{`{"network":"mann","seed":1,"adamw":{"rate":0.1}}`, `{"network":"mann","seed":2,"adamw":{"rate":0.1},"clip":3}`, `{"seed":1}`, `{"clip":3,"seed":2}`},
		{"text", `{"seed":2}`, "text", `{"seed":2}`},
	} {
		if a, b := differing(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%s and %s, want %s and %s", a, b, c[2], c[3])
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	y := newToy(f)
	s := newState(y.job.Params, y.job.Optimizer)
	s.History = []Point{{}}
	var b bytes.Buffer
	if err := s.encode(&b, y.job); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), false)
	f.Add(b.Bytes()[:40], false)
	f.Add(b.Bytes()[:b.Len()-sha256.Size], true)
	old, err := os.ReadFile("testdata/version-1.ckpt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(old, false)
	f.Add(old[:len(old)-sha256.Size], true)
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, in []byte, sealed bool) {
		if sealed { // with a right sum
			sum := sha256.Sum256(in)
			in = append(bytes.Clone(in), sum[:]...)
		}
		s := newState(y.job.Params, y.job.Optimizer)
		if err := s.decode(bytes.NewReader(in), int64(len(in)), y.job); err != nil {
			return
		}
		// Written back and read again, the state is the same.
		var again bytes.Buffer
		if err := s.encode(&again, y.job); err != nil {
			t.Fatal(err)
		}
		z := newState(y.job.Params, y.job.Optimizer)
		if err := z.decode(&again, int64(again.Len()), y.job); err != nil {
			t.Fatal(err)
		}
	})
}

// A file of version 1 from an interrupted run loads and continues.
func TestVersion1(t *testing.T) {
	b, err := os.ReadFile("testdata/version-1.ckpt")
	if err != nil {
		t.Fatal(err)
	}
	y := newToy(t)
	s := newState(y.job.Params, y.job.Optimizer)
	if err := s.decode(bytes.NewReader(b), int64(len(b)), y.job); err != nil {
		t.Fatal(err)
	}
	if s.Epoch != 1 || s.Step != 3 || s.Total != toySteps+3 || len(s.History) != 2 {
		t.Errorf("position %+v", s.position)
	}
	// The values of a run of the current version, up to rounding.
	z := newToy(t)
	z.interrupt(t, toySteps+3)
	for i, p := range z.job.Params {
		for j, v := range p.Val {
			if d := v - s.params[i].Val[j]; d > 1e-4 || d < -1e-4 {
				t.Fatalf("%s[%d] is %v, today %v", p.Name, j, s.params[i].Val[j], v)
			}
		}
	}
	if err := resume(t, b, nil); err != nil {
		t.Error(err)
	}
	var m *MismatchError
	if err := resume(t, b, func(j *Job) { j.Optimizer = AdaDelta{Rate: 1, Rho: 0.9, Eps: 1e-8} }); !errors.As(err, &m) || m.What != "optimiser" {
		t.Errorf("with another optimiser: %v", err)
	}
}

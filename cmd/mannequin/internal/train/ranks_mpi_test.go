//go:build mpi

package train

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mpirun is the command for a number of ranks, on a machine with fewer cores, also for root.
func mpirun(t *testing.T, ranks int, program string, args ...string) *exec.Cmd {
	t.Helper()
	script, err := filepath.Abs("../../../../scripts/mpirun.sh")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), script, append([]string{"--oversubscribe", "--quiet", "-n", fmt.Sprint(ranks), program}, args...)...)
	c.Env = append(os.Environ(), "SECONDS_LEFT=5", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
	return c
}

// apart takes shared memory from the ranks of a command, as if each was on a machine of its own.
func apart(c *exec.Cmd) *exec.Cmd {
	c.Env = append(c.Env, "OMPI_MCA_osc=^sm")
	return c
}

// cluster builds the program, makes recordings of a dog by rules, and returns how to train on them.
func cluster(t *testing.T) (program string, args func(out string) []string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "mannequin")
	if out, err := exec.Command("go", "build", "-tags", "mpi", "-o", program, "mannequin/cmd/mannequin").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data := filepath.Join(dir, "data")
	if code, _, stderr := mannequin("procgen", "--out", data, "--minutes", "1", "--seed", "3"); code != 0 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	return program, func(out string) []string {
		return []string{"train", "mann", data, "--out", out, "--threads", "1", "--shards", "8", "--batch", "32", "--experts", "2", "--hidden", "16", "--epochs", "3",
			"--keep", "0.9", "--repeat", "1", "--checkpoint-minutes", "0.002", "--resume"}
	}
}

// Weights are the same bytes for any number of ranks, also if ranks were killed and others went on.
func TestRanksOverMPI(t *testing.T) {
	program, args := cluster(t)
	dir := t.TempDir()
	hash := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256(b))
	}
	alone := filepath.Join(dir, "alone.safetensors")
	if out, err := exec.Command(program, args(alone)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := hash(alone)
	began := time.Now()
	for ranks := 1; ranks <= 4; ranks++ {
		name := filepath.Join(dir, fmt.Sprintf("%d.safetensors", ranks))
		began = time.Now()
		a := args(name)
		if ranks == 3 { // two of them do not read the recordings
			a = append(a, "--rows", filepath.Join(dir, "rows"))
		}
		c := mpirun(t, ranks, program, a...)
		if ranks == 4 {
			c = apart(c)
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%d ranks: %v\n%s", ranks, err, out)
		}
		if got := hash(name); got != want {
			t.Errorf("%d ranks make other weights than one process", ranks)
		}
		if n := strings.Count(string(out), "held-out loss"); n != 1 {
			t.Errorf("%d ranks print %d reports, want one:\n%s", ranks, n, out)
		}
	}
	whole := time.Since(began)

	// So they are with rounded gradients, which make other weights.
	rounded := ""
	for ranks := 1; ranks <= 3; ranks++ {
		name := filepath.Join(dir, fmt.Sprintf("rounded%d.safetensors", ranks))
		c := mpirun(t, ranks, program, append(args(name), "--gradients", "bf16")...)
		if ranks == 3 {
			c = apart(c)
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%d ranks: %v\n%s", ranks, err, out)
		}
		got := hash(name)
		if rounded = cmp.Or(rounded, got); got != rounded || got == want {
			t.Errorf("rounded gradients on %d ranks: other weights than on one, or the same as without rounding", ranks)
		}
	}

	// A rank is killed at a random time, and another number of ranks goes on. A run that has ended is checked, and
	// another one begins. MANNEQUIN_KILLS is how often.
	most := 8
	if n, err := strconv.Atoi(os.Getenv("MANNEQUIN_KILLS")); err == nil {
		most = n
	}
	r := rand.New(rand.NewPCG(1, 1))
	kills, runs := 0, 0
	name := filepath.Join(dir, "killed0.safetensors")
	for try := 0; kills < most || runs == 0; try++ {
		ranks := 1 + (try+1)%4
		c := mpirun(t, ranks, program, args(name)...)
		if try%2 == 1 {
			c = apart(c)
		}
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		wait := time.Duration(r.Float64() * float64(whole))
		if kills >= most {
			wait = time.Hour // it may end now
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("try %d: %v\n%s", try, err, said.String())
			}
			if got := hash(name); got != want {
				t.Errorf("after %d kills, run %d has other weights", kills, runs)
			}
			runs++
			name = filepath.Join(dir, fmt.Sprintf("killed%d.safetensors", runs))
			continue
		case <-time.After(wait):
		}
		pids := children(t, c.Process.Pid, filepath.Base(program))
		if len(pids) == 0 || syscall.Kill(pids[r.IntN(len(pids))], syscall.SIGKILL) != nil {
			<-done // it has not begun, or has just ended
			continue
		}
		kills++
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("try %d: the job hangs after a rank was killed\n%s", try, said.String())
		}
	}
	t.Logf("%d times a rank was killed, %d runs ended", kills, runs)
}

// children returns the processes of a program that a process has started.
func children(t *testing.T, pid int, program string) (out []int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	for _, s := range strings.Fields(string(b)) {
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil {
			continue
		}
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", n)); err == nil && strings.TrimSpace(string(b)) == program {
			out = append(out, n)
		}
	}
	return out
}

// Ranks that cannot share a step say what is missing, once, and end.
func TestRanksNeedShards(t *testing.T) {
	program, args := cluster(t)
	a := args(filepath.Join(t.TempDir(), "x.safetensors"))
	for i := range a {
		if a[i] == "--shards" {
			a[i+1] = "0"
		}
	}
	out, err := mpirun(t, 2, program, a...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "add --shards") {
		t.Errorf("%v\n%s", err, out)
	}
}

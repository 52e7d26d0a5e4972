//go:build mpi

package train

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// slurm starts a Slurm of one node, which ends with the test, and returns how to call its commands.
func slurm(t *testing.T) (run func(name string, args ...string) *exec.Cmd) {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "srun"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: make test-cluster installs it", name)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("a Slurm of one's own runs as root alone")
	}
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o700))
	for _, d := range []string{"state", "spool"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	key := make([]byte, 1024)
	rand.Read(key)
	must.Do(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o400))
	host, _, _ := strings.Cut(must.Get(os.Hostname())(t), ".")
	conf := filepath.Join(dir, "slurm.conf")
	must.Do(t, os.WriteFile(conf, fmt.Appendf(nil, `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.sock
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
KillWait=10
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, dir, freePort(t), freePort(t)), 0o600))
	run = func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "SLURM_CONF="+conf)
		return c
	}
	daemon := func(name string, args ...string) {
		c := run(name, args...)
		log := must.Get(os.Create(filepath.Join(dir, name+".log")))(t)
		c.Stdout, c.Stderr = log, log
		must.Do(t, c.Start())
		t.Cleanup(func() {
			c.Process.Signal(syscall.SIGTERM)
			ended := make(chan struct{})
			go func() { c.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				c.Process.Kill()
			}
			if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
				t.Logf("%s:\n%s", name, text[max(0, len(text)-4000):])
			}
			log.Close()
		})
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	daemon("munged", "--foreground", "--force", "--key-file="+at("key"), "--socket="+at("munge.sock"), "--pid-file="+at("munge.pid"), "--log-file="+at("munge.txt"), "--seed-file="+at("seed"))
	waitFor(t, "munged", func() bool { _, err := os.Stat(at("munge.sock")); return err == nil })
	daemon("slurmctld", "-D")
	waitFor(t, "slurmctld", func() bool { return run("scontrol", "ping").Run() == nil })
	daemon("slurmd", "-D")
	waitFor(t, "slurmd", func() bool {
		out, _ := run("sinfo", "-h", "-o", "%T").Output()
		return strings.TrimSpace(string(out)) == "idle"
	})
	return run
}

// freePort returns a TCP port that is free.
func freePort(t *testing.T) int {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !so(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not so after three minutes", what)
		}
	}
}

// A job under Slurm makes the weights of one process, also if it is ended by a signal, queued again by itself, and goes on
// with another number of ranks. A sweep's job array makes its runs.
func TestRanksUnderSlurm(t *testing.T) {
	run := slurm(t)
	program, args := cluster(t)
	dir := t.TempDir()
	read := func(name string) string { b, _ := os.ReadFile(filepath.Join(dir, name)); return string(b) }
	in := func(c *exec.Cmd) *exec.Cmd { c.Dir = dir; return c }
	train := func(out string) string { return program + " " + strings.Join(args(out), " ") }
	if out, err := in(exec.Command("sh", "-c", train("alone.safetensors"))).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := in(run("sh", "-c", "srun -n 2 --mpi=pmix "+train("two.safetensors"))).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := read("alone.safetensors")
	if want == "" || read("two.safetensors") != want {
		t.Error("two ranks under srun make other weights than one process")
	}

	// The script of docs/cluster.md.
	must.Do(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte(`#!/bin/sh
#SBATCH --time=20 --requeue --open-mode=append --signal=B:USR1@120 --output=job.txt
trap 'scancel --signal=TERM "$SLURM_JOB_ID"; wait $run; scontrol requeue "$SLURM_JOB_ID"; exit' USR1
srun --mpi=pmix `+train("job.safetensors")+` &
run=$!
wait $run
`), 0o700))
	submit := func(args ...string) string {
		t.Helper()
		out, err := in(run("sbatch", append([]string{"--parsable"}, args...)...)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	state := func(job string) string {
		out, _ := run("squeue", "-h", "-o", "%T", "-j", job).Output()
		return strings.TrimSpace(string(out))
	}
	job := submit("--ntasks=2", "job.sh")
	waitFor(t, "the first epoch", func() bool { return strings.Contains(read("job.txt"), "done=1 of=3") })
	if out, err := run("scancel", "--signal=USR1", "--batch", job).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFor(t, "the job to queue itself again", func() bool { return state(job) == "PENDING" })
	if said := read("job.txt"); strings.Count(said, "mannequin: interrupted after") != 1 {
		t.Errorf("the ranks that were ended do not say so once:\n%s", said)
	}
	if out, err := run("scancel", job).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	job = submit("--ntasks=3", "job.sh")
	waitFor(t, "the end of the job", func() bool { return state(job) == "" || state(job) == "COMPLETED" })
	if read("job.safetensors") != want {
		t.Errorf("a job that was queued again, with another number of ranks, makes other weights than one process:\n%s", read("job.txt"))
	}

	line := strings.Join(args("{out}.safetensors"), " ")
	must.Do(t, os.WriteFile(filepath.Join(dir, "grid.toml"), []byte("run = "+fmt.Sprintf("%q", line+" --json")+"\nmetric = \"best_held_out_loss\"\n[values]\nrate = [1e-4, 1e-3]\n"), 0o600))
	if out, err := in(exec.Command(program, "sweep", "plan", "grid.toml", "--out", "sweep")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	job = submit("sweep/array.sh")
	waitFor(t, "the end of the array", func() bool { s := state(job); return s == "" || s == "COMPLETED\nCOMPLETED" })
	out, err := in(exec.Command(program, "sweep", "gather", "sweep")).CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 3 || strings.Contains(string(out), "no report") {
		t.Errorf("the sweep: %v\n%s\n%s%s", err, out, read("sweep/slurm-0.txt"), read("sweep/0000/log.txt"))
	}
}

package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"

	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/inspect"
	"mannequin/cmd/mannequin/internal/motion"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
	"mannequin/offline/mocap"
	"mannequin/offline/queue"
	"mannequin/offline/retarget"
)

// The test binary is also the program that does jobs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		command.Main(testcli.Root(commands()...))
	}
	os.Exit(m.Run())
}

func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(commands()...), args...)
}

// walks writes n clips of a person who moves ahead, each faster than the one before, in centimetres.
func walks(t *testing.T, n int) (files []string) {
	dir := t.TempDir()
	for i := range n {
		c := skel.NewClip(retarget.Human(), 60, 30)
		for f := range c.Frames {
			pos, _ := c.Frame(f)
			pos[0] = m3.V(0, 1, float32(f)*0.01*(1+float32(i)/100))
		}
		var b bytes.Buffer
		must.Do(t, mocap.WriteClip(&b, c.Scaled(100)))
		files = append(files, testcli.WriteFile(t, dir, fmt.Sprintf("walk-%04d.bvh", i), b.String()))
	}
	return files
}

func natsServer(t *testing.T) string {
	s := must.Get(server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true}))(t)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s.ClientURL()
}

// contents returns the files of a folder of outputs but the journal.
func contents(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		if e.Name() != queue.Journal {
			all[e.Name()] = string(must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t))
		}
	}
	return all
}

// A queue here writes what the command itself writes, goes on, and says what failed.
func TestQueue(t *testing.T) {
	in := walks(t, 4)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	run := func(in ...string) *queueReport {
		t.Helper()
		r := testcli.Report[queueReport](t, mannequin, append([]string{"queue", "--do", "convert --fps 30", "--out", out, "--json"}, in...)...)
		return &r
	}
	if r := run(in...); r.Jobs != 4 || r.Done != 4 || r.Had != 0 {
		t.Errorf("%+v", r)
	}
	alone := filepath.Join(dir, "alone.bvh")
	if code, _, errs := mannequin("convert", in[2], "--fps", "30", "--out", alone); code != 0 {
		t.Fatal(errs)
	}
	if got := contents(t, out); len(got) != 4 || got["walk-0002.bvh"] != string(must.Get(os.ReadFile(alone))(t)) {
		t.Errorf("%d outputs, want 4, and walk-0002.bvh as the command alone writes it", len(got))
	}
	if r := run(in...); r.Had != 4 {
		t.Errorf("again: %+v", r)
	}
	broken := testcli.WriteFile(t, dir, "broken.bvh", "no BVH")
	code, stdout, errs := mannequin("queue", broken, in[0], "--do", "convert", "--tries", "1", "--out", filepath.Join(dir, "2"))
	if code != 1 || !strings.Contains(stdout, "broken.bvh failed 1 times: ") || !strings.Contains(stdout, "1 of 2 done") || !strings.Contains(errs, "1 of 2 jobs failed") {
		t.Errorf("a broken file: exit %d: %s%s", code, stdout, errs)
	}
	code, stdout, errs = mannequin("queue", in[0], "--do", "inspect --json", "--out", filepath.Join(dir, "3"))
	if got := contents(t, filepath.Join(dir, "3"))["walk-0000.json"]; code != 0 || !json.Valid([]byte(got)) || got == "" {
		t.Errorf("what is printed: exit %d: %s%s%s", code, stdout, errs, got)
	}
}

func TestQueueUsage(t *testing.T) {
	in := walks(t, 1)[0]
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{in, "--out", out}, "do"},
		{[]string{in, "--do", "convert"}, "out"},
		{[]string{"--do", "convert", "--out", out}, "files or folders"},
		{[]string{in, "--do", "serve", "--out", out}, "want one of"},
		{[]string{in, "--do", "convert 'x", "--out", out}, "quotes"},
		{[]string{in, "--do", "", "--out", out}, "command line"},
		{[]string{in, "--do", "convert", "--ext", "bvh", "--out", out}, "as .bvh"},
		{[]string{in, "--do", "convert", "--timeout", "0s", "--out", out}, "--timeout"},
		{[]string{in, "--do", "convert", "--tries", "0", "--out", out}, "--tries"},
		{[]string{in, "--do", "convert /etc/passwd", "--nats", "nats://127.0.0.1:1", "--name", "A", "--out", out}, "lower-case"},
		{[]string{filepath.Join(out, "none"), "--do", "convert", "--out", out}, "none"},
	} {
		if code, _, errs := mannequin(append([]string{"queue"}, c.args...)...); code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d: %s, want %q", c.args, code, errs, c.want)
		}
	}
	if code, _, errs := mannequin("work"); code != 2 || !strings.Contains(errs, "nats") {
		t.Errorf("work without a server: exit %d: %s", code, errs)
	}
}

// Workers that are killed over and over do all clips, each once, with the bytes of a run here.
// MANNEQUIN_CLIPS is their number.
func TestWorkersKilled(t *testing.T) {
	n, every, most := 40, 500*time.Millisecond, 8 // on a slow machine, workers need longer than that to begin
	if s := os.Getenv("MANNEQUIN_CLIPS"); s != "" {
		n, every, most = must.Get(strconv.Atoi(s))(t), 5*time.Second, math.MaxInt
	}
	in, url := walks(t, n), natsServer(t)
	dir := t.TempDir()
	exe := must.Get(os.Executable())(t)
	workers := make([]*exec.Cmd, 4)
	start := func(i int) {
		workers[i] = exec.Command(exe, "work", "--nats", url, "--workers", "1")
		must.Do(t, workers[i].Start())
	}
	end := func(i int) { workers[i].Process.Kill(); workers[i].Wait() }
	for i := range workers {
		start(i)
		defer func() { end(i) }()
	}
	done := make(chan string)
	go func() {
		code, stdout, errs := mannequin(append([]string{"queue", "--do", "convert --fps 20", "--nats", url, "--out", filepath.Join(dir, "there")}, in...)...)
		done <- fmt.Sprint(code, stdout, errs)
	}()
	kills := 0
	for ended := false; !ended; {
		select {
		case said := <-done:
			t.Logf("%d workers were killed: %s", kills, said)
			if !strings.Contains(said, fmt.Sprintf("%d of %d done, in", n, n)) {
				t.Error("not all is done")
			}
			ended = true
		case <-time.After(every):
			if kills == most {
				continue
			}
			end(kills % len(workers))
			start(kills % len(workers))
			kills++
		}
	}
	if code, _, errs := mannequin(append([]string{"queue", "--do", "convert --fps 20", "--out", filepath.Join(dir, "here")}, in...)...); code != 0 {
		t.Fatal(errs)
	}
	there, here := contents(t, filepath.Join(dir, "there")), contents(t, filepath.Join(dir, "here"))
	if len(there) != n || len(here) != n {
		t.Fatalf("%d outputs of workers, %d of the run here, want %d", len(there), len(here), n)
	}
	for name, text := range here {
		if there[name] != text {
			t.Errorf("%s: a worker's is another", name)
		}
	}
	if lines := bytes.Count(must.Get(os.ReadFile(filepath.Join(dir, "there", queue.Journal)))(t), []byte("\n")); lines != n {
		t.Errorf("the journal has %d lines, want %d", lines, n)
	}
}

func commands() []*cobra.Command {
	return append(append(Commands(), motion.Commands()...), inspect.New())
}

package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
)

// The test binary is also the program that jobs run, and a worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake-program" {
		os.Exit(fakeProgram(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == "fake-worker" {
		fakeWorker(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// fakeProgram is "edit IN --out OUT": it writes IN in capitals. The text of IN says how it fails.
func fakeProgram(args []string) int {
	text, err := os.ReadFile(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch s := string(text); {
	case strings.HasPrefix(s, "fails"):
		fmt.Fprintf(os.Stderr, "a line before\nwalk.bvh: line 3: no such joint\n")
		return 1
	case strings.HasPrefix(s, "usage"):
		fmt.Fprintln(os.Stderr, "unknown flag")
		return usage
	case strings.HasPrefix(s, "slow"):
		time.Sleep(time.Minute)
	case strings.HasPrefix(s, "takes"):
		time.Sleep(30 * time.Millisecond)
	}
	if args[0] == "inspect" {
		fmt.Printf("%d bytes\n", len(text))
		return 0
	}
	if err := os.WriteFile(args[3], bytes.ToUpper(text), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func fakeWorker(url, folders string) {
	s, err := Dial(context.Background(), url, "test", "")
	for err != nil { // the server may be about to come back
		time.Sleep(50 * time.Millisecond)
		s, err = Dial(context.Background(), url, "test", "")
	}
	r := fakeRunner()
	r.Dir = folders
	if err := s.Work(context.Background(), r, WorkOptions{Slots: 1, Tries: 2, Backoff: 50 * time.Millisecond}); err != nil {
		panic(err)
	}
}

func fakeRunner() *Runner {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &Runner{Program: []string{exe, "fake-program"}, Timeout: 5 * time.Second}
}

// texts writes files with the given texts and returns their paths.
func texts(t *testing.T, texts ...string) (paths []string) {
	dir := t.TempDir()
	for i, text := range texts {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("walk-%03d.bvh", i)))
		must.Do(t, os.WriteFile(paths[i], []byte(text), 0o666))
	}
	return paths
}

// many returns n texts.
func many(n int, start string) (s []string) {
	for i := range n {
		s = append(s, fmt.Sprintf("%s %d", start, i))
	}
	return s
}

var edit = []string{"edit", In, "--out", Out}

var quick = Options{Tries: 2, Backoff: time.Millisecond}

// check fails unless dir has the texts in capitals, but for those that fail, and nothing else.
func check(t *testing.T, dir string, texts []string) {
	t.Helper()
	want := 1 // the journal
	for i, s := range texts {
		name := fmt.Sprintf("walk-%03d.bvh", i)
		got, err := os.ReadFile(filepath.Join(dir, name))
		if strings.HasPrefix(s, "fails") || strings.HasPrefix(s, "usage") {
			if err == nil {
				t.Errorf("%s: a job that failed has an output", name)
			}
			continue
		}
		want++
		if string(got) != strings.ToUpper(s) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, strings.ToUpper(s))
		}
	}
	if all := must.Get(os.ReadDir(dir))(t); len(all) != want {
		t.Errorf("the folder has %d entries, want %d: %v", len(all), want, all)
	}
}

// failed returns the errors of jobs by name.
func failed(failures []Failure) map[string]Result {
	m := map[string]Result{}
	for _, f := range failures {
		m[f.Job.In] = f.Result
	}
	return m
}

func TestLocal(t *testing.T) {
	in := append(many(12, "text"), "fails", "usage")
	b := must.Get(NewBatch(edit, texts(t, in...), ".bvh", false))(t)
	dir := filepath.Join(t.TempDir(), "out")
	run := func() (Progress, []Failure) {
		out := must.Get(OpenFolder(dir))(t)
		defer out.Close()
		p, failures, err := b.RunLocal(t.Context(), fakeRunner(), 3, out, quick)
		must.Do(t, err)
		check(t, dir, in)
		return p, failures
	}
	p, failures := run()
	if p != (Progress{Jobs: 14, Done: 12, Failed: 2}) {
		t.Errorf("first run: %+v", p)
	}
	f := failed(failures)
	if r := f["in/walk-012.bvh"]; r.Error != "walk.bvh: line 3: no such joint" || r.Fails != 2 {
		t.Errorf("a job that fails: %+v", r)
	}
	if r := f["in/walk-013.bvh"]; r.Error != "unknown flag" || r.Fails != 1 {
		t.Errorf("a wrong command line is tried once: %+v", r)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "walk-003.bvh"), []byte("spoilt"), 0o666))
	must.Do(t, os.Remove(filepath.Join(dir, "walk-004.bvh")))
	if p, _ := run(); p != (Progress{Jobs: 14, Done: 12, Failed: 2, Had: 10}) {
		t.Errorf("second run: %+v", p)
	}
}

// What a command prints is an output, and files that the command line names go along.
func TestLocalPrints(t *testing.T) {
	in := texts(t, "1234567")
	b := must.Get(NewBatch([]string{"inspect", In, "--map=" + in[0]}, in, ".txt", true))(t)
	if got := b.Jobs[0].Args[2]; got != "--map=with/2/walk-000.bvh" || len(b.Jobs[0].Files) != 2 {
		t.Errorf("a file that the command line names: %q, %+v", got, b.Jobs[0].Files)
	}
	dir := t.TempDir()
	out := must.Get(OpenFolder(dir))(t)
	defer out.Close()
	_, _, err := b.RunLocal(t.Context(), fakeRunner(), 1, out, quick)
	must.Do(t, err)
	if got := must.Get(os.ReadFile(filepath.Join(dir, "walk-000.txt")))(t); string(got) != "7 bytes\n" {
		t.Errorf("printed: %q", got)
	}
}

// A folder is an input whose files all count.
func TestFolderInput(t *testing.T) {
	dir := filepath.Dir(texts(t, "a", "b")[0])
	b := must.Get(NewBatch(edit, []string{dir}, ".character", false))(t)
	if j := b.Jobs[0]; len(j.Files) != 2 || j.In != "in/"+filepath.Base(dir) || j.Out != filepath.Base(dir)+".character" {
		t.Errorf("%+v", j)
	}
	before := b.Jobs[0].Hash()
	must.Do(t, os.WriteFile(filepath.Join(dir, "walk-001.bvh"), []byte("c"), 0o666))
	if must.Get(NewBatch(edit, []string{dir}, ".character", false))(t).Jobs[0].Hash() == before {
		t.Error("a folder whose files changed is the same job")
	}
	must.Fail(NewBatch(edit, []string{t.TempDir()}, ".x", false))(t, "without files")
	other := filepath.Join(t.TempDir(), "walk-000.fbx")
	must.Do(t, os.WriteFile(other, nil, 0o666))
	must.Fail(NewBatch(edit, []string{filepath.Join(dir, "walk-000.bvh"), other}, ".bvh", false))(t, "would both be written")
}

func TestTimeout(t *testing.T) {
	b := must.Get(NewBatch(edit, texts(t, "slow"), ".bvh", false))(t)
	out := must.Get(OpenFolder(t.TempDir()))(t)
	defer out.Close()
	r := fakeRunner()
	r.Timeout = 100 * time.Millisecond
	_, failures, err := b.RunLocal(t.Context(), r, 1, out, Options{Tries: 1})
	if must.Do(t, err); len(failures) != 1 || failures[0].Result.Error != "not done after 100ms" {
		t.Errorf("%+v", failures)
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, _, err := b.RunLocal(ctx, fakeRunner(), 1, out, Options{Tries: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an interrupted batch: %v", err)
	}
}

// startServer starts NATS inside of the test; port −1 takes any.
func startServer(t *testing.T, port int, dir string) *server.Server {
	s := must.Get(server.NewServer(&server.Options{JetStream: true, StoreDir: dir, Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true}))(t)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func dial(t *testing.T, url string) *Server {
	s := must.Get(Dial(t.Context(), url, "test", ""))(t)
	t.Cleanup(s.Close)
	return s
}

func TestServer(t *testing.T) { throughServer(t, startServer(t, -1, t.TempDir()).ClientURL()) }

// The same with the server as Debian has it.
func TestDebianServer(t *testing.T) {
	exe, err := exec.LookPath("nats-server")
	if err != nil {
		t.Skip("nats-server is not installed")
	}
	dir := t.TempDir()
	c := exec.Command(exe, "-js", "-sd", dir, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir)
	must.Do(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for range 100 {
		if files, _ := filepath.Glob(filepath.Join(dir, "*.ports")); len(files) == 1 {
			var ports struct{ Nats []string }
			if b, _ := os.ReadFile(files[0]); json.Unmarshal(b, &ports) == nil && len(ports.Nats) > 0 {
				throughServer(t, ports.Nats[0])
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("nats-server does not start")
}

// throughServer queues jobs, and has two workers do them.
func throughServer(t *testing.T, url string) {
	in := append(many(20, "text"), "fails", "usage")
	b := must.Get(NewBatch(edit, texts(t, in...), ".bvh", false))(t)
	s := dial(t, url)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error)
	for range 2 {
		go func() {
			ended <- dial(t, url).Work(ctx, fakeRunner(), WorkOptions{Slots: 2, Tries: 2, Backoff: time.Millisecond})
		}()
	}
	dir := t.TempDir()
	out := must.Get(OpenFolder(dir))(t)
	defer out.Close()
	p, failures, err := s.Run(t.Context(), b, out, quick)
	must.Do(t, err)
	check(t, dir, in)
	if p.Note = ""; p != (Progress{Jobs: 22, Done: 20, Failed: 2}) {
		t.Errorf("first run: %+v", p)
	}
	if f := failed(failures); f["in/walk-020.bvh"].Error != "walk.bvh: line 3: no such joint" || f["in/walk-020.bvh"].Fails != 2 || f["in/walk-021.bvh"].Fails != 1 {
		t.Errorf("failures: %+v", f)
	}
	dead := must.Get(s.js.Stream(t.Context(), "test-dead"))(t)
	if info := must.Get(dead.Info(t.Context()))(t); info.State.Msgs != 2 {
		t.Errorf("%d dead letters, want 2", info.State.Msgs)
	}
	var d Dead
	m := must.Get(dead.GetLastMsgForSubject(t.Context(), s.subject("dead", b.Jobs[20].Program, b.Jobs[20].Hash())))(t)
	must.Do(t, json.Unmarshal(m.Data, &d))
	if d.Result.Error != "walk.bvh: line 3: no such joint" || !d.Result.Dead {
		t.Errorf("dead letter: %+v", d.Result)
	}
	stop()
	for range 2 {
		must.Do(t, <-ended)
	}
	// Without workers: what is done comes from the server.
	dir = t.TempDir()
	again := must.Get(OpenFolder(dir))(t)
	defer again.Close()
	b.Jobs = b.Jobs[:20]
	if p, _, err = s.Run(t.Context(), b, again, quick); err != nil || p.Done != 20 {
		t.Errorf("second run: %+v, %v", p, err)
	}
	check(t, dir, in[:20])
	if info := must.Get(s.jobs.Info(t.Context()))(t); info.State.Msgs != 0 {
		t.Errorf("%d jobs are left on the server", info.State.Msgs)
	}
}

// A folder is in use as long as its worker or the program lives, and removed then. Others stay.
func TestFoldersOfTheKilled(t *testing.T) {
	r := Runner{Dir: t.TempDir()}
	folder := func(name string) string {
		dir := filepath.Join(r.Dir, name)
		must.Do(t, os.Mkdir(dir, 0o777))
		return dir
	}
	is := func(want ...string) {
		t.Helper()
		r.clean()
		var got []string
		for _, e := range must.Get(os.ReadDir(r.Dir))(t) {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("the folders are %v, want %v", got, want)
		}
	}
	const job, dead, other = jobFolder + "1", jobFolder + "2", "other-3"
	used := must.Get(hold(folder(job)))(t)
	must.Do(t, os.WriteFile(filepath.Join(folder(dead), "x"), nil, 0o666))
	folder(other)
	is(job, other)
	c := exec.Command(must.Get(os.Executable())(t), "fake-program", "edit", texts(t, "slow")[0], "--out", "x")
	c.ExtraFiles = []*os.File{used}
	must.Do(t, c.Start())
	used.Close() // the worker is killed
	is(job, other)
	c.Process.Kill()
	c.Wait()
	is(other)
}

// Workers are killed at random and the server is restarted. Each output is there once, and right.
// MANNEQUIN_KILLS is how often.
func TestKills(t *testing.T) {
	dir := t.TempDir()
	srv := startServer(t, -1, dir)
	url, port := srv.ClientURL(), srv.Addr().String()
	most := 6
	if n, err := strconv.Atoi(os.Getenv("MANNEQUIN_KILLS")); err == nil {
		most = n
	}
	in := many(max(60, 10*most), "takes")
	b := must.Get(NewBatch(edit, texts(t, in...), ".bvh", false))(t)
	s := dial(t, url)
	exe := must.Get(os.Executable())(t)
	rng := rand.New(rand.NewPCG(1, 2))
	workers, folders := make([]*exec.Cmd, 3), t.TempDir()
	start := func(i int) {
		workers[i] = exec.Command(exe, "fake-worker", url, folders)
		workers[i].Stderr = os.Stderr
		must.Do(t, workers[i].Start())
	}
	end := func(i int) { workers[i].Process.Kill(); workers[i].Wait() }
	for i := range workers {
		start(i)
		defer func() { end(i) }()
	}
	outs := t.TempDir()
	out := must.Get(OpenFolder(outs))(t)
	defer out.Close()
	done := make(chan error)
	var p Progress
	go func() {
		var err error
		p, _, err = s.Run(t.Context(), b, out, quick)
		done <- err
	}()
	kills := 0
	for {
		select {
		case err := <-done:
			must.Do(t, err)
			if p.Note = ""; p != (Progress{Jobs: len(in), Done: len(in)}) {
				t.Errorf("%+v", p)
			}
			check(t, outs, in)
			for i := range workers {
				end(i)
			}
			r := Runner{Dir: folders}
			for range 50 { // their jobs may run a little longer
				if r.clean(); len(must.Get(os.ReadDir(folders))(t)) > 0 {
					time.Sleep(100 * time.Millisecond)
				}
			}
			if left := must.Get(os.ReadDir(folders))(t); len(left) > 0 {
				t.Errorf("%d folders of killed workers stay: %v", len(left), left)
			}
			t.Logf("%d times a worker was killed or the server restarted", kills)
			return
		case <-time.After(time.Duration(200+rng.IntN(300)) * time.Millisecond):
			if kills >= most {
				continue
			}
			if kills++; kills%5 == 0 && !race.Enabled { // the server's own end is not ours to race
				srv.Shutdown()
				srv.WaitForShutdown()
				var n int
				fmt.Sscanf(port[strings.LastIndex(port, ":"):], ":%d", &n)
				srv = startServer(t, n, dir)
			} else {
				i := rng.IntN(len(workers))
				end(i)
				start(i)
			}
		}
	}
}

// A job that ends its workers is given up.
func TestLostJob(t *testing.T) {
	s := dial(t, startServer(t, -1, t.TempDir()).ClientURL())
	b := must.Get(NewBatch(edit, texts(t, "text"), ".bvh", false))(t)
	j := b.Jobs[0]
	must.Do(t, s.queue(t.Context(), b, j.Hash(), j, true))
	must.Do(t, s.queue(t.Context(), b, j.Hash(), j, true))
	c := must.Get(s.consumer(t.Context(), j.Program))(t)
	for range mostLost {
		must.Do(t, must.Get(c.Next(jetstream.FetchMaxWait(time.Second)))(t).Nak())
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.Work(ctx, fakeRunner(), WorkOptions{Slots: 1, Tries: 2})
	out := must.Get(OpenFolder(t.TempDir()))(t)
	defer out.Close()
	st := &state{}
	for open := map[string]*Job{j.Hash(): j}; len(open) > 0; {
		must.Do(t, s.collect(t.Context(), open, out, st, new(uint64)))
	}
	if len(st.failures) != 1 || !strings.Contains(st.failures[0].Result.Error, "none ended it") {
		t.Errorf("%+v", st.failures)
	}
}

// A job that has just failed for good, and whose message is not yet gone when it is queued again, is done all the same.
func TestQueuedWhileItEnds(t *testing.T) {
	was := collectFor
	collectFor = 300 * time.Millisecond
	defer func() { collectFor = was }()
	s := dial(t, startServer(t, -1, t.TempDir()).ClientURL())
	b := must.Get(NewBatch(edit, texts(t, "text"), ".bvh", false))(t)
	j := b.Jobs[0]
	must.Do(t, s.queue(t.Context(), b, j.Hash(), j, true))
	m := must.Get(must.Get(s.consumer(t.Context(), j.Program))(t).Next(jetstream.FetchMaxWait(5 * time.Second)))(t)
	must.Do(t, s.putResult(t.Context(), j.Hash(), Result{Error: "failed", Dead: true}))
	out := must.Get(OpenFolder(t.TempDir()))(t)
	defer out.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		time.Sleep(200 * time.Millisecond) // until Run has met the message
		m.Term()
		s.Work(ctx, fakeRunner(), WorkOptions{Slots: 1, Tries: 2})
	}()
	if p, _, err := s.Run(t.Context(), b, out, quick); err != nil || p.Done != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDial(t *testing.T) {
	must.Fail(Dial(t.Context(), "nats://127.0.0.1:1", "test", ""))(t, "cannot reach")
	must.Fail(Dial(t.Context(), "nats://127.0.0.1:1", "No Name", ""))(t, "lower-case")
	s := must.Get(server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true}))(t)
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	must.Fail(Dial(t.Context(), s.ClientURL(), "test", ""))(t, "nats-server -js")
}

func TestReadJob(t *testing.T) {
	sum := strings.Repeat("0", 64)
	good := func() *Job {
		return &Job{Program: "p", Args: []string{"edit", In, "--out", Out, "--style=with/1/x.bvh"}, In: "in/a.bvh", Files: []File{{"in/a.bvh", sum}}, Out: "a.bvh"}
	}
	must.Get(ReadJob(must.Get(json.Marshal(good()))(t)))(t)
	for want, spoil := range map[string]func(*Job){
		"cannot run":      func(j *Job) { j.Args[0] = "serve" },
		"arguments":       func(j *Job) { j.Args = nil },
		"0 files":         func(j *Job) { j.Files = nil },
		"paths outside":   func(j *Job) { j.Args = append(j.Args, "/etc/passwd") },
		"--out=../x":      func(j *Job) { j.Args = append(j.Args, "--out=../x") },
		"a/../../x":       func(j *Job) { j.Args = append(j.Args, "a/../../x") },
		"relative paths":  func(j *Job) { j.Files[0].Name = "../a.bvh" },
		"each once":       func(j *Job) { j.Files = append(j.Files, j.Files[0]) },
		"64 hexadecimal":  func(j *Job) { j.Files[0].Sum = "zz" },
		"file name":       func(j *Job) { j.Out = "x/y" },
		"not among":       func(j *Job) { j.In = "in/b.bvh" },
		"a relative path": func(j *Job) { j.In = "/a" },
	} {
		j := good()
		spoil(j)
		must.Fail(ReadJob(must.Get(json.Marshal(j))(t)))(t, want)
	}
	must.Fail(ReadJob([]byte("{")))(t, "no JSON")
	must.Fail(ReadJob(make([]byte, maxText+1)))(t, "want at most")
	must.Fail(readResult([]byte(`{"outs":[{"name":"../x","sum":"`+sum+`"}]}`)))(t, "a result with the file")
}

func FuzzReadJob(f *testing.F) {
	f.Add([]byte(`{"program":"p","args":["edit","{in}"],"in":"in/a","files":[{"name":"in/a","sum":"00"}],"out":"a"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		readResult(b)
		j, err := ReadJob(b)
		if err != nil {
			return
		}
		for _, x := range j.Files {
			if !filepath.IsLocal(x.Name) {
				t.Errorf("the file %q is not in the job's folder", x.Name)
			}
		}
	})
}

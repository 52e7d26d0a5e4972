package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Runner runs jobs as processes of a program, each in a folder of its own.
type Runner struct {
	Program []string      // the program and its first arguments; jobs' arguments follow
	Timeout time.Duration // of a job; 0: none
	Dir     string        // for the folders; empty: the system's for temporary files
	Cores   int           // that a job may use; 0: all
}

// NewRunner returns a runner of this very program.
func NewRunner(timeout time.Duration) (*Runner, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("queue: where this program is: %w", err)
	}
	return &Runner{Program: []string{exe}, Timeout: timeout}, nil
}

// usage is the exit status of a command line that is wrong.
const usage = 2

// maxPrint is how much of what a program prints is kept, bytes.
const maxPrint = 64 << 20

const jobFolder = "mannequin-run-" // begins the names of folders

// folder makes a folder for a job, which is in use as long as the file is open, here or in the job's processes.
func (r *Runner) folder() (dir string, used *os.File, err error) {
	for range 10 {
		if dir, err = os.MkdirTemp(r.Dir, jobFolder); err != nil {
			return "", nil, err
		}
		if used, err = hold(dir); err == nil { // else clean, of another process, was faster
			return dir, used, nil
		}
	}
	return "", nil, err
}

// clean removes the folders of this user's jobs whose processes have all been killed.
func (r *Runner) clean() {
	in := r.Dir
	if in == "" {
		in = os.TempDir()
	}
	all, _ := os.ReadDir(in) // what cannot be read stays
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), jobFolder) {
			continue
		}
		dir := filepath.Join(in, e.Name())
		if info, err := e.Info(); err != nil || !own(info) {
			continue
		}
		if used, err := hold(dir); err == nil {
			os.RemoveAll(dir)
			used.Close()
		}
	}
}

// Run runs a job. fetch puts a file of a hash at a path. keep gets the folder of what the job wrote,
// which is deleted when it returns. Run fails if the program does, with the last line that it printed.
func (r *Runner) Run(ctx context.Context, j *Job, fetch func(ctx context.Context, sum, to string) error, keep func(dir string) error) error {
	if err := j.check(); err != nil {
		return err
	}
	dir, used, err := r.folder()
	if err != nil {
		return err
	}
	defer used.Close()
	defer os.RemoveAll(dir)
	for _, f := range j.Files {
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := fetch(ctx, f.Sum, to); err != nil {
			return err
		}
	}
	outs := filepath.Join(dir, "out")
	if err := os.Mkdir(outs, 0o777); err != nil {
		return err
	}
	args := append([]string{}, r.Program[1:]...)
	for _, a := range j.Args {
		args = append(args, strings.NewReplacer(In, j.In, Out, "out/"+j.Out).Replace(a))
	}
	if r.Timeout > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("not done after %v", r.Timeout))
		defer stop()
	}
	cmd := exec.CommandContext(ctx, r.Program[0], args...)
	var out, errs tail
	out.most, errs.most = maxPrint, 64<<10
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &errs, 5*time.Second
	if r.Cores > 0 {
		cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", r.Cores))
	}
	if used != nil {
		cmd.ExtraFiles = []*os.File{used}
	}
	ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed := errors.New(lastLine(errs.Bytes(), err))
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == usage {
			return permanent{failed}
		}
		return failed
	}
	if j.Print {
		if out.cut {
			return fmt.Errorf("%s printed more than %d bytes", j.Args[0], maxPrint)
		}
		if err := fill(filepath.Join(outs, j.Out), func(w io.Writer) error { _, err := w.Write(out.Bytes()); return err }); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(outs, j.Out)); err != nil {
		return fmt.Errorf("%s ended without an error and without %s", j.Args[0], j.Out)
	}
	return keep(outs)
}

// fill writes a file of a job's folder.
func fill(to string, write func(io.Writer) error) error {
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

// lastLine returns the last line of what a failed program printed, or else how it ended.
func lastLine(printed []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(printed)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return strings.ToValidUTF8(last[:min(len(last), 2000)], "?")
	}
	return err.Error()
}

// tail keeps the last bytes written to it.
type tail struct {
	bytes.Buffer
	most int
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if over := t.Len() + n - t.most; over > 0 {
		t.cut = true
		t.Next(min(over, t.Len()))
		b = b[max(0, n-t.most):]
	}
	t.Buffer.Write(b)
	return n, nil
}

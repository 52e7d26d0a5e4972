//go:build linux || darwin

package atomicfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// TestChild is the process that other tests start. It does what the variable says.
func TestChild(t *testing.T) {
	dir := os.Getenv("ATOMICFILE_DIR")
	switch os.Getenv("ATOMICFILE_CHILD") {
	case "":
		t.Skip("only as a process of another test")
	case "write": // until it is killed
		fmt.Println("writing")
		for i := 0; ; i++ {
			must.Do(t, Write(filepath.Join(dir, "f"), pattern(i)))
			d := must.Get(CreateFolder(filepath.Join(dir, "d")))(t)
			for k := range 3 {
				must.Do(t, d.Write(fmt.Sprint(k), pattern(i)))
			}
			must.Do(t, d.Commit())
		}
	case "limits":
		limits(t, dir)
	}
}

func child(dir, what string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), "ATOMICFILE_CHILD="+what, "ATOMICFILE_DIR="+dir)
	return c
}

const patternLines = 20_000

// pattern writes one number on many lines.
func pattern(i int) func(io.Writer) error {
	return func(w io.Writer) error {
		line := []byte(strconv.Itoa(i) + "\n")
		for range patternLines {
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	}
}

// whole reports whether b is what a pattern writes.
func whole(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return bytes.Equal(b, bytes.Repeat(append(bytes.Clone(line), '\n'), patternLines))
}

// Files stay whole when processes that write them are killed at any time, and at most the temporary
// file and folder of the last one are left. MANNEQUIN_KILLS sets how many processes are killed.
func TestKill(t *testing.T) {
	kills := 20
	if n, err := strconv.Atoi(os.Getenv("MANNEQUIN_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "f"), filepath.Join(dir, "d")
	must.Do(t, Write(file, pattern(-1)))
	left := 0
	for i := range kills {
		c := child(dir, "write")
		out := must.Get(c.StdoutPipe())(t)
		must.Do(t, c.Start())
		for in := bufio.NewScanner(out); in.Scan() && in.Text() != "writing"; {
		}
		time.Sleep(time.Duration(rand.N(30_000)) * time.Microsecond)
		c.Process.Kill()
		c.Wait()
		paths, _ := filepath.Glob(filepath.Join(folder, "*"))
		for _, path := range append(paths, file) {
			if b, err := os.ReadFile(path); err != nil || !whole(b) {
				t.Fatalf("kill %d: %s is not whole: %d bytes, %v", i, path, len(b), err)
			}
		}
		temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp*"))
		if len(temps) > 2 {
			t.Fatalf("kill %d: left behind: %q", i, temps)
		}
		left += len(temps)
	}
	t.Logf("%d kills left %d temporary files", kills, left)
	must.Do(t, Write(file, pattern(0)))
	d := must.Get(CreateFolder(folder))(t)
	d.Abort()
	if temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp*")); len(temps) > 0 {
		t.Errorf("after the next write: %q", temps)
	}
}

// A disk that is full, no descriptors and a folder that is only for reading, by the system's own
// means.
func TestLimits(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", "limits"))(t)
	must.Do(t, os.Chmod(dir, 0o755)) // for the unprivileged user
	if out, err := child(dir, "limits").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	must.Do(t, os.Chmod(dir, 0o755))
	must.Do(t, os.RemoveAll(dir))
}

func limits(t *testing.T, dir string) {
	path := filepath.Join(dir, "f")
	must.Do(t, Write(path, text("old")))
	fails := func(what string, cause error) {
		t.Helper()
		err := Write(path, pattern(0))
		if err == nil || err.Error() != "cannot write "+path+": "+cause.Error() {
			t.Errorf("%s: %v", what, err)
		}
		if st, err := os.Stat(path); err != nil || st.Size() != 3 {
			t.Errorf("%s: the old file is %v, %v", what, st, err)
		}
	}
	defer func() {
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("left behind: %q", got)
		}
	}()
	limit := func(what int, n uint64, during func()) {
		t.Helper()
		var old syscall.Rlimit
		must.Do(t, syscall.Getrlimit(what, &old))
		less := old
		less.Cur = n
		must.Do(t, syscall.Setrlimit(what, &less))
		during()
		must.Do(t, syscall.Setrlimit(what, &old))
	}
	limit(syscall.RLIMIT_FSIZE, 1000, func() { fails("a full disk", syscall.EFBIG) })
	limit(syscall.RLIMIT_NOFILE, 40, func() {
		var open []*os.File
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				break
			}
			open = append(open, f)
		}
		for free := range 2 { // a write needs the file and its lock
			fails(fmt.Sprintf("%d descriptors", free), syscall.EMFILE)
			open[free].Close()
		}
		if err := Write(path, text("new")); err != nil {
			t.Errorf("with descriptors again: %v", err)
		}
		for _, f := range open {
			f.Close()
		}
	})
	must.Do(t, Write(path, text("old")))
	if os.Getuid() == 0 { // who may write everywhere
		must.Do(t, syscall.Setuid(65534))
	} else {
		must.Do(t, os.Chmod(dir, 0o555))
	}
	fails("a folder that is only for reading", syscall.EACCES)
}

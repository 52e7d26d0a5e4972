package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"mannequin/internal/boundedfile"
)

// Marks in a job's arguments, which the worker replaces.
const (
	In  = "{in}"  // the input file or folder
	Out = "{out}" // the file to write
)

// Limits of a job, which a worker checks before it fetches anything.
const (
	maxFiles = 10000
	maxArgs  = 1000
	maxText  = 512 << 10 // bytes of a job as JSON
	// MaxFile is the size of the largest file that a job may read or write, bytes.
	MaxFile = 1 << 30
)

// Commands are those that jobs may run: each reads files and writes files or prints.
var Commands = []string{"certify", "convert", "edit", "eval", "export", "import", "inbetween", "inspect", "judge", "make", "plot", "predict", "retarget", "stylize", "synth"}

// File is a file by its content.
type File struct {
	Name string `json:"name"` // a relative path with slashes
	Sum  string `json:"sum"`  // SHA-256, hexadecimal
}

// Job is one command on one input.
type Job struct {
	Program string   `json:"program"` // which build of mannequin may run it: see Program
	Args    []string `json:"args"`    // with In, Out and names of Files
	In      string   `json:"in"`      // the file or folder of Files that In stands for
	Files   []File   `json:"files"`
	Out     string   `json:"out"`             // name of the file that Out stands for
	Print   bool     `json:"print,omitempty"` // the output is what the command prints
}

// Result is how a job ended.
type Result struct {
	Outs    []File  `json:"outs,omitempty"`
	Error   string  `json:"error,omitempty"` // why it failed last
	Fails   int     `json:"fails,omitempty"` // how often it failed
	Dead    bool    `json:"dead,omitempty"`  // it is not tried again
	Seconds float64 `json:"seconds"`
	Worker  string  `json:"worker,omitempty"`
}

// done reports whether nothing is left to do.
func (r *Result) done() bool { return r.Dead || r.Error == "" }

// Hash names the job by all that its output depends on.
func (j *Job) Hash() string {
	b, err := json.Marshal(j)
	if err != nil {
		panic(err) // strings alone
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ReadJob reads a job that came from elsewhere.
func ReadJob(b []byte) (*Job, error) {
	if len(b) > maxText {
		return nil, fmt.Errorf("queue: a job of %d bytes: want at most %d", len(b), maxText)
	}
	j := new(Job)
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("queue: a job that is no JSON: %w", err)
	}
	return j, j.check()
}

// check reports a job that a worker must not run. Workers trust those who may write to their server,
// but a job has no way to files of the worker: all paths are relative to the job's own folder.
func (j *Job) check() error {
	switch {
	case len(j.Args) == 0 || len(j.Args) > maxArgs:
		return fmt.Errorf("queue: a job of %d arguments: want 1 to %d", len(j.Args), maxArgs)
	case !slices.Contains(Commands, j.Args[0]):
		return fmt.Errorf("queue: jobs cannot run %q: want one of %s", j.Args[0], strings.Join(Commands, ", "))
	case len(j.Files) == 0 || len(j.Files) > maxFiles:
		return fmt.Errorf("queue: a job of %d files: want 1 to %d", len(j.Files), maxFiles)
	case !plain(j.Out) || strings.Contains(j.Out, "/"):
		return fmt.Errorf("queue: a job that writes %q: want a file name", j.Out)
	case !plain(j.In):
		return fmt.Errorf("queue: a job that reads %q: want a relative path", j.In)
	}
	seen := map[string]bool{}
	for _, f := range j.Files {
		if !plain(f.Name) || seen[f.Name] {
			return fmt.Errorf("queue: a job with the file %q: want relative paths, each once", f.Name)
		}
		if !validSum(f.Sum) {
			return fmt.Errorf("queue: a job whose file %s has the hash %q: want 64 hexadecimal digits", f.Name, f.Sum)
		}
		seen[f.Name] = true
	}
	if !seen[j.In] && !slices.ContainsFunc(j.Files, func(f File) bool { return strings.HasPrefix(f.Name, j.In+"/") }) {
		return fmt.Errorf("queue: a job that reads %s, which is not among its files", j.In)
	}
	for _, a := range j.Args {
		_, value, _ := strings.Cut(a, "=")
		for _, p := range []string{a, value} {
			if filepath.IsAbs(p) || slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..") {
				return fmt.Errorf("queue: a job with the argument %q: paths outside of its folder are refused", a)
			}
		}
	}
	return nil
}

// plain reports whether name is a path within a folder.
func plain(name string) bool {
	return name != "" && name != "." && !strings.ContainsAny(name, "\\\x00") && filepath.IsLocal(name) && path.Clean(name) == name
}

func validSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// Program returns which build of mannequin this is: the revision that it was built from, or the hash
// of the executable if that is not known. Jobs are for one build, because another may write other bytes.
var Program = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if r := set["vcs.revision"]; r != "" && set["vcs.modified"] == "false" {
			return r[:min(len(r), 12)], nil
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("queue: which program this is: %w", err)
	}
	sum, err := Sum(exe)
	if err != nil {
		return "", err
	}
	return sum[:12], nil
})

// Sum returns the SHA-256 of a file in hexadecimal digits.
func Sum(file string) (string, error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, MaxFile+1)); err != nil {
		return "", err
	} else if n > MaxFile {
		return "", fmt.Errorf("%s: more than %d bytes", file, MaxFile)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Batch is many jobs of one command line, and where their files are on this machine.
type Batch struct {
	Jobs  []*Job
	local map[string]string // paths of files by hash
}

// NewBatch makes a job of each input, a file or a folder. args are the command line, in which In and
// Out are the input and the output; files and folders that it names go along. Outputs are named like
// their inputs, with the extension ext.
func NewBatch(args, inputs []string, ext string, prints bool) (*Batch, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	b := &Batch{local: map[string]string{}}
	args = slices.Clone(args)
	var common []File
	for i, a := range args {
		name, value, flag := strings.Cut(a, "=")
		if !flag {
			name, value = "", a
		} else {
			name += "="
		}
		if i == 0 || value == In || value == Out || value == "" {
			continue
		}
		if _, err := os.Stat(value); err != nil {
			continue
		}
		to := fmt.Sprintf("with/%d/%s", i, filepath.Base(value))
		files, err := list(value, to, b.local)
		if err != nil {
			return nil, err
		}
		args[i], common = name+to, append(common, files...)
	}
	from := map[string]string{}
	for _, input := range inputs {
		base := filepath.Base(filepath.Clean(input))
		in := "in/" + base
		files, err := list(input, in, b.local)
		if err != nil {
			return nil, err
		}
		j := &Job{Program: program, Args: args, In: in, Files: append(files, common...), Out: strings.TrimSuffix(base, filepath.Ext(base)) + ext, Print: prints}
		if other, ok := from[j.Out]; ok {
			return nil, fmt.Errorf("%s and %s would both be written to %s: rename one of them", other, input, j.Out)
		}
		from[j.Out] = input
		if err := j.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", input, err)
		}
		b.Jobs = append(b.Jobs, j)
	}
	return b, nil
}

// list hashes a file, or all files of a folder, which have the name to in jobs. It notes their paths in paths, by hash.
func list(file, to string, paths map[string]string) (files []File, err error) {
	err = filepath.WalkDir(file, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
			return errors.Join(err, fmt.Errorf("%s: want regular files", p))
		}
		sum, err := Sum(p)
		if err != nil {
			return err
		}
		paths[sum] = p
		rel, err := filepath.Rel(file, p)
		if err != nil {
			return err
		}
		files = append(files, File{path.Join(to, filepath.ToSlash(rel)), sum})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: a folder without files", file)
	}
	return files, err
}

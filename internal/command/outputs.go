package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Kind is what a command makes at a path.
type Kind int

const (
	File   Kind = iota
	Folder      // of files with names that the command chooses
	Either      // a file, or a folder of several
)

// output is the path of what a command writes, as the value of a flag.
type output struct {
	path
	kind Kind
}

func (output) Type() string { return "output" }

// Output adds the flag of a path that the command writes. Its usage names it in backquotes. All
// outputs must have such flags: a command does not run if one of them is a file that it reads, or
// would be a recording in a folder that it reads, unless --force is given, or is not of its kind.
func Output(c *cobra.Command, v *string, name string, kind Kind, usage string) {
	short := ""
	if name == "out" {
		short = "o"
	}
	c.Flags().VarP(output{path{v}, kind}, name, short, usage)
}

// Out adds the flag --out of [Output], which is required.
func Out(c *cobra.Command, v *string, kind Kind, usage string) {
	Output(c, v, "out", kind, usage)
	if err := c.MarkFlagRequired("out"); err != nil {
		panic(err) // there is no such flag
	}
}

// outputs returns the flags of c that name outputs.
func outputs(c *cobra.Command) (all []*pflag.Flag) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, is := f.Value.(output); is {
			all = append(all, f)
		}
	})
	return all
}

// guard makes c check its outputs before it runs.
func guard(c *cobra.Command) {
	run, all := c.RunE, outputs(c)
	if run == nil || len(all) == 0 {
		return
	}
	files := slices.ContainsFunc(all, func(f *pflag.Flag) bool { return f.Value.(output).kind != Folder })
	if files && c.Flags().Lookup("force") == nil {
		c.Flags().Bool("force", false, "write even over a file that is read")
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := Check(cmd, nil, nil); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// Check returns an error if an output of cmd is a file that cmd reads or would be a recording in a
// folder that it reads, unless --force is given, if two outputs are one file, or if an output is not
// of its kind. Files are compared by identity, so links and spellings do not matter. Inputs are all
// files that arguments and flags name, files that belong to them and the recordings in folders. Run
// checks every command; a command itself calls Check if it writes or reads more files than its
// command line names.
func Check(cmd *cobra.Command, writes, reads []string) error {
	var out []file
	for _, f := range outputs(cmd) {
		if name := f.Value.String(); name != "-" && (name != "" || f.Changed) {
			o := newFile(name, fmt.Sprintf("--%s %s", f.Name, name))
			kind := f.Value.(output).kind
			if err := kind.check(o); err != nil && f.Changed { // a default may have no use
				return err
			}
			if kind != Folder { // which is not a file that is read
				out = append(out, o)
			}
		}
	}
	for _, name := range writes {
		if !slices.ContainsFunc(out, func(o file) bool { return o.path == name }) {
			o := newFile(name, name)
			if err := Either.check(o); err != nil {
				return err
			}
			out = append(out, o)
		}
	}
	var files fileSet
	for _, o := range out {
		if other, ok := files.find(o); ok {
			return Usagef("%s and %s are the same file: want two files", other.shown, o.shown)
		}
		files.add(o)
	}
	if force, err := cmd.Flags().GetBool("force"); err == nil && force {
		return nil
	}
	reads = append(named(cmd), reads...)
	files = fileSet{}
	for _, name := range reads {
		files.addInput(name)
	}
	for _, o := range out {
		if o.info == nil {
			if dir := readWith(o, reads); dir != "" {
				return Usagef("%s would be read as a recording of %s: name a file elsewhere, or add --force", o.shown, dir)
			}
			continue
		}
		switch in, ok := files.find(o); {
		case ok && in.path == o.path:
			return Usagef("%s is read and written: name another file, or add --force", o.shown)
		case ok:
			return Usagef("%s is %s, which is read: name another file, or add --force", o.shown, in.path)
		}
	}
	return nil
}

// readWith returns the folder of reads in which o would be a recording, or "".
func readWith(o file, reads []string) string {
	ext := strings.ToLower(filepath.Ext(o.path))
	dir, err := os.Stat(filepath.Dir(o.path))
	if err != nil || ext != ".bvh" && ext != ".amc" {
		return ""
	}
	for _, name := range reads {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, dir) {
			return name
		}
	}
	return ""
}

// check returns an error if there is something else than the kind at the path.
func (k Kind) check(o file) error {
	switch {
	case o.info == nil:
	case o.info.IsDir() && k == File:
		return Usagef("%s: that is a folder, want a file", o.shown)
	case !o.info.IsDir() && k == Folder:
		return Usagef("%s: that is not a folder", o.shown)
	case !o.info.IsDir() && !o.info.Mode().IsRegular():
		return Usagef("%s: that is not a regular file", o.shown)
	}
	return nil
}

// named returns the words of the command line that may name files, except outputs: arguments, values
// of flags, and their parts, as in NAME=FILE, FILE:NAME and FILE@TIME.
func named(cmd *cobra.Command) []string {
	words := slices.Clone(cmd.Flags().Args())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch v := f.Value.(type) {
		case output:
		case pflag.SliceValue:
			words = append(words, v.GetSlice()...)
		default:
			words = append(words, v.String())
		}
	})
	for _, w := range words {
		if _, file, ok := strings.Cut(w, "="); ok {
			words = append(words, file)
		}
	}
	for _, w := range words {
		if i := strings.LastIndexAny(w, ":@"); i > 0 {
			words = append(words, w[:i], w[:strings.IndexAny(w, ":@")])
		}
	}
	return words
}

// file is a path and what is there.
type file struct {
	path  string
	shown string      // in errors
	info  fs.FileInfo // nil: nothing is there
}

func newFile(path, shown string) file {
	f := file{path: path, shown: shown}
	if info, err := os.Stat(path); err == nil {
		f.info = info
	}
	return f
}

// place identifies a path at which nothing is.
func (f *file) place() string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(f.path))
	if err != nil {
		dir = filepath.Dir(f.path)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(f.path))
}

// fileSet is files by their identity. What is compared first is equal for all names of a file.
type fileSet map[any][]file

func (f *file) key() any {
	if f.info == nil {
		return f.place()
	}
	return [2]int64{f.info.Size(), f.info.ModTime().UnixNano()}
}

func (s *fileSet) add(f file) {
	if *s == nil {
		*s = fileSet{}
	}
	(*s)[f.key()] = append((*s)[f.key()], f)
}

// find returns the file of the set that f is.
func (s fileSet) find(f file) (file, bool) {
	for _, other := range s[f.key()] {
		if f.info == nil || os.SameFile(f.info, other.info) {
			return other, true
		}
	}
	return file{}, false
}

// recordings are the extensions of files that are read from a folder.
var recordings = []string{".bvh", ".amc", ".asf", ".txt", ".json", ".toml"}

// companions are the extensions of files that a file may refer to, in its folder.
var companions = map[string][]string{".amc": {".asf"}, ".gltf": {".bin", ".png", ".jpg", ".jpeg"}}

// addInput adds the file at a path and those that are read with it.
func (s *fileSet) addInput(path string) {
	f := newFile(path, path)
	if f.info == nil {
		return
	}
	dir, with := path, recordings
	if !f.info.IsDir() {
		s.add(f)
		dir, with = filepath.Dir(path), companions[strings.ToLower(filepath.Ext(path))]
	}
	if with == nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // reading it will report this
	}
	for _, e := range entries {
		if slices.Contains(with, strings.ToLower(filepath.Ext(e.Name()))) {
			if f := newFile(filepath.Join(dir, e.Name()), ""); f.info != nil {
				s.add(f)
			}
		}
	}
}

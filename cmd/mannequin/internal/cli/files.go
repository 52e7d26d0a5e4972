// Package cli has what the commands of mannequin share: flags with ranges, reports, progress and
// output files.
package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mannequin/internal/atomicfile"
)

// Must panics on an error that only a mistake in this program can cause.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// WriteSized writes a file and returns its number of bytes.
func WriteSized(path string, write func(io.Writer) error) (int64, error) {
	if err := atomicfile.Write(path, write); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Writable returns an error if path is a folder, or lies in a folder that does not exist. Commands
// that take long call it before they begin.
func Writable(file string) error {
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return fmt.Errorf("cannot write %s: it is a folder, want a file name", file)
	}
	if st, err := os.Stat(filepath.Dir(file)); err != nil || !st.IsDir() {
		return fmt.Errorf("cannot write %s: there is no folder %s", file, filepath.Dir(file))
	}
	return nil
}

// Stem is a file's path without its extension.
func Stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

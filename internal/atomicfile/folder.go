package atomicfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Folder is a temporary folder of files that are put into the folder at path together. Errors name
// the files there.
type Folder struct {
	path   string // as the caller names it
	target string // where links lead
	temp   string
	lock   io.Closer
}

// CreateFolder makes a temporary folder beside path, and removes those that killed processes left of
// earlier attempts.
func CreateFolder(path string) (*Folder, error) {
	target := follow(filepath.Clean(path))
	temp, lock, err := temporary(target, func(temp string) error { return os.Mkdir(temp, 0o777) })
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, bare(err))
	}
	return &Folder{path, target, temp, lock}, nil
}

// Write makes a file of the folder with the output of write.
func (d *Folder) Write(name string, write func(io.Writer) error) error {
	temp := filepath.Join(d.temp, name) // the folder is already a temporary one
	f := &File{path: filepath.Join(d.path, name), target: temp, temp: temp, lock: io.NopCloser(nil)}
	err := f.fault("create")
	if err == nil {
		f.file, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return f.failed(bare(err))
	}
	return f.fill(write)
}

// Commit moves the files to path. If there is a folder already, it keeps its other files.
func (d *Folder) Commit() error {
	defer d.Abort()
	if os.Rename(d.temp, d.target) == nil { // there was none, or an empty one
		return nil
	}
	files, err := os.ReadDir(d.temp)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", d.path, bare(err))
	}
	for _, f := range files {
		if err := os.Rename(filepath.Join(d.temp, f.Name()), filepath.Join(d.target, f.Name())); err != nil {
			return fmt.Errorf("cannot write %s: %w", filepath.Join(d.path, f.Name()), bare(err))
		}
	}
	return nil
}

// Abort removes the temporary folder. After Commit it does nothing.
func (d *Folder) Abort() {
	os.RemoveAll(d.temp)
	d.lock.Close()
}

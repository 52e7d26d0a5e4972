// Package clips makes takes in parallel and writes them into a folder of recordings.
package clips

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"mannequin/animsys/skel"
	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/offline/mocap"
)

// LicenceFile is the name of the file that holds a folder's licence.
const LicenceFile = "LICENSE"

// Make calls f for 0 to n−1 on workers goroutines and returns the results in that order.
func Make[T any](n, workers int, f func(i int) T) []T {
	all := make([]T, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				all[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return all
}

// Folder is a folder of BVH files that Write may replace, because an earlier run made it.
type Folder struct {
	Dir    string
	Notice string   // text of the licence
	Marks  []string // names of files that say what a folder holds
}

// Open makes the folder and writes its licence first, because the licence marks a folder that may be
// written again. A folder that has one of the marks but another licence is refused.
func (f Folder) Open() error {
	if err := os.MkdirAll(f.Dir, 0o777); err != nil {
		return err
	}
	for _, name := range f.Marks {
		if _, err := os.Stat(filepath.Join(f.Dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if b, err := boundedfile.Read(filepath.Join(f.Dir, LicenceFile), int64(len(f.Notice))); err != nil || string(b) != f.Notice {
			return fmt.Errorf("%s holds the %s of other recordings: use another folder", f.Dir, name)
		}
	}
	return f.Write(LicenceFile, func(w io.Writer) error { _, err := io.WriteString(w, f.Notice); return err })
}

// Write replaces a file of the folder as a whole.
func (f Folder) Write(name string, write func(w io.Writer) error) error {
	return atomicfile.Write(filepath.Join(f.Dir, name), write)
}

// WriteClip writes a clip in metres as a BVH file in centimetres.
func (f Folder) WriteClip(name string, c *skel.Clip) error {
	c = c.Scaled(100)
	return f.Write(name+".bvh", func(w io.Writer) error { return mocap.WriteClip(w, c) })
}

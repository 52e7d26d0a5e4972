package queue

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"mannequin/internal/atomicfile"
)

// Journal is the name of the file in a folder of outputs that says which jobs made them. A batch that
// is run again goes on from there.
const Journal = "queue.jsonl"

// Folder is a folder of outputs. Its methods may be called by several goroutines.
type Folder struct {
	dir     string
	mu      sync.Mutex
	journal *os.File
	outs    map[string][]File // by job
}

type journalLine struct {
	Job  string `json:"job"`
	Outs []File `json:"outs"`
}

// OpenFolder opens a folder of outputs, and makes it if it is not there.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, outs: map[string][]File{}}
	file, err := os.OpenFile(filepath.Join(dir, Journal), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	f.journal = file
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxText)
	torn := false
	for lines.Scan() {
		var l journalLine
		torn = json.Unmarshal(lines.Bytes(), &l) != nil
		if !torn { // a line that was not written whole is of a job that is done again
			f.outs[l.Job] = l.Outs
		}
	}
	if err := lines.Err(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if torn {
		_, err = file.WriteString("\n")
	}
	return f, err
}

// Close closes the journal.
func (f *Folder) Close() error { return f.journal.Close() }

// Has reports whether the folder has all outputs of a job, unchanged.
func (f *Folder) Has(j *Job) bool {
	f.mu.Lock()
	outs, ok := f.outs[j.Hash()]
	f.mu.Unlock()
	for _, o := range outs {
		if !plain(o.Name) {
			return false
		}
		if sum, err := Sum(f.path(o)); err != nil || sum != o.Sum {
			return false
		}
	}
	return ok && len(outs) > 0
}

// Put writes the outputs of a job, each whole or not at all, and then a line of the journal.
func (f *Folder) Put(j *Job, outs []File, write func(o File, w io.Writer) error) error {
	for _, o := range outs {
		if !plain(o.Name) {
			return fmt.Errorf("queue: an output with the name %q: want a relative path", o.Name)
		}
		if o.Name == Journal {
			return fmt.Errorf("queue: an output with the name of the journal, %s", Journal)
		}
		to := f.path(o)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := atomicfile.Write(to, func(w io.Writer) error { return write(o, w) }); err != nil {
			return err
		}
	}
	b, err := json.Marshal(journalLine{j.Hash(), outs})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outs[j.Hash()] = outs
	_, err = io.Copy(f.journal, bytes.NewReader(append(b, '\n')))
	return err
}

func (f *Folder) path(o File) string { return filepath.Join(f.dir, filepath.FromSlash(o.Name)) }

// filesOf hashes all files of a folder.
func filesOf(dir string) ([]File, error) { return list(dir, ".", map[string]string{}) }

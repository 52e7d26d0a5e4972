package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"mannequin/internal/boundedfile"
	"mannequin/scenes"
	"mannequin/scenes/tape"
)

// replay is a tape that is played.
type replay struct {
	*tape.Reader
	path  string
	ticks int64
	file  *os.File
}

// openReplay opens a tape. It reads all of it first, so that a damaged tape is reported before
// anything is played.
func openReplay(path string, log *slog.Logger) (_ *replay, err error) {
	p := &replay{path: path}
	if p.file, err = boundedfile.Open(path); err != nil {
		return nil, fmt.Errorf("--replay %w", err)
	}
	defer func() {
		if err != nil {
			p.file.Close()
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if p.Reader, err = tape.NewReader(p.file); err != nil {
		return nil, err
	}
	p.ticks, err = tape.Length(p.Reader)
	if cut := (*tape.CutError)(nil); errors.As(err, &cut) {
		log.Warn("the tape's end is missing: its recording was not finished, or the file was cut", "tape", path, "offset", cut.Offset, "ticks", cut.Ticks)
	} else if err != nil {
		return nil, err
	}
	if _, err = p.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	p.Reader, err = tape.NewReader(p.file)
	return p, err
}

// verify plays the whole tape without pictures. now is the header of s.
func (p *replay) verify(ctx context.Context, s scenes.Scene, now tape.Header, stdout io.Writer) error {
	if err := p.Header.Differs(now); err != nil {
		return fmt.Errorf("%s cannot be verified: %w", p.path, err)
	}
	n, err := tape.Verify(ctx, s, p.Reader)
	if cut := (*tape.CutError)(nil); err != nil && !errors.As(err, &cut) {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	fmt.Fprintf(stdout, "%d ticks, all as recorded\n", n)
	return nil
}

// recording is a tape that is written.
type recording struct {
	*tape.Writer
	file *os.File
	old  string // the file that the finished tape replaces, or ""
}

// newRecording begins a tape. If the program is killed, the tape can be played as far as it was
// written. A file at path stays until the tape is finished; meanwhile the tape is in path.part.
func newRecording(path string, h tape.Header) (*recording, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("--record %s: %w", path, err)
	}
	r := &recording{}
	if old, err := filepath.EvalSymlinks(path); err == nil {
		r.old, path = old, old+".part"
	}
	var err error
	if r.file, err = os.Create(path); err != nil {
		return nil, fmt.Errorf("--record %s: %w", path, err)
	}
	if r.Writer, err = tape.NewWriter(r.file, h); err != nil {
		r.file.Close()
		return nil, err
	}
	return r, nil
}

// finish ends the tape. Even after an error the tape can be played.
func (r *recording) finish() error {
	err := r.Close()
	if sync := r.file.Sync(); err == nil && !errors.Is(sync, errors.ErrUnsupported) {
		err = sync
	}
	if err = errors.Join(err, r.file.Close()); err != nil || r.old == "" {
		return err
	}
	return os.Rename(r.file.Name(), r.old)
}

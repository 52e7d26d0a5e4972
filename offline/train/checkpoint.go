package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"time"

	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
)

// A checkpoint file holds, in this order: the magic, the version (uint16), the length of the header
// (uint32), the header (JSON of type header), then for every tensor of the header its weights, the
// optimiser's slots and the best weights (float32 each), and the SHA-256 of all bytes before.
// Numbers are little-endian. Version 1 had only AdamW and did not name it.
const (
	magic     = "MQCKPT"
	version   = 2
	maxHeader = 16 << 20
)

type header struct {
	Recipe    string   `json:"recipe"`
	DataHash  string   `json:"data_hash"`
	Optimizer string   `json:"optimizer"`
	Shards    *int     `json:"shards"` // nil: not known, from an earlier program
	Tensors   []tensor `json:"tensors"`
	position
}

type tensor struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

// position is the progress of a run. The random numbers of every step follow from it and the seed,
// which is part of the recipe.
type position struct {
	Epoch     int           `json:"epoch"`      // whole epochs done
	Step      int           `json:"step"`       // steps done in the next one
	Total     int64         `json:"total"`      // steps done altogether
	Sum       float64       `json:"sum"`        // of the losses of the epoch's steps
	History   []Point       `json:"history"`    //
	Best      float64       `json:"best"`       // lowest held-out loss
	BestEpoch int           `json:"best_epoch"` // of the lowest loss; 0: none
	Elapsed   time.Duration `json:"elapsed"`
	Ended     string        `json:"ended"` // how the run ended; empty while it is running
}

func (s *state) tensors() []tensor {
	var out []tensor
	for _, p := range s.params {
		out = append(out, tensor{p.Name, p.Rows, p.Cols})
	}
	return out
}

// write makes the checkpoint file of j.
func (s *state) write(j *Job) error {
	return atomicfile.Write(j.Checkpoint, func(w io.Writer) error { return s.encode(w, j) })
}

func (s *state) encode(w io.Writer, j *Job) error {
	head, err := json.Marshal(header{j.Recipe, j.DataHash, j.Optimizer.name(), &j.Shards, s.tensors(), s.position})
	if err != nil {
		return err
	}
	if len(head) > maxHeader {
		return fmt.Errorf("train: a checkpoint header of %d bytes, at most %d are allowed", len(head), maxHeader)
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	pre := binary.LittleEndian.AppendUint16([]byte(magic), version)
	pre = binary.LittleEndian.AppendUint32(pre, uint32(len(head)))
	if _, err := out.Write(append(pre, head...)); err != nil {
		return err
	}
	for i := range s.params {
		for _, a := range s.arrays(i) {
			if err := writeFloats(out, a); err != nil {
				return err
			}
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// MismatchError reports that a checkpoint belongs to other data, another recipe or another network.
type MismatchError struct {
	What      string // "data set", "recipe", "optimiser", "network" or "number of shards"
	Got, Want string // of the checkpoint, of this run
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the checkpoint was made with another %s (%s, this run has %s): resume with the same settings, or start again with another --checkpoint", e.What, e.Got, e.Want)
}

// load reads the state from the checkpoint, if Resume is set and there is one. Without Resume it
// refuses to overwrite an unfinished run or a file of another kind.
func (r *run) load() error {
	f, err := boundedfile.Open(r.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		if r.Resume {
			r.Log.Info("no checkpoint to resume from: starting from scratch", "checkpoint", r.Checkpoint)
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !r.Resume {
		if info.Size() == 0 {
			return nil
		}
		h, _, err := readHeader(f, info.Size())
		if err != nil { // not a checkpoint: do not overwrite it
			return fmt.Errorf("%s exists and is not a checkpoint: %w: remove it, or choose another --checkpoint", r.Checkpoint, err)
		}
		if h.Ended == "" || h.Ended == EndInterrupted {
			return fmt.Errorf("%s holds an unfinished run (%d epochs and %d steps done): add --resume to continue it, or remove it to start again",
				r.Checkpoint, h.Epoch, h.Step)
		}
		return nil
	}
	if err := r.state.decode(f, info.Size(), r.Job); err != nil {
		return fmt.Errorf("cannot resume from %s: %w", r.Checkpoint, err)
	}
	if s := r.state; s.Step >= r.steps || s.Total != int64(s.Epoch)*int64(r.steps)+int64(s.Step) || len(s.History) != s.Epoch+1 {
		return fmt.Errorf("cannot resume from %s: its position is impossible (epoch %d, step %d of %d, %d steps in total)",
			r.Checkpoint, s.Epoch, s.Step, r.steps, s.Total)
	}
	r.Log.Info("resumed", "checkpoint", r.Checkpoint, "epochs", r.state.Epoch, "step", r.state.Step)
	return nil
}

var errTruncated = errors.New("the file is cut short")

// readHeader reads up to the first tensor. sum is the hash of the bytes read so far.
func readHeader(f io.Reader, size int64) (h header, sum hash.Hash, err error) {
	var pre [len(magic) + 6]byte
	if _, err := io.ReadFull(f, pre[:]); err != nil || string(pre[:len(magic)]) != magic {
		return h, nil, errors.New("not a checkpoint file")
	}
	v := binary.LittleEndian.Uint16(pre[len(magic):])
	if v < 1 || v > version {
		return h, nil, fmt.Errorf("checkpoint version %d, this program reads versions 1 to %d", v, version)
	}
	n := int64(binary.LittleEndian.Uint32(pre[len(magic)+2:]))
	if n > maxHeader {
		return h, nil, fmt.Errorf("a header of %d bytes at offset %d, at most %d are allowed", n, len(magic)+2, maxHeader)
	}
	if n > size-int64(len(pre)) {
		return h, nil, errTruncated
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(f, head); err != nil {
		return h, nil, errTruncated
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, fmt.Errorf("the header at offset %d: %w", len(pre), err)
	}
	if v == 1 {
		h.Optimizer = AdamW{}.name()
	}
	if h.Epoch < 0 || h.Step < 0 || h.Total < 0 || h.Elapsed < 0 || h.BestEpoch < 0 || h.BestEpoch > h.Epoch {
		return h, nil, fmt.Errorf("the header at offset %d holds a negative or impossible position", len(pre))
	}
	sum = sha256.New()
	sum.Write(pre[:])
	sum.Write(head)
	return h, sum, nil
}

// decode reads s from a checkpoint of size bytes. It allocates memory only for the header. After an
// error s is undefined.
func (s *state) decode(f io.Reader, size int64, j *Job) error {
	h, sum, err := readHeader(f, size)
	if err != nil {
		return err
	}
	switch {
	case !slices.Equal(h.Tensors, s.tensors()):
		return &MismatchError{"network", describe(h.Tensors), describe(s.tensors())}
	case h.Shards != nil && *h.Shards != j.Shards: // the recipe names them too, less plainly
		return &MismatchError{"number of shards", fmt.Sprintf("--shards %d", *h.Shards), fmt.Sprintf("--shards %d", j.Shards)}
	case h.Recipe != j.Recipe:
		got, want := differing(h.Recipe, j.Recipe)
		return &MismatchError{"recipe", got, want}
	case h.Optimizer != j.Optimizer.name():
		return &MismatchError{"optimiser", h.Optimizer, j.Optimizer.name()}
	case h.DataHash != j.DataHash:
		return &MismatchError{"data set", "hash " + h.DataHash, "hash " + j.DataHash}
	}
	in := io.TeeReader(f, sum)
	for i := range s.params {
		for _, a := range s.arrays(i) {
			if err := readFloats(in, a); err != nil {
				return err
			}
		}
	}
	want := sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(f, got); err != nil {
		return errTruncated
	}
	if !bytes.Equal(got, want) {
		return errors.New("the checksum does not match: the file is damaged")
	}
	if n, _ := f.Read(got); n > 0 {
		return errors.New("bytes follow the checksum: the file is damaged")
	}
	s.position = h.position
	if !s.finite() {
		return errors.New("it holds weights that are not finite")
	}
	return nil
}

// differing returns the fields in which two recipes differ, if both are JSON objects.
func differing(a, b string) (string, string) {
	var x, y map[string]json.RawMessage
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a, b
	}
	for name, v := range x {
		if w, ok := y[name]; ok && bytes.Equal(v, w) {
			delete(x, name)
			delete(y, name)
		}
	}
	left, err := json.Marshal(x)
	right, err2 := json.Marshal(y)
	if err != nil || err2 != nil {
		return a, b
	}
	return string(left), string(right)
}

func describe(ts []tensor) string {
	n := 0
	for _, t := range ts {
		n += t.Rows * t.Cols
	}
	return fmt.Sprintf("%d tensors, %d values", len(ts), n)
}

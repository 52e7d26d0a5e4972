package mar

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/netruntime"
)

// Arch is the architecture in the metadata of a database's file.
const Arch = "style"

// maxFile bounds the size of a database's file. An hour of motion is 75 MB.
const maxFile = 1 << 30

// Names of the file's arrays.
const (
	tensorRows   = "rows"   // (frames, columns)
	tensorTimes  = "times"  // (frames)
	tensorStands = "stands" // (frames)
	tensorMiddle = "middle" // (joints, 4)
)

const keyTakes = "takes"

// contents is the JSON part of a file.
type contents struct {
	FPS     float32    `json:"fps"`
	Actions []string   `json:"actions"`
	Styles  []string   `json:"styles"`
	Periods []float64  `json:"periods"`
	Takes   []takeFile `json:"takes"`
}

type takeFile struct {
	Name    string `json:"name"`
	Content string `json:"content,omitempty"`
	Action  int32  `json:"action"`
	Style   int32  `json:"style"`
	Frames  int32  `json:"frames"`
}

// Encode writes db as a file. half stores rows as half-precision numbers, with angles exact to a
// fortieth of a degree.
func (db *Database) Encode(w io.Writer, half bool) error {
	if db.layout == nil {
		return errZeroDatabase
	}
	c := contents{FPS: db.FPS, Actions: db.Actions, Styles: db.Styles, Periods: db.Periods}
	for _, t := range db.takes {
		c.Takes = append(c.Takes, takeFile{t.name, t.content, t.action, t.style, t.frames})
	}
	takes, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("mar: %w", err)
	}
	sk, err := json.Marshal(db.layout.skel)
	if err != nil {
		return fmt.Errorf("mar: %w", err)
	}
	frames := len(db.stands)
	stands, middle := make([]float32, frames), make([]float32, 0, 4*len(db.layout.joints))
	for i, s := range db.stands {
		stands[i] = float32(s)
	}
	for _, q := range db.layout.middle {
		middle = append(middle, q.X, q.Y, q.Z, q.W)
	}
	meta := netruntime.Meta{Arch: Arch, Name: db.Name, Skeleton: string(sk), Data: db.Data, License: db.License, Card: db.Card, Extra: map[string]string{keyTakes: string(takes)}}
	return netruntime.EncodeArrays(w, meta, []netruntime.Tensor{
		{Name: tensorRows, Shape: []int{frames, db.layout.columns()}, Data: db.rows},
		{Name: tensorTimes, Shape: []int{frames}, Data: db.times},
		{Name: tensorStands, Shape: []int{frames}, Data: stands},
		{Name: tensorMiddle, Shape: []int{len(db.layout.joints), 4}, Data: middle},
	}, func(name string) netruntime.Storage {
		if half && name == tensorRows {
			return netruntime.Float16
		}
		return netruntime.Float32
	})
}

// Checksum identifies the motion of db. The name, the card and other texts do not count.
func (db *Database) Checksum() (string, error) {
	plain := *db
	plain.Name, plain.Data, plain.License, plain.Card = "", "", "", ""
	h := sha256.New()
	if err := plain.Encode(h, false); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

// Open reads the database in the file at path.
func Open(path string) (*Database, error) {
	b, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("mar: %w", err)
	}
	db, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return db, nil
}

// Decode reads what Encode writes.
func Decode(b []byte) (*Database, error) {
	meta, arrays, err := netruntime.DecodeArrays(b)
	if err != nil {
		return nil, fmt.Errorf("mar: %w", err)
	}
	if meta.Arch != Arch {
		return nil, fmt.Errorf("mar: %w", &netruntime.UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{Arch}})
	}
	db, err := decode(&meta, arrays)
	if err != nil {
		return nil, fmt.Errorf("mar: the file's contents: %w", err)
	}
	return db, nil
}

func decode(meta *netruntime.Meta, arrays []netruntime.Tensor) (*Database, error) {
	var c contents
	if err := json.Unmarshal([]byte(meta.Extra[keyTakes]), &c); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", keyTakes, err)
	}
	var sk skel.Skeleton
	if err := json.Unmarshal([]byte(meta.Skeleton), &sk); err != nil {
		return nil, fmt.Errorf("metadata skeleton: %w", err)
	}
	l, err := newLayout(&sk)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	db := &Database{Name: meta.Name, Data: meta.Data, License: meta.License, Card: meta.Card, FPS: c.FPS, Actions: c.Actions, Styles: c.Styles, Periods: c.Periods, layout: l}
	frames := int32(0)
	for _, t := range c.Takes {
		db.takes = append(db.takes, take{t.Name, t.Content, t.Action, t.Style, frames, t.Frames})
		frames += t.Frames
	}
	shapes := map[string][2]int{tensorRows: {int(frames), l.columns()}, tensorTimes: {int(frames), 1}, tensorStands: {int(frames), 1}, tensorMiddle: {len(l.joints), 4}}
	data := map[string][]float32{}
	for _, a := range arrays {
		want, known := shapes[a.Name]
		if !known {
			return nil, fmt.Errorf("unknown array %q", a.Name)
		}
		if len(a.Shape) == 0 || a.Shape[0] != want[0] || len(a.Data) != want[0]*want[1] {
			return nil, fmt.Errorf("array %s of %v, the takes need %v", a.Name, a.Shape, want)
		}
		for i, v := range a.Data {
			if !m3.Finite(v) || m3.Abs(v) > maxValue {
				return nil, fmt.Errorf("array %s: value %d is %g, want finite numbers up to %g", a.Name, i, v, maxValue)
			}
		}
		data[a.Name] = a.Data
	}
	for name := range shapes {
		if data[name] == nil {
			return nil, fmt.Errorf("array %s is missing", name)
		}
	}
	db.rows, db.times = data[tensorRows], data[tensorTimes]
	db.stands = make([]uint8, frames)
	for i, v := range data[tensorStands] {
		if v < 0 || v > 3 || v != float32(math.Trunc(float64(v))) {
			return nil, fmt.Errorf("array %s: value %d is %g, want 0 to 3", tensorStands, i, v)
		}
		db.stands[i] = uint8(v)
	}
	for i := range l.middle {
		q := data[tensorMiddle][4*i:]
		l.middle[i] = m3.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}
		if n := l.middle[i].Dot(l.middle[i]); m3.Abs(n-1) > 1e-3 {
			return nil, fmt.Errorf("array %s: rotation %d has length %g, want 1", tensorMiddle, i, m3.Sqrt(n))
		}
	}
	for _, t := range db.takes {
		for f := t.first + 1; f < t.first+t.frames; f++ {
			if db.times[f] <= db.times[f-1] {
				return nil, fmt.Errorf("take %q: canonical time %g of frame %d after %g: want increasing times", t.name, db.times[f], f-t.first, db.times[f-1])
			}
		}
	}
	return db, db.derive()
}

// maxValue bounds all numbers of a file: metres, radians or frames.
const maxValue = 1e6

func (c *contents) check() error {
	frames := 0
	switch {
	case !(c.FPS >= 1 && c.FPS <= 1000):
		return fmt.Errorf("%g frames per second: want 1 to 1000", c.FPS)
	case len(c.Actions) == 0 || len(c.Actions) > MaxActions || len(c.Styles) == 0 || len(c.Styles) > MaxStyles:
		return fmt.Errorf("%d actions and %d styles: want 1 to %d and 1 to %d", len(c.Actions), len(c.Styles), MaxActions, MaxStyles)
	case len(c.Periods) != len(c.Actions):
		return fmt.Errorf("%d periods for %d actions", len(c.Periods), len(c.Actions))
	case len(c.Takes) == 0 || len(c.Takes) > MaxTakes:
		return fmt.Errorf("%d takes: want 1 to %d", len(c.Takes), MaxTakes)
	}
	for _, p := range c.Periods {
		if !(p == 0 || p >= 1 && p <= maxValue) {
			return fmt.Errorf("a period of %g frames: want 0, or 1 to %g", p, maxValue)
		}
	}
	for i, t := range c.Takes {
		if t.Action < 0 || int(t.Action) >= len(c.Actions) || t.Style < 0 || int(t.Style) >= len(c.Styles) {
			return fmt.Errorf("take %d is of action %d and style %d, of %d and %d", i, t.Action, t.Style, len(c.Actions), len(c.Styles))
		}
		if t.Frames < Window+1 || int(t.Frames) > MaxFrames {
			return fmt.Errorf("take %d has %d frames: want %d to %d", i, t.Frames, Window+1, MaxFrames)
		}
		if frames += int(t.Frames); frames > MaxFrames {
			return errors.New("more frames than a database may have")
		}
	}
	return nil
}

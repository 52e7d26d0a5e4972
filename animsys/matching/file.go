package matching

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/boundedfile"
	"mannequin/netruntime"
)

// Arch is the architecture in the metadata of a database's file.
const Arch = "matching"

// maxFile bounds the size of a database's file. An hour of a person's motion is 80 MB.
const maxFile = 1 << 30

// Names of the file's arrays.
const (
	arrayHips     = "hips"     // (frames, 3)
	arrayRot      = "rot"      // (frames, joints, 4), in 1/32767
	arrayMoves    = "moves"    // (frames, 3)
	arrayTags     = "tags"     // (frames, 4), 16 bits each
	arrayFeatures = "features" // (frames, columns)
	arrayScales   = "scales"   // (2, columns) mean and scale
)

const keyClips = "clips"

// contents is the JSON part of a file.
type contents struct {
	Tags    []string   `json:"tags"`
	Weights Weights    `json:"weights"`
	Roles   ik.Roles   `json:"roles"`
	Clips   []clipFile `json:"clips"`
	Size    float32    `json:"size,omitempty"`
}

type clipFile struct {
	Name   string `json:"name"`
	Frames int32  `json:"frames"`
	Loop   bool   `json:"loop,omitempty"`
	Once   bool   `json:"once,omitempty"`
	Holds  bool   `json:"holds,omitempty"`
}

// Encode writes d as a file. A database that is read from it is the same, to the bit.
func (d *Database) Encode(w io.Writer) error {
	if d.Skel == nil {
		return errZero
	}
	c := contents{Size: d.Size, Tags: d.Tags, Weights: d.weight, Roles: d.Roles}
	for _, s := range d.clips {
		c.Clips = append(c.Clips, clipFile{s.name, s.end - s.first, s.loop, s.once, s.holds})
	}
	clips, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	sk, err := json.Marshal(d.Skel)
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	var hips, rot, moves, tags []float32
	for f, m := range d.moves {
		p := d.hips[f]
		hips, moves = append(hips, p.X, p.Y, p.Z), append(moves, m.X, m.Z, m.Yaw)
		for i := range 4 {
			tags = append(tags, float32(int16(d.tags[f]>>(16*i))))
		}
	}
	for _, q := range d.rot {
		rot = append(rot, float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3]))
	}
	n, cols := d.Frames(), d.Columns()
	meta := netruntime.Meta{Arch: Arch, Name: d.Name, Skeleton: string(sk), Data: d.Data, License: d.License, Card: d.Card, Extra: map[string]string{keyClips: string(clips)}}
	return netruntime.EncodeArrays(w, meta, []netruntime.Tensor{
		{Name: arrayHips, Shape: []int{n, 3}, Data: hips},
		{Name: arrayRot, Shape: []int{n, d.Skel.Len(), 4}, Data: rot},
		{Name: arrayMoves, Shape: []int{n, 3}, Data: moves},
		{Name: arrayTags, Shape: []int{n, 4}, Data: tags},
		{Name: arrayFeatures, Shape: []int{n, cols}, Data: d.features},
		{Name: arrayScales, Shape: []int{2, cols}, Data: append(d.mean[:cols:cols], d.scale...)},
	}, func(name string) netruntime.Storage {
		if name == arrayRot || name == arrayTags {
			return netruntime.Int16
		}
		return netruntime.Float32
	})
}

// Open reads the database in the file at path.
func Open(path string) (*Database, error) {
	b, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("matching: %w", err)
	}
	d, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Decode reads what Encode writes.
func Decode(b []byte) (*Database, error) {
	meta, arrays, err := netruntime.DecodeArrays(b)
	if err != nil {
		return nil, fmt.Errorf("matching: %w", err)
	}
	if meta.Arch != Arch {
		return nil, fmt.Errorf("matching: %w", &netruntime.UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{Arch}})
	}
	d, err := decode(&meta, arrays)
	if err != nil {
		return nil, fmt.Errorf("matching: the file's contents: %w", err)
	}
	return d, nil
}

// maxValue bounds all numbers of a file.
const maxValue = 1e6

func decode(meta *netruntime.Meta, arrays []netruntime.Tensor) (*Database, error) {
	var c contents
	if err := json.Unmarshal([]byte(meta.Extra[keyClips]), &c); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", keyClips, err)
	}
	d := &Database{Name: meta.Name, Data: meta.Data, License: meta.License, Card: meta.Card, Size: c.Size, Skel: new(skel.Skeleton), Tags: c.Tags, weight: c.Weights}
	if err := json.Unmarshal([]byte(meta.Skeleton), d.Skel); err != nil {
		return nil, fmt.Errorf("metadata skeleton: %w", err)
	}
	if err := d.open(&c.Roles); err != nil {
		return nil, err
	}
	if _, err := d.front(); err != nil {
		return nil, err
	}
	if len(c.Clips) == 0 {
		return nil, errNoClips
	}
	if !(c.Size >= 0 && c.Size <= maxValue) {
		return nil, fmt.Errorf("the size %g: want 0 or more", c.Size)
	}
	n := int32(0)
	for i, s := range c.Clips {
		if s.Frames < shortest || s.Frames > maxFrames-n {
			return nil, fmt.Errorf("clip %d has %d frames: want at least %d, and at most %d in all", i, s.Frames, shortest, maxFrames)
		}
		if s.Once && s.Loop || s.Holds && !s.Once {
			return nil, fmt.Errorf("clip %d has loop %t, once %t and holds %t", i, s.Loop, s.Once, s.Holds)
		}
		d.clips = append(d.clips, span{s.Name, n, n + s.Frames, s.Loop, s.Once, s.Holds})
		n += s.Frames
	}
	data, err := d.arrays(arrays, int(n))
	if err != nil {
		return nil, err
	}
	cols := d.Columns()
	d.features, d.mean, d.scale = data[arrayFeatures], data[arrayScales][:cols], data[arrayScales][cols:]
	d.hips, d.moves, d.tags, d.rot = make([]m3.Vec3, n), make([]move, n), make([]Tags, n), make([]packed, len(data[arrayRot])/4)
	for f := range d.moves {
		h, m, t := data[arrayHips][3*f:], data[arrayMoves][3*f:], data[arrayTags][4*f:]
		d.hips[f], d.moves[f] = m3.V(h[0], h[1], h[2]), move{m[0], m[1], m[2]}
		for i := range 4 {
			d.tags[f] |= Tags(uint16(int16(t[i]))) << (16 * i)
		}
	}
	for i := range d.rot {
		var length float32
		for k := range 4 {
			v := data[arrayRot][4*i+k]
			d.rot[i][k] = int16(v)
			length += v / 32767 * v / 32767
		}
		if m3.Abs(length-1) > 2*unit {
			return nil, fmt.Errorf("array %s: rotation %d has length %g, want 1", arrayRot, i, m3.Sqrt(length))
		}
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// arrays returns the arrays by name, if they have the right shapes and hold sound numbers.
func (d *Database) arrays(arrays []netruntime.Tensor, n int) (map[string][]float32, error) {
	cols := d.Columns()
	shapes := map[string][2]int{arrayHips: {n, 3}, arrayRot: {n, 4 * d.Skel.Len()}, arrayMoves: {n, 3}, arrayTags: {n, 4}, arrayFeatures: {n, cols}, arrayScales: {2, cols}}
	data := map[string][]float32{}
	for _, a := range arrays {
		want, known := shapes[a.Name]
		if !known {
			return nil, fmt.Errorf("unknown array %q", a.Name)
		}
		if len(a.Shape) == 0 || a.Shape[0] != want[0] || len(a.Data) != want[0]*want[1] {
			return nil, fmt.Errorf("array %s of %v, want %v", a.Name, a.Shape, want)
		}
		whole := a.Name == arrayRot || a.Name == arrayTags
		for i, v := range a.Data {
			if !(m3.Abs(v) <= maxValue) || whole && (v != float32(math.Trunc(float64(v))) || m3.Abs(v) > 32768) {
				return nil, fmt.Errorf("array %s: value %d is %g", a.Name, i, v)
			}
		}
		data[a.Name] = a.Data
	}
	for name := range shapes {
		if data[name] == nil {
			return nil, fmt.Errorf("array %s is missing", name)
		}
	}
	return data, nil
}

var errZero = errors.New("matching: a zero Database has no frames: make one with Build")

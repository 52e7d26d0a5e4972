package matching

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/boundedfile"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
)

// Arch is the architecture in the metadata of a database's file.
const Arch = "matching"

// maxFile bounds the size of a database's file. An hour of a person's motion is 70 MB.
const maxFile = 1 << 30

// Names of a file's arrays: the first five hold a database, the last four learned motion matching. Networks store their tensors as
// arrays, too.
const (
	arrayHips     = "hips"     // (frames, 3)
	arrayRot      = "rot"      // (frames, joints, 4), in 1/32767
	arrayMoves    = "moves"    // (frames, 3)
	arrayTags     = "tags"     // (frames, 4), 16 bits each
	arrayFeatures = "features" // (frames, columns)
	arrayScales   = "scales"   // (2, columns) mean and scale
	arrayRest     = "rest"     // (state)
	arrayBounds   = "bounds"   // (2, state) least and most
	arrayStill    = "still"    // (joints, 4)
	arrayActs     = "acts"     // (acts, state); may be missing
	arrayIdles    = "idles"    // (idles, IdleKeys, state + 3); may be missing
)

const keyClips = "clips"

// contents is the JSON part of a file.
type contents struct {
	Tags       []string      `json:"tags"`
	Weights    Weights       `json:"weights"`
	Roles      ik.Roles      `json:"roles"`
	Clips      []clipFile    `json:"clips,omitempty"`
	Size       float32       `json:"size,omitempty"`
	Responsive bool          `json:"responsive,omitempty"`
	Learned    *learnedFile  `json:"learned,omitempty"`
	Adaptive   *adaptiveFile `json:"adaptive,omitempty"`
}

type clipFile struct {
	Name   string `json:"name"`
	Frames int32  `json:"frames"`
	Loop   bool   `json:"loop,omitempty"`
	Once   bool   `json:"once,omitempty"`
	Holds  bool   `json:"holds,omitempty"`
}

// paces is what networks know of the recordings that they have learned.
type paces struct {
	Fastest   []float32  `json:"fastest"`
	Slowest   []float32  `json:"slowest"`
	Speeds    []float32  `json:"speeds"`
	Found     Tags       `json:"found"`          // tags that frames have
	Idle      Tags       `json:"idle,omitempty"` // Character.idle
	Walks     [2]float32 `json:"walks,omitzero"` // Character.walks
	FootAccel float32    `json:"foot_accel"`     // m/s²
	Plays     bool       `json:"plays"`          // it is File.Plays
}

// learnedFile is the JSON part of learned motion matching.
type learnedFile struct {
	paces
	Turns []int32   `json:"turns"`
	Acts  []actFile `json:"acts,omitempty"`
	Idles []Tags    `json:"idles,omitempty"`
}

// adaptiveFile is the JSON part of a mode-adaptive network.
type adaptiveFile struct {
	paces
	Meta netruntime.Meta `json:"meta"`
}

// actFile is the JSON part of an Act.
type actFile struct {
	Tags  Tags `json:"tags"`
	Ticks int  `json:"ticks"`
	Holds bool `json:"holds,omitempty"`
}

// File is what a file of mannequin make holds: recordings, networks that have learned them, or both.
type File struct {
	Database *Database // nil if the recordings are left out
	Learned  *Learned  // may be nil
	Adaptive *Adaptive // may be nil
	Plays    Way       // what streams play; the first that is there, if that is missing
}

// Way is a way to make motion.
type Way uint8

// The ways.
const (
	Matching        Way = iota // motion matching: of the recordings
	LearnedMatching            // learned motion matching
	AdaptiveNetwork            // a mode-adaptive network
)

// String returns the name of a way.
func (w Way) String() string {
	return [...]string{"motion matching", "learned motion matching", "a mode-adaptive network"}[min(w, AdaptiveNetwork)]
}

// Ways returns the ways that a file has.
func (f *File) Ways() (out []Way) {
	for w, has := range [...]bool{f.Database != nil, f.Learned != nil, f.Adaptive != nil} {
		if has {
			out = append(out, Way(w))
		}
	}
	return out
}

// Only returns a file with one of the ways of f.
func (f *File) Only(w Way) *File {
	switch w {
	case Matching:
		return &File{Database: f.Database}
	case LearnedMatching:
		return &File{Learned: f.Learned, Plays: w}
	}
	return &File{Adaptive: f.Adaptive, Plays: w}
}

// Nets returns the networks of all ways.
func (f *File) Nets() (out []*netruntime.Net) {
	if f.Learned != nil {
		n := &f.Learned.net
		out = append(out, n.Projector, n.Stepper, n.Decompressor)
	}
	if f.Adaptive != nil {
		out = append(out, f.Adaptive.model.Net)
	}
	return out
}

// Bytes returns the memory of the recordings and of networks' weights.
func (f *File) Bytes() (n int) {
	if f.Database != nil {
		n += f.Database.Bytes()
	}
	if f.Learned != nil {
		n += f.Learned.Bytes()
	}
	if f.Adaptive != nil {
		n += f.Adaptive.Bytes()
	}
	return n
}

// Player is a stream of any way.
type Player interface {
	generator.Generator[control.Goal]
	generator.Walled
	// Root returns the place of a row's root.
	Root(row int) feature.Place
	// Weight returns how much of an action a row shows, 0 to 1.
	Weight(row int, a control.Action) float32
}

// Character returns what the ways have in common; nil if there are none.
func (f *File) Character() *Character {
	switch {
	case f.Database != nil:
		return &f.Database.Character
	case f.Learned != nil:
		return &f.Learned.Character
	case f.Adaptive != nil:
		return &f.Adaptive.Character
	}
	return nil
}

// NewStream returns a stream without agents, of the way that plays.
func (f *File) NewStream(o StreamOptions) (Player, error) {
	ways := f.Ways()
	if len(ways) == 0 {
		return nil, errZero
	}
	way := ways[0]
	if slices.Contains(ways, f.Plays) {
		way = f.Plays
	}
	switch way {
	case LearnedMatching:
		return player(f.Learned.NewStream(o))
	case AdaptiveNetwork:
		return player(f.Adaptive.NewStream(o))
	}
	return player(f.Database.NewStream(o))
}

// player leaves out a nil pointer.
func player[P Player](p P, err error) (Player, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Fingerprint returns a checksum of what streams play: equal ones have the same.
func (f *File) Fingerprint() uint64 {
	h := statehash.New.Int(int(f.Plays))
	if c := f.Character(); c != nil && c.Responsive {
		h = h.Int(1)
	}
	if f.Database != nil {
		h = h.Uint(f.Database.Fingerprint())
	}
	if f.Learned != nil {
		h = h.Uint(f.Learned.Fingerprint())
	}
	if f.Adaptive != nil {
		h = h.Uint(f.Adaptive.Fingerprint())
	}
	return uint64(h)
}

// Encode writes d as a file. A database that is read from it is the same, to the bit.
func (d *Database) Encode(w io.Writer) error { return (&File{Database: d}).Encode(w) }

// Encode writes a file. What is read from it is the same, to the bit.
func (f *File) Encode(w io.Writer) error {
	c := f.Character()
	if c == nil || c.Skel == nil {
		return errZero
	}
	out := contents{Size: c.Size, Responsive: c.Responsive, Tags: c.Tags, Weights: c.weight, Roles: c.Roles}
	cols := c.Columns()
	arrays := []netruntime.Tensor{{Name: arrayScales, Shape: []int{2, cols}, Data: append(c.mean[:cols:cols], c.scale...)}}
	if d := f.Database; d != nil {
		for _, s := range d.clips {
			out.Clips = append(out.Clips, clipFile{s.name, s.end - s.first, s.loop, s.once, s.holds})
		}
		arrays = append(arrays, d.arrays()...)
	}
	if l := f.Learned; l != nil {
		out.Learned = &learnedFile{paces: l.paces(f.Plays == LearnedMatching), Turns: l.net.Turns}
		for _, a := range l.net.Acts {
			out.Learned.Acts = append(out.Learned.Acts, actFile{a.Tags, a.Ticks, a.Holds})
		}
		for _, idle := range l.net.Idles {
			out.Learned.Idles = append(out.Learned.Idles, idle.Tags)
		}
		arrays = append(arrays, l.arrays()...)
	}
	if a := f.Adaptive; a != nil {
		out.Adaptive = &adaptiveFile{paces: a.paces(f.Plays == AdaptiveNetwork), Meta: a.model.Net.Meta()}
		arrays = append(arrays, tensors(adaptiveName, a.model.Net)...)
	}
	clips, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	sk, err := json.Marshal(c.Skel)
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	meta := netruntime.Meta{Arch: Arch, Name: c.Name, Skeleton: string(sk), Data: c.Data, License: c.License, Card: c.Card, Extra: map[string]string{keyClips: string(clips)}}
	return netruntime.EncodeArrays(w, meta, arrays, func(name string) netruntime.Storage {
		switch name {
		case arrayRot, arrayTags:
			return netruntime.Int16
		case arrayFeatures:
			return netruntime.Float16
		}
		return netruntime.Float32
	})
}

// arrays returns the arrays of a database but for the scales.
func (d *Database) arrays() []netruntime.Tensor {
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
	n, features := d.Frames(), make([]float32, 0, len(d.features))
	for f := range n {
		features = d.AppendFeatures(features, f)
	}
	return []netruntime.Tensor{
		{Name: arrayHips, Shape: []int{n, 3}, Data: hips},
		{Name: arrayRot, Shape: []int{n, d.Skel.Len(), 4}, Data: rot},
		{Name: arrayMoves, Shape: []int{n, 3}, Data: moves},
		{Name: arrayTags, Shape: []int{n, 4}, Data: tags},
		{Name: arrayFeatures, Shape: []int{n, d.Columns()}, Data: features},
	}
}

// arrays returns the arrays of what was learned but for the scales.
func (l *Learned) arrays() []netruntime.Tensor {
	n := &l.net
	var still []float32
	for _, q := range n.Still {
		still = append(still, q.X, q.Y, q.Z, q.W)
	}
	var acts []float32
	for _, a := range n.Acts {
		acts = append(acts, a.State...)
	}
	out := []netruntime.Tensor{
		{Name: arrayRest, Shape: []int{len(n.Rest)}, Data: n.Rest},
		{Name: arrayBounds, Shape: []int{2, len(n.Least)}, Data: slices.Concat(n.Least, n.Most)},
		{Name: arrayStill, Shape: []int{len(n.Still), 4}, Data: still},
	}
	if acts != nil {
		out = append(out, netruntime.Tensor{Name: arrayActs, Shape: []int{len(n.Acts), len(n.Rest)}, Data: acts})
	}
	if n.Idles != nil {
		var idles []float32
		for _, idle := range n.Idles {
			idles = append(idles, idle.States...)
		}
		out = append(out, netruntime.Tensor{Name: arrayIdles, Shape: []int{len(n.Idles), IdleKeys, len(n.Rest) + 3}, Data: idles})
	}
	for i, net := range [...]*netruntime.Net{n.Decompressor, n.Stepper, n.Projector} {
		out = append(out, tensors(networkNames[i], net)...)
	}
	return out
}

// networkNames are the prefixes of the tensors' names: one for each network of learned motion matching. adaptiveName is the prefix
// of the mode-adaptive network.
var networkNames = [...]string{"decompressor.", "stepper.", "projector."}

const adaptiveName = "adaptive."

// tensors returns the tensors of a network, with names that begin with its own.
func tensors(name string, net *netruntime.Net) []netruntime.Tensor {
	out := net.Tensors()
	for i := range out {
		out[i].Name = name + out[i].Name
	}
	return out
}

// paces returns what a file's networks must know of c.
func (c *Character) paces(plays bool) paces {
	return paces{c.fastest[:], c.slowest[:], c.speeds, c.found, c.idle, c.walks, c.footAccel, plays}
}

// learn sets what networks know of the recordings that they have learned.
func (c *Character) learn(in *paces) error {
	if len(in.Fastest) != len(c.fastest) || len(in.Slowest) != len(c.slowest) || len(in.Speeds) > speedQuantiles || !slices.IsSorted(in.Speeds) {
		return fmt.Errorf("the speeds of what was learned: the greatest of %d tags, want %d, and %d quantiles", len(in.Fastest), len(c.fastest), len(in.Speeds))
	}
	for _, v := range slices.Concat(in.Fastest, in.Slowest, in.Speeds, in.Walks[:]) {
		if !(v >= 0 && v <= maxValue) {
			return fmt.Errorf("a speed of %g m/s", v)
		}
	}
	copy(c.fastest[:], in.Fastest)
	copy(c.slowest[:], in.Slowest)
	if c.footAccel = in.FootAccel; !(c.footAccel >= 0 && c.footAccel <= maxValue) {
		return fmt.Errorf("feet that brake by %g m/s²", c.footAccel)
	}
	c.speeds, c.found, c.walks = in.Speeds, in.Found, in.Walks
	c.name()
	c.idle = in.Idle & c.actions[control.Idle]
	return nil
}

// Open reads the database in the file at path.
func Open(path string) (*Database, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	if f.Database == nil {
		return nil, fmt.Errorf("%s: %w", path, errNoRecordings)
	}
	return f.Database, nil
}

var errNoRecordings = errors.New("matching: the file has networks without the recordings that they have learned: OpenFile reads it")

// OpenFile reads the file at path.
func OpenFile(path string) (*File, error) {
	b, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("matching: %w", err)
	}
	f, err := DecodeFile(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Decode reads the database in a file.
func Decode(b []byte) (*Database, error) {
	f, err := DecodeFile(b)
	if err == nil && f.Database == nil {
		return nil, errNoRecordings
	}
	if err != nil {
		return nil, err
	}
	return f.Database, nil
}

// DecodeFile reads what File.Encode writes.
func DecodeFile(b []byte) (*File, error) {
	meta, arrays, err := netruntime.DecodeArrays(b)
	if err != nil {
		return nil, fmt.Errorf("matching: %w", err)
	}
	if meta.Arch != Arch {
		return nil, fmt.Errorf("matching: %w", &netruntime.UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{Arch}})
	}
	f, err := decode(&meta, arrays)
	if err != nil {
		return nil, fmt.Errorf("matching: the file's contents: %w", err)
	}
	return f, nil
}

// maxValue bounds all numbers of a file.
const maxValue = 1e6

func decode(meta *netruntime.Meta, arrays []netruntime.Tensor) (*File, error) {
	var in contents
	if err := json.Unmarshal([]byte(meta.Extra[keyClips]), &in); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", keyClips, err)
	}
	c := Character{Name: meta.Name, Data: meta.Data, License: meta.License, Card: meta.Card, Size: in.Size, Responsive: in.Responsive, Skel: new(skel.Skeleton), Tags: in.Tags, weight: in.Weights}
	if err := json.Unmarshal([]byte(meta.Skeleton), c.Skel); err != nil {
		return nil, fmt.Errorf("metadata skeleton: %w", err)
	}
	if err := c.open(&in.Roles); err != nil {
		return nil, err
	}
	if _, err := c.front(); err != nil {
		return nil, err
	}
	if !(in.Size >= 0 && in.Size <= maxValue) {
		return nil, fmt.Errorf("the size %g: want 0 or more", in.Size)
	}
	a, err := sound(arrays)
	if err != nil {
		return nil, err
	}
	cols := c.Columns()
	scales, err := a.take(arrayScales, 2, cols)
	if err != nil {
		return nil, err
	}
	c.mean, c.scale = scales[:cols:cols], scales[cols:]
	f := &File{}
	if in.Learned == nil && in.Adaptive == nil || len(in.Clips) > 0 {
		if f.Database, err = decodeDatabase(c, in.Clips, a); err != nil {
			return nil, err
		}
	}
	if in.Learned != nil {
		if f.Learned, err = decodeLearned(c, in.Learned, a); err != nil {
			return nil, err
		}
		if in.Learned.Plays {
			f.Plays = LearnedMatching
		}
	}
	if in.Adaptive != nil {
		if f.Adaptive, err = decodeAdaptive(c, in.Adaptive, a.named(adaptiveName)); err != nil {
			return nil, err
		}
		if in.Adaptive.Plays {
			f.Plays = AdaptiveNetwork
		}
	}
	return f, a.rest()
}

func decodeDatabase(c Character, clips []clipFile, a fileArrays) (*Database, error) {
	if len(clips) == 0 {
		return nil, errNoClips
	}
	d := &Database{Character: c}
	n := int32(0)
	for i, s := range clips {
		if s.Frames < shortest || s.Frames > maxFrames-n {
			return nil, fmt.Errorf("clip %d has %d frames: want at least %d, and at most %d in all", i, s.Frames, shortest, maxFrames)
		}
		if s.Once && s.Loop || s.Holds && !s.Once {
			return nil, fmt.Errorf("clip %d has loop %t, once %t and holds %t", i, s.Loop, s.Once, s.Holds)
		}
		d.clips = append(d.clips, span{s.Name, n, n + s.Frames, s.Loop, s.Once, s.Holds})
		n += s.Frames
	}
	data := map[string][]float32{}
	for _, v := range [...]struct {
		name  string
		width int
	}{{arrayFeatures, d.Columns()}, {arrayHips, 3}, {arrayRot, 4 * d.Skel.Len()}, {arrayMoves, 3}, {arrayTags, 4}} {
		var err error
		if data[v.name], err = a.take(v.name, int(n), v.width); err != nil {
			return nil, err
		}
	}
	d.store(data[arrayFeatures])
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

func decodeLearned(c Character, in *learnedFile, a fileArrays) (*Learned, error) {
	l := &Learned{Character: c}
	if err := l.learn(&in.paces); err != nil {
		return nil, err
	}
	l.net.Turns = in.Turns
	var err error
	for i, to := range [...]**netruntime.Net{&l.net.Decompressor, &l.net.Stepper, &l.net.Projector} {
		name := strings.TrimSuffix(networkNames[i], ".")
		if *to, err = NewNetwork(strings.TrimSpace(c.Name+" "+name), a.named(networkNames[i])); err != nil {
			return nil, fmt.Errorf("the network %s %w", name, err)
		}
	}
	state := l.net.Decompressor.Inputs()
	if l.net.Rest, err = a.take(arrayRest, state, 1); err != nil {
		return nil, err
	}
	bounds, err := a.take(arrayBounds, 2, state)
	if err != nil {
		return nil, err
	}
	l.net.Least, l.net.Most = bounds[:state:state], bounds[state:]
	if len(in.Acts) > 0 {
		acts, err := a.take(arrayActs, len(in.Acts), state)
		if err != nil {
			return nil, err
		}
		for i, f := range in.Acts {
			l.net.Acts = append(l.net.Acts, Act{f.Tags, f.Ticks, f.Holds, acts[i*state:][:state:state]})
		}
	}
	if len(in.Idles) > 0 {
		size := IdleKeys * (state + 3)
		idles, err := a.take(arrayIdles, len(in.Idles), size)
		if err != nil {
			return nil, err
		}
		for i, tags := range in.Idles {
			l.net.Idles = append(l.net.Idles, Idle{tags, idles[i*size:][:size:size]})
		}
	}
	still, err := a.take(arrayStill, l.Skel.Len(), 4)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(still); i += 4 {
		l.net.Still = append(l.net.Still, m3.Quat{X: still[i], Y: still[i+1], Z: still[i+2], W: still[i+3]})
	}
	return l, l.finish()
}

// fileArrays are the arrays of a file that were not taken yet.
type fileArrays map[string]netruntime.Tensor

// sound returns the arrays by name, if they hold sound numbers.
func sound(arrays []netruntime.Tensor) (fileArrays, error) {
	out := fileArrays{}
	for _, a := range arrays {
		whole := a.Name == arrayRot || a.Name == arrayTags
		for i, v := range a.Data {
			if !(m3.Abs(v) <= maxValue) || whole && (v != float32(math.Trunc(float64(v))) || m3.Abs(v) > 32768) {
				return nil, fmt.Errorf("array %s: value %d is %g", a.Name, i, v)
			}
		}
		out[a.Name] = a
	}
	return out, nil
}

// take returns an array of some rows of some values.
func (f fileArrays) take(name string, rows, width int) ([]float32, error) {
	a, ok := f[name]
	if !ok {
		return nil, fmt.Errorf("array %s is missing", name)
	}
	if len(a.Shape) == 0 || a.Shape[0] != rows || len(a.Data) != rows*width {
		return nil, fmt.Errorf("array %s of %v, want %v", name, a.Shape, [2]int{rows, width})
	}
	delete(f, name)
	return a.Data, nil
}

// named returns the arrays whose names begin with prefix, without it, by name.
func (f fileArrays) named(prefix string) (out []netruntime.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			a := f[name]
			a.Name = own
			out = append(out, a)
			delete(f, name)
		}
	}
	return out
}

// rest returns an error if there are arrays that nobody has taken.
func (f fileArrays) rest() error {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		return fmt.Errorf("unknown array %q", name)
	}
	return nil
}

var errZero = errors.New("matching: a zero Database has no frames: make one with Build")

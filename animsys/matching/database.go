package matching

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/statehash"
	"mannequin/netruntime/vec"
)

// TickRate is the rate of a database's frames, a second: one is played in each tick.
const TickRate = generator.TickRate

// Options configure a database.
type Options struct {
	Roles   *ik.Roles // the skeleton's legs, spine and neck; nil finds a dog's or a person's by names
	Weights Weights   // each 0, or 0.001 to 100; zero is DefaultWeights
	Tags    []string  // names of the bits of Tags, at most 64, no two alike
}

// Database is recordings and what is searched in them. It is immutable and can be shared by streams.
//
// Frames of all clips lie in one sequence. A frame of a clip that is no loop leads on to the next of the
// same clip, the last one nowhere; the last of a loop leads on to its first.
type Database struct {
	Character

	clips []span
	hips  []m3.Vec3 // (frames) joint 0 in the space of the root, m
	rot   []packed  // (frames, joints) local rotations; joint 0's in the space of the root
	moves []move    // (frames) of the root to the next frame
	tags  []Tags    // (frames)
	rest  int32     // a frame that stands, as far as any does

	features []vec.Half // (frames, columns) normalised
	index    index
	sum      uint64 // of all the rest
}

// span is a clip's frames.
type span struct {
	name       string
	first, end int32
	loop       bool
	once       bool
	holds      bool
}

// next returns the frame after a frame of the clip, or −1.
func (s *span) next(frame int32) int32 {
	switch {
	case frame+1 < s.end:
		return frame + 1
	case s.loop:
		return s.first
	}
	return -1
}

// findable returns the end of the frames that a search finds.
func (s *span) findable() int32 {
	switch {
	case s.loop:
		return s.end
	case s.once:
		return min(s.first+entry, s.end-1)
	}
	return s.end - ending
}

// move is the motion of a root over the ground in a tick, in its own space.
type move struct{ X, Z, Yaw float32 } // m, m, rad

// packed is a unit quaternion in 1/32767.
type packed [4]int16

func pack(q m3.Quat) packed {
	r := func(v float32) int16 { return int16(math.RoundToEven(float64(m3.Clamp(v, -1, 1)) * 32767)) }
	return packed{r(q.X), r(q.Y), r(q.Z), r(q.W)}
}

func (p packed) quat() m3.Quat {
	return m3.Quat{X: float32(p[0]), Y: float32(p[1]), Z: float32(p[2]), W: float32(p[3])}.Normalize()
}

// ending is the number of last frames of a clip without a loop, or before another action, that no search finds: what comes after them is
// unknown.
const ending = 20

// entry is the number of first frames of a clip with Once that a search finds.
const entry = 12

// maxFrames bounds a database: five hours.
const maxFrames = 1 << 20

// Frames returns the number of frames.
func (d *Database) Frames() int { return len(d.moves) }

// Clips returns the number of clips.
func (d *Database) Clips() int { return len(d.clips) }

// Clip returns the name of a frame's clip and the frame's number in it, at TickRate.
func (d *Database) Clip(frame int) (name string, at int) {
	if !d.has(frame) {
		return "", 0
	}
	s := d.span(int32(frame))
	return s.name, frame - int(s.first)
}

// Span is where the frames of a clip lie, and how it is played; see Clip.
type Span struct {
	First, End        int // frames; End is the one after the last
	Loop, Once, Holds bool
}

// Span returns where a clip lies; the zero Span of none.
func (d *Database) Span(clip int) Span {
	if clip < 0 || clip >= len(d.clips) {
		return Span{}
	}
	s := &d.clips[clip]
	return Span{int(s.first), int(s.end), s.loop, s.once, s.holds}
}

// Motion returns a clip as the database holds it, at TickRate, from the origin and facing +Z, with the tags of its frames;
// nil of none.
func (d *Database) Motion(clip int) (*skel.Clip, []Tags) {
	if clip < 0 || clip >= len(d.clips) {
		return nil, nil
	}
	s, n := d.clips[clip], d.Skel.Len()
	out := skel.NewClip(d.Skel, TickRate, int(s.end-s.first))
	var at feature.Place
	for f := s.first; f < s.end; f++ {
		pos, rot := out.Frame(int(f - s.first))
		for j := range rot {
			rot[j] = d.rot[int(f)*n+j].quat()
		}
		x := xform(at)
		pos[0], rot[0] = x.Apply(d.hips[f]), x.Rot.Mul(rot[0])
		at = d.moves[f].after(at)
	}
	return out, slices.Clone(d.tags[s.first:s.end])
}

// Pose writes the pose of a frame, (joints): local translations and rotations, m; joint 0's are in the space of the root.
// It writes nothing if there is no such frame.
func (d *Database) Pose(frame int, pos []m3.Vec3, rot []m3.Quat) {
	if !d.has(frame) {
		return
	}
	from := d.rot[frame*len(rot):][:len(rot)]
	copy(pos, d.Skel.Offsets)
	pos[0] = d.hips[frame]
	for j := range rot {
		rot[j] = from[j].quat()
	}
}

// Next returns the frame that follows a frame, or −1.
func (d *Database) Next(frame int) int {
	if !d.has(frame) {
		return -1
	}
	return int(d.next(int32(frame)))
}

// Move returns the motion of the root from a frame to the next: along X and Z of the root's space, m, and about Y, rad.
func (d *Database) Move(frame int) (x, z, yaw float32) {
	if !d.has(frame) {
		return 0, 0, 0
	}
	m := d.moves[frame]
	return m.X, m.Z, m.Yaw
}

// Rest returns a frame that stands, as far as any does.
func (d *Database) Rest() int { return int(d.rest) }

// Bytes returns the memory of the frames: of poses, motion, tags and features, and of the search's tree.
func (d *Database) Bytes() int {
	const vector, quat = 12, 8
	if d.Skel == nil {
		return 0
	}
	return d.Frames()*(2*vector+quat*d.Skel.Len()+8) + 2*len(d.features) + 4*(len(d.index.rows)+len(d.index.boxes))
}

// TagsOf returns the tags of a frame.
func (d *Database) TagsOf(frame int) Tags {
	if !d.has(frame) {
		return 0
	}
	return d.tags[frame]
}

func (d *Database) has(frame int) bool { return frame >= 0 && frame < len(d.moves) }

// Build makes a database of clips on skeleton sk, in their order.
func Build(sk *skel.Skeleton, clips []Clip, opt Options) (*Database, error) {
	d := &Database{Character: Character{Skel: sk, Tags: opt.Tags, weight: opt.Weights}}
	if d.weight == (Weights{}) {
		d.weight = DefaultWeights()
	}
	if err := d.open(opt.Roles); err != nil {
		return nil, err
	}
	if len(clips) == 0 {
		return nil, errNoClips
	}
	front, err := d.front()
	if err != nil {
		return nil, err
	}
	var raw []float32 // (frames, columns)
	for i := range clips {
		t, err := newTrack(&clips[i], sk, front)
		if err != nil {
			return nil, err
		}
		if len(d.moves)+t.span > maxFrames {
			return nil, fmt.Errorf("matching: with clip %q the database has %d frames, at most %d are allowed", t.name, len(d.moves)+t.span, maxFrames)
		}
		raw = d.add(raw, t)
	}
	d.normalise(raw)
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// finish derives what is not stored.
func (d *Database) finish() error {
	if d.build(); len(d.index.leafs) == 0 {
		return fmt.Errorf("matching: a search would find no frame: all clips are shorter than %d frames, and none is a loop", ending+1)
	}
	d.settle()
	d.footAccel = d.brakes()
	d.sum = d.checksum()
	return nil
}

// add appends the frames of a clip, and their features to raw.
func (d *Database) add(raw []float32, t *track) []float32 {
	first, n, cols := len(d.moves), d.Skel.Len(), d.Columns()
	d.clips = append(d.clips, span{t.name, int32(first), int32(first + t.span), t.loop, t.once, t.holds})
	for f := range t.span {
		root := xform(t.root[f])
		next := root.Inv().Mul(t.place(f + 1))
		m := move{next.Pos.X, next.Pos.Z, next.Rot.Yaw()}
		if f == t.span-1 && !t.loop {
			m = move{}
		}
		d.moves, d.tags = append(d.moves, m), append(d.tags, t.tags[f])
		_, rot := t.clip.Frame(f)
		hips := root.Inv().Mul(t.model[f*n])
		d.hips, d.rot = append(d.hips, hips.Pos), append(d.rot, pack(hips.Rot))
		for j := 1; j < n; j++ {
			d.rot = append(d.rot, pack(rot[j]))
		}
		row := make([]float32, cols)
		d.describe(row, t, f)
		raw = append(raw, row...)
	}
	return raw
}

// describe writes the raw features of frame f.
func (d *Database) describe(row []float32, t *track, f int) {
	n, root := d.Skel.Len(), xform(t.root[f])
	back := root.Rot.Conj()
	velocity := func(j int) m3.Vec3 {
		return back.Rotate(t.joint(j, n, f+1).Sub(t.joint(j, n, f-1)).Scale(0.5 * TickRate))
	}
	for i, leg := range d.Roles.Legs {
		tip := leg[len(leg)-1]
		put(row[3*i:], root.Inv().Apply(t.joint(tip, n, f)))
		put(row[d.footVelocity()+3*i:], velocity(tip))
	}
	put(row[d.hipsVelocity():], velocity(0))
	for i, ahead := range horizon {
		x := root.Inv().Mul(t.place(f + ahead))
		way, face := row[d.trajectory()+2*i:], row[d.facings()+2*i:]
		forward := x.Rot.Forward()
		way[0], way[1], face[0], face[1] = x.Pos.X, x.Pos.Z, forward.X, forward.Z
	}
}

// alike is the deviation of a group, m, m/s or 1, up to which all frames are alike: what differs is rounding.
const alike = 2e-4

func put(dst []float32, v m3.Vec3) { dst[0], dst[1], dst[2] = v.X, v.Y, v.Z }

// normalise finds mean and scale of the raw features, and applies them.
func (d *Database) normalise(raw []float32) {
	cols, n := d.Columns(), d.Frames()
	d.mean, d.scale = make([]float32, cols), make([]float32, cols)
	sum := make([]float64, cols)
	for i, v := range raw {
		sum[i%cols] += float64(v)
	}
	for c := range sum {
		sum[c] /= float64(n)
		d.mean[c] = float32(sum[c])
	}
	square := make([]float64, cols)
	for i, v := range raw {
		e := float64(v) - sum[i%cols]
		square[i%cols] += e * e
	}
	for _, g := range d.groups() {
		var mean float64 // variance of the group's values
		for c := g.from; c < g.to; c++ {
			mean += square[c] / float64(n) / float64(g.to-g.from)
		}
		for c := g.from; c < g.to; c++ {
			if mean > alike*alike {
				d.scale[c] = float32(float64(g.weight) / math.Sqrt(mean))
			}
		}
	}
	for i, v := range raw {
		c := i % cols
		raw[i] = (v - d.mean[c]) * d.scale[c]
	}
	d.store(raw)
}

// mostFeature bounds what a feature can be as a float16.
const mostFeature = 60000

// store takes the normalised features.
func (d *Database) store(features []float32) {
	d.features = make([]vec.Half, len(features))
	for i, v := range features {
		d.features[i] = vec.ToHalf(m3.Clamp(v, -mostFeature, mostFeature))
	}
}

// AppendFeatures appends the features of a frame, (Columns), normalised; none if there is no such frame.
func (d *Database) AppendFeatures(dst []float32, frame int) []float32 {
	if !d.has(frame) {
		return dst
	}
	cols := d.Columns()
	for _, h := range d.features[frame*cols:][:cols] {
		dst = append(dst, h.Float32())
	}
	return dst
}

// next returns the frame after a frame, or −1.
func (d *Database) next(frame int32) int32 {
	return d.span(frame).next(frame)
}

// span returns the clip of a frame.
func (d *Database) span(frame int32) *span {
	i, _ := slices.BinarySearchFunc(d.clips, frame, func(s span, f int32) int { return int(s.end - 1 - f) })
	return &d.clips[i]
}

// place returns a root after a frame's motion.
func (m move) after(p feature.Place) feature.Place {
	way := m3.YawQuat(p.Yaw).Rotate(m3.V(m.X, 0, m.Z))
	return feature.Place{Pos: p.Pos.Add(way), Yaw: m3.WrapAngle(p.Yaw + m.Yaw)}
}

// Fingerprint returns a checksum of the database: equal ones have the same.
func (d *Database) Fingerprint() uint64 { return d.sum }

func (d *Database) checksum() uint64 {
	h := statehash.New.Uint(d.Skel.Fingerprint()).Int(d.Frames()).Int(d.legs).Floats(d.mean...).Floats(d.scale...)
	for f, m := range d.moves {
		p := d.hips[f]
		h = h.Floats(m.X, m.Z, m.Yaw, p.X, p.Y, p.Z).Uint(uint64(d.tags[f]))
	}
	for _, v := range d.features {
		h = h.Uint(uint64(v))
	}
	for _, q := range d.rot {
		h = h.Uint(uint64(uint16(q[0])) | uint64(uint16(q[1]))<<16 | uint64(uint16(q[2]))<<32 | uint64(uint16(q[3]))<<48)
	}
	for _, c := range d.clips {
		h = h.Int(int(c.end)).Bool(c.loop).Bool(c.once).Bool(c.holds)
	}
	for _, name := range d.Tags { // actions follow from them
		for _, c := range []byte(name) {
			h = h.Int(int(c))
		}
		h = h.Int(-1)
	}
	return uint64(h)
}

package mar

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Take is one performance of an action in a style. All takes of a database share a skeleton and a
// frame rate.
type Take struct {
	Name    string     // of its file, without folder and extension
	Action  string     // walk, run, jump
	Style   string     // neutral, proud, old
	Content string     // version of the action, such as a path; takes of one action and content in two styles are pairs
	Clip    *skel.Clip // in metres; the character faces +Z at rest

	// Times are the frames' places on the action's canonical timeline, strictly increasing, in
	// frames of its reference; nil before registration (package registration finds them). On a
	// cyclic timeline they go on beyond the period, once per cycle.
	Times []float64
	// Stands are the feet that have contact in each frame: bit 0 the left, bit 1 the right; nil
	// before registration.
	Stands []uint8
}

// Limits on databases that come from files.
const (
	MaxStyles  = 64
	MaxActions = 256
	MaxTakes   = 1 << 15
	MaxFrames  = 1 << 22
)

// Database is the data of style translation: takes of actions in styles, with one timeline per
// action. It is immutable and safe to share.
type Database struct {
	Actions []string
	Styles  []string
	FPS     float32
	Periods []float64 // (actions) of the canonical timeline, frames; 0 if the action does not repeat

	Name, Data, License, Card string // Data is the source; Card is Markdown

	layout *layout
	takes  []take
	rows   []float32 // (frames, columns)
	stands []uint8   // (frames)
	times  []float32 // (frames) canonical

	class   []int32   // (actions, styles) → class, −1 without takes
	classes []pair    // action and style of each class
	takeOf  []int32   // (frames) take
	partner []int32   // (takes, styles) the take with the same content in a style, −1 without one
	match   []float32 // (frames, styles) the partner's frame at the same canonical time, from its first; −1 if it or the one before is missing
	step    []float32 // (frames, styles) frames that pass there from the frame before

	poses *index // of windows, by class; window i ends with frame i
	feet  *index // of the same windows by legs, all one class
}

type take struct {
	name, content string
	action, style int32
	first, frames int32
}

type pair struct{ action, style int32 }

// NewDatabase makes a database of takes. periods are the canonical frames after which actions
// repeat; actions that do not repeat may be left out. Equal takes give equal bytes, in any order.
func NewDatabase(takes []*Take, periods map[string]float64) (*Database, error) {
	if len(takes) == 0 {
		return nil, errors.New("mar: a database without takes: want at least one action in two styles")
	}
	takes = slices.Clone(takes)
	slices.SortStableFunc(takes, func(a, b *Take) int {
		return slices.Compare([]string{a.Action, a.Style, a.Content, a.Name}, []string{b.Action, b.Style, b.Content, b.Name})
	})
	db := &Database{}
	var clips []*skel.Clip
	for _, t := range takes {
		if err := t.check(takes[0]); err != nil {
			return nil, fmt.Errorf("mar: take %q: %w", t.Name, err)
		}
		clips = append(clips, t.Clip)
		if !slices.Contains(db.Actions, t.Action) {
			db.Actions = append(db.Actions, t.Action)
		}
		if !slices.Contains(db.Styles, t.Style) {
			db.Styles = append(db.Styles, t.Style)
		}
	}
	slices.Sort(db.Styles)
	var err error
	if db.layout, err = newLayout(clips[0].Skel); err != nil {
		return nil, err
	}
	db.layout.centre(clips)
	db.FPS = float32(clips[0].FPS)
	for _, a := range db.Actions {
		db.Periods = append(db.Periods, periods[a])
	}
	cols := db.layout.columns()
	for i, t := range takes {
		first := len(db.rows) / cols
		db.takes = append(db.takes, take{name: t.Name, content: t.Content, action: int32(slices.Index(db.Actions, t.Action)),
			style: int32(slices.Index(db.Styles, t.Style)), first: int32(first), frames: int32(t.Clip.Frames)})
		db.rows = append(db.rows, db.layout.clip(clips[i])...)
		db.stands = append(db.stands, t.Stands...)
		begin := 0.0
		if p := periods[t.Action]; p > 0 {
			begin = p * math.Floor(t.Times[0]/p)
		}
		for _, x := range t.Times {
			db.times = append(db.times, float32(x-begin))
		}
	}
	return db, db.derive()
}

func (t *Take) check(first *Take) error {
	c := t.Clip
	switch {
	case t.Action == "" || t.Style == "":
		return errors.New("the action or the style is missing")
	case c == nil || c.Frames < Window+1:
		return fmt.Errorf("too short: want at least %d frames", Window+1)
	case !(c.FPS > 0) || c.FPS != first.Clip.FPS:
		return fmt.Errorf("%g frames per second, take %q has %g", c.FPS, first.Name, first.Clip.FPS)
	case len(t.Times) != c.Frames || len(t.Stands) != c.Frames:
		return fmt.Errorf("%d times and %d contacts for %d frames: register it first", len(t.Times), len(t.Stands), c.Frames)
	}
	if err := sameSkeleton(first.Clip.Skel, c.Skel); err != nil {
		return err
	}
	for f, x := range t.Times {
		if math.IsNaN(x) || math.IsInf(x, 0) || f > 0 && x <= t.Times[f-1] {
			return fmt.Errorf("canonical time %g of frame %d: want finite, increasing numbers", x, f)
		}
	}
	for i := range c.Rot {
		if !c.Rot[i].Finite() || !c.Pos[i].Finite() {
			return fmt.Errorf("frame %d has values that are not finite", i/c.Skel.Len())
		}
	}
	return nil
}

// sameSkeleton returns an error that says how two skeletons differ.
func sameSkeleton(a, b *skel.Skeleton) error {
	if a == b {
		return nil
	}
	if !slices.Equal(a.Names, b.Names) || !slices.Equal(a.Parents, b.Parents) {
		return fmt.Errorf("a skeleton of %d joints, %q, …: want %d, %q, …: retarget it first (mannequin import --retarget)", b.Len(), b.Names[0], a.Len(), a.Names[0])
	}
	for j := range a.Offsets {
		if a.Offsets[j].Dist(b.Offsets[j]) > 1e-3 {
			return fmt.Errorf("its bone to %s is (%.3g %.3g %.3g), want (%.3g %.3g %.3g): retarget it first (mannequin import --retarget)", a.Names[j],
				b.Offsets[j].X, b.Offsets[j].Y, b.Offsets[j].Z, a.Offsets[j].X, a.Offsets[j].Y, a.Offsets[j].Z)
		}
	}
	return nil
}

// clip returns the rows of c. The root's motion in the first frame is that in the second.
func (l *layout) clip(c *skel.Clip) []float32 {
	cols := l.columns()
	rows := make([]float32, c.Frames*cols)
	at := placeOf(c.Pos[0], c.Rot[0], 0)
	var before []float32
	for f := range c.Frames {
		pos, rot := c.Frame(f)
		row := rows[f*cols:][:cols]
		at = l.encode(row, pos, rot, at, float32(c.FPS), before)
		before = row
	}
	if c.Frames > 1 {
		copy(rows[colVelX:colYaw+1], rows[cols+colVelX:])
	}
	return rows
}

// derive computes everything that follows from takes and rows.
func (db *Database) derive() error {
	frames := len(db.stands)
	db.class = slices.Repeat([]int32{-1}, len(db.Actions)*len(db.Styles))
	db.takeOf, db.classes = make([]int32, frames), nil
	for i, t := range db.takes {
		c := &db.class[int(t.action)*len(db.Styles)+int(t.style)]
		if *c < 0 {
			*c = int32(len(db.classes))
			db.classes = append(db.classes, pair{t.action, t.style})
		}
		for f := t.first; f < t.first+t.frames; f++ {
			db.takeOf[f] = int32(i)
		}
	}
	db.pairUp()
	return db.indexAll()
}

// pairUp finds each take's partner in each style, and the frames that belong together. The n-th
// take of a content goes with the n-th of the other style. If the style has no take of the content,
// any take of the action will do.
func (db *Database) pairUp() {
	frames, styles := len(db.stands), len(db.Styles)
	type key struct {
		action, style int32
		content       string
	}
	same, any, rank := map[key][]int32{}, map[key][]int32{}, make([]int, len(db.takes))
	for i, t := range db.takes {
		k := key{t.action, t.style, t.content}
		rank[i] = len(same[k])
		same[k] = append(same[k], int32(i))
		k.content = ""
		any[k] = append(any[k], int32(i))
	}
	db.partner = slices.Repeat([]int32{-1}, len(db.takes)*styles)
	db.match, db.step = make([]float32, frames*styles), make([]float32, frames*styles)
	for a, t := range db.takes {
		for s := range styles {
			p := &db.partner[a*styles+s]
			list := same[key{t.action, int32(s), t.content}]
			if len(list) == 0 {
				list = any[key{t.action, int32(s), ""}]
			}
			switch {
			case int(t.style) == s:
				*p = int32(a)
			case len(list) > 0:
				*p = list[rank[a]%len(list)]
			}
			db.matchTo(int32(a), s)
		}
	}
}

// matchTo finds the frames of take a's partner in style s.
func (db *Database) matchTo(a int32, s int) {
	t, styles := db.takes[a], len(db.Styles)
	to := slices.Repeat([]float32{-1}, int(t.frames))
	if b := db.partner[int(a)*styles+s]; b >= 0 {
		o := db.takes[b]
		Match(to, db.times[t.first:][:t.frames], db.times[o.first:][:o.frames], float32(db.Periods[t.action]))
	}
	for f := range to {
		i := (int(t.first)+f)*styles + s
		db.match[i], db.step[i] = -1, 1
		if f > 0 && to[f] >= 0 && to[f-1] >= 0 && to[f] > to[f-1] && to[f]-to[f-1] < maxStep {
			db.match[i], db.step[i] = to[f], to[f]-to[f-1]
		}
	}
}

// maxStep bounds the frames that pass in one style during a frame of another. More is a jump from
// the end of a take to an earlier cycle.
const maxStep = 6

// Match writes, for every frame of a, the frame of b at the same canonical time, a fraction between
// two, or −1 if b has none. With a period above 0, times repeat: b is moved by whole periods so
// that both begin together as nearly as possible, and by others when b has ended or not begun.
func Match(dst, a, b []float32, period float32) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	shift, end := float32(0), b[len(b)-1]
	if period > 0 {
		shift = period * float32(math.Round(float64((b[0]-a[0])/period)))
	}
	j := 0
	for f, t := range a {
		if period > 0 {
			for t+shift > end && t+shift-period >= b[0] {
				shift -= period
				j = 0
			}
			for t+shift < b[0] && t+shift+period <= end {
				shift += period
				j = 0
			}
		}
		t += shift
		dst[f] = -1
		if t < b[0] || t > end {
			continue
		}
		for j+2 < len(b) && b[j+1] < t {
			j++
		}
		if len(b) > 1 {
			dst[f] = float32(j) + m3.Clamp((t-b[j])/(b[j+1]-b[j]), 0, 1)
		}
	}
}

// indexAll makes the indices of windows.
func (db *Database) indexAll() error {
	sk, frames := db.layout.skel, len(db.stands)
	places := db.places()
	poses, err := newMetric(sk, nil)
	if err != nil {
		return err
	}
	feet, err := newMetric(sk, db.legs())
	if err != nil {
		return err
	}
	class, one := make([]int32, frames), make([]int32, frames)
	for f, t := range db.takeOf {
		class[f], one[f] = -1, -1
		if tk := db.takes[t]; int32(f)-tk.first >= Window-1 {
			class[f] = db.class[int(tk.action)*len(db.Styles)+int(tk.style)]
			if (int32(f)-tk.first)%2 == 0 { // enough for contacts
				one[f] = 0
			}
		}
	}
	var both sync.WaitGroup
	var failed error
	both.Go(func() { db.feet, failed = db.indexOf(feet, legsShare, places, one, 1) })
	db.poses, err = db.indexOf(poses, poseShare, places, class, len(db.classes))
	both.Wait()
	return cmp.Or(err, failed)
}

// places returns the places of all joints in every frame, (frames, joints), each take in a world of
// its own.
func (db *Database) places() []m3.Vec3 {
	n, cols := db.layout.skel.Len(), db.layout.columns()
	out := make([]m3.Vec3, len(db.stands)*n)
	pos, rot, model := make([]m3.Vec3, n), make([]m3.Quat, n), make([]m3.Xform, n)
	var at place
	for f := range db.stands {
		if int32(f) == db.takes[db.takeOf[f]].first {
			at = place{}
		}
		at = db.layout.decode(pos, rot, db.rows[f*cols:][:cols], at, 1/db.FPS)
		db.layout.skel.LocalToModel(model, pos, rot)
		for j := range n {
			out[f*n+j] = model[j].Pos
		}
	}
	return out
}

// maxFitted bounds the windows from which principal components are computed.
const maxFitted = 4000

func (db *Database) indexOf(m *metric, share float64, places []m3.Vec3, of []int32, classes int) (*index, error) {
	n := db.layout.skel.Len()
	var have []int32
	for f, c := range of {
		if c >= 0 {
			have = append(have, int32(f))
		}
	}
	cloud := func(f int32, plane, height []float32) {
		m.cloud(plane, height, func(i int) []m3.Vec3 { return places[(int(f)-Window+1+i)*n:][:n] })
	}
	stride := len(have)/maxFitted + 1
	if err := m.fit(share, (len(have)+stride-1)/stride, func(i int, p, h []float32) { cloud(have[i*stride], p, h) }); err != nil {
		return nil, err
	}
	cols := m.columns()
	rows := make([]float32, len(of)*cols)
	var all sync.WaitGroup
	for part := range slices.Chunk(have, len(have)/runtime.GOMAXPROCS(0)+1) {
		all.Go(func() {
			plane, height := make([]float32, 2*m.n()), make([]float32, m.n())
			for _, f := range part {
				cloud(f, plane, height)
				m.coordinates(rows[int(f)*cols:][:cols], plane, height)
			}
		})
	}
	all.Wait()
	return newIndex(m, rows, of, classes), nil
}

// legs returns the joints from the root to the two End Sites that are lowest at rest.
func (db *Database) legs() []int {
	sk := db.layout.skel
	at := make([]m3.Vec3, sk.Len())
	var ends []int
	for j, p := range sk.Parents {
		if p >= 0 {
			at[j] = at[p].Add(sk.Offsets[j])
		}
	}
	for j := range at {
		if !slices.Contains(sk.Parents, int16(j)) {
			ends = append(ends, j)
		}
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(at[a].Y, at[b].Y) })
	legs := []int{0}
	for _, e := range ends[:min(2, len(ends))] {
		for j := e; j > 0; j = int(sk.Parents[j]) {
			legs = append(legs, j)
		}
	}
	return legs
}

// Columns returns the names of the columns of a row.
func (db *Database) Columns() []string {
	if db.layout == nil {
		return nil
	}
	return db.layout.names()
}

// Row returns the row of a frame. It must not be changed.
func (db *Database) Row(frame int) []float32 {
	if db.layout == nil {
		return nil
	}
	cols := db.layout.columns()
	return db.rows[frame*cols:][:cols]
}

var errZeroDatabase = errors.New("mar: the zero Database has no motion: make one with NewDatabase, or read one with Open")

// Fits reports why motion of a skeleton cannot be translated, or nil.
func (db *Database) Fits(sk *skel.Skeleton) error {
	if db.layout == nil {
		return errZeroDatabase
	}
	if err := sameSkeleton(db.layout.skel, sk); err != nil {
		return fmt.Errorf("mar: %w", err)
	}
	return nil
}

// Rows returns the rows of a clip, (frames, columns). It is an error if the clip has another
// skeleton.
func (db *Database) Rows(c *skel.Clip) ([]float32, error) {
	if err := db.Fits(c.Skel); err != nil {
		return nil, err
	}
	return db.layout.clip(c), nil
}

// Pose writes the local transforms of a row into pos and rot, with the root over the origin, facing
// ahead.
func (db *Database) Pose(pos []m3.Vec3, rot []m3.Quat, row []float32) {
	if db.layout == nil {
		return
	}
	db.layout.decode(pos, rot, row, place{}, 0)
	rot[0] = m3.FromRotationVector(m3.V(row[colTiltX], 0, row[colTiltZ]))
	pos[0].X, pos[0].Z = 0, 0
}

// Speed returns the mean speed of an action in a style over the ground, m/s; 0 without takes.
func (db *Database) Speed(action, style int) float32 {
	var way, frames float64
	for _, t := range db.takes {
		if int(t.action) != action || int(t.style) != style {
			continue
		}
		for f := t.first; f < t.first+t.frames; f++ {
			row := db.Row(int(f))
			way += float64(m3.V(row[colVelX], 0, row[colVelZ]).Len())
		}
		frames += float64(t.frames)
	}
	return float32(way / max(frames, 1))
}

// Of returns the take of a frame, its action and style as indices, and the number of the frame in
// the take.
func (db *Database) Of(frame int) (take string, action, style, number int) {
	t := &db.takes[db.takeOf[frame]]
	return t.name, int(t.action), int(t.style), frame - int(t.first)
}

// Counterpart writes the counterpart of a frame in a style into row, and returns how many frames
// pass there from the frame before. ok is false if the database has none.
func (db *Database) Counterpart(row []float32, frame, style int) (step float32, ok bool) {
	return db.counterpart(row, frame, style, 0)
}

// CounterpartBefore writes the frame of the counterpart's take that is Counterpart's step earlier
// into row: the counterpart of the frame before. ok is false if the database has none.
func (db *Database) CounterpartBefore(row []float32, frame, style int) (ok bool) {
	_, ok = db.counterpart(row, frame, style, 1)
	return ok
}

// counterpart is Counterpart, a number of its steps earlier.
func (db *Database) counterpart(row []float32, frame, style int, earlier float32) (step float32, ok bool) {
	i := frame*len(db.Styles) + style
	if db.match[i] < 0 {
		return 0, false
	}
	clear(row)
	first := db.takes[db.partner[int(db.takeOf[frame])*len(db.Styles)+style]].first
	db.addRow(row, 1, int(first), db.match[i]-earlier*db.step[i])
	return db.step[i], true
}

// Frames returns the number of frames.
func (db *Database) Frames() int { return len(db.stands) }

// Skeleton returns the skeleton of all takes, and of the motion to translate.
func (db *Database) Skeleton() *skel.Skeleton {
	if db.layout == nil {
		return nil
	}
	return db.layout.skel
}

package mar

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// StyleTranslatorOptions configure a StyleTranslator.
type StyleTranslatorOptions struct {
	Options
	Characters int // at least 1
	Workers    int // goroutines of Run; 0 means one per processor; the result does not depend on it
}

// Label is what is known of the input: bits of actions and styles in the order of the database. The
// zero Label knows nothing.
type Label struct {
	Actions [MaxActions / 64]uint64
	Styles  uint64
}

// InStyle returns the label of motion in a style. It is zero if the database, which may be nil,
// does not have the style.
func (db *Database) InStyle(name string) (l Label) {
	if db != nil {
		if i := slices.Index(db.Styles, name); i >= 0 {
			l.Styles = 1 << i
		}
	}
	return l
}

// Allows reports whether the input may be an action in a style, given as indices.
func (l *Label) Allows(action, style int) bool {
	if l.Styles != 0 && l.Styles>>style&1 == 0 {
		return false
	}
	return l.Actions == [len(l.Actions)]uint64{} || l.Actions[action/64]>>(action%64)&1 == 1
}

// StyleTranslator translates the motion of characters into styles, frame by frame (Xia et al.
// 2015). For every frame it finds the nearest windows of poses in each class of the database, fits
// a regression from their poses to the same moments in the wanted styles, and blends the
// predictions of the classes by distance.
//
// It belongs to one goroutine.
type StyleTranslator struct {
	// Weights are the style weights of the output, (characters, styles), each 0 to 1. What their
	// sum lacks to 1 is the input's own style; a sum above 1 counts as 1.
	Weights []float32
	Labels  []Label // (characters) what is known of the input

	db         *Database
	opt        Options
	bodies     []body
	workspaces []*workspace
	pool       *netruntime.Pool
	cols       int
	joints     int
	rows       []float32 // (characters, columns) the output
	steps      []float32 // (characters)
	stands     []uint8   // (characters)
	one        [1]int32  // of Step
	characters []int32   // arguments of Run
	pos        []m3.Vec3 // the same
	rot        []m3.Quat
	work       func(worker, i int)
}

// body is the memory of one character.
type body struct {
	seen      int
	places    []m3.Vec3          // (Window, joints) of the last frames; frame i is in i mod Window
	x, xp     []float32          // rows of the input
	yp        []float32          // the output before
	at        place              // of the input
	q         []float32          // coordinates of the last window
	known     []distanceBounds   // (classes) of the distances from that window
	legs      []float32          // coordinates of the last window of legs
	legsCache distanceBounds     // of the distances from that
	blend     []float32          // (2, styles) eased weights, and their speeds, 1/s
	stand     [Window][2]float32 // likelihoods of contact in the last frames, stored like places
}

// workspace is the memory of one worker.
type workspace struct {
	search, feet  *search
	reg           *regression
	plane, height []float32 // of either metric
	model         []m3.Xform
	slots         []slot
}

// groupSize is the number of characters that a worker translates together, class by class: data of
// a class that one character has read is still in the cache for the next.
const groupSize = 5

// slot is a character's place in a workspace while a frame is translated.
type slot struct {
	character int32
	best      int32     // class that is searched first
	weights   []float32 // (styles) with a sum of at most 1
	turned    []float32 // its window's coordinates, turned by a quarter
	least     float32   // D of the nearest class
	found     []found
	preds     []float32 // (classes, columns)
}

// found is the prediction of a class.
type found struct {
	class int32
	d     float32 // D of eq. 4
	step  float32
	pred  int32
}

// NewStyleTranslator returns a translator for a number of characters.
func (db *Database) NewStyleTranslator(o StyleTranslatorOptions) (*StyleTranslator, error) {
	if o.Characters < 1 {
		return nil, fmt.Errorf("mar: a style translator for %d characters: want at least 1", o.Characters)
	}
	if o.Neighbours < 0 || o.Ridge < 0 || o.Width < 0 || o.Confidence < 0 {
		return nil, fmt.Errorf("mar: %d neighbours, ridge %g, width %g, confidence %g: want none below 0", o.Neighbours, o.Ridge, o.Width, o.Confidence)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if len(db.Styles) == 0 {
		return nil, errors.New("mar: a database without styles: make one with NewDatabase")
	}
	s := &StyleTranslator{db: db, opt: o.Options.withDefaults(), cols: db.layout.columns(), joints: db.layout.skel.Len()}
	n := o.Characters
	s.Weights, s.Labels = make([]float32, n*len(db.Styles)), make([]Label, n)
	s.bodies = make([]body, n)
	s.rows, s.steps, s.stands = make([]float32, n*s.cols), make([]float32, n), make([]uint8, n)
	for i := range s.bodies {
		s.bodies[i] = body{places: make([]m3.Vec3, Window*s.joints), x: make([]float32, s.cols), xp: make([]float32, s.cols),
			yp: make([]float32, s.cols), q: make([]float32, db.poses.cols), known: make([]distanceBounds, len(db.classes)), legs: make([]float32, db.feet.cols),
			blend: make([]float32, 2*len(db.Styles))}
	}
	s.work = func(worker, i int) {
		s.translate(s.workspaces[worker], s.characters[i*groupSize:min((i+1)*groupSize, len(s.characters))], s.pos, s.rot, s.joints)
	}
	s.pool = netruntime.NewPool(min(o.Workers, n))
	for range s.pool.Workers() {
		r := &workspace{search: db.poses.newSearch(s.opt.Neighbours), feet: db.feet.newSearch(s.opt.Neighbours), reg: newRegression(s.opt.Neighbours, s.cols),
			plane: make([]float32, 2*db.poses.metric.n()), height: make([]float32, db.poses.metric.n()), model: make([]m3.Xform, s.joints),
			slots: make([]slot, groupSize)}
		for i := range r.slots {
			r.slots[i] = slot{weights: make([]float32, len(db.Styles)), turned: make([]float32, db.poses.cols),
				found: make([]found, 0, len(db.classes)), preds: make([]float32, len(db.classes)*s.cols)}
		}
		s.workspaces = append(s.workspaces, r)
	}
	return s, nil
}

// Close ends the workers.
func (s *StyleTranslator) Close() error {
	if s.pool == nil {
		return nil
	}
	s.pool.Close()
	return nil
}

// Reset forgets the motion of a character: its next frame is the first.
func (s *StyleTranslator) Reset(character int) {
	b := &s.bodies[character]
	b.seen = 0
	clear(b.blend)
}

// Shift moves what is remembered of a character's motion by by, flat, m: the space of its next
// frames has another origin.
func (s *StyleTranslator) Shift(character int, by m3.Vec3) {
	b := &s.bodies[character]
	b.at.x, b.at.z = b.at.x+by.X, b.at.z+by.Z
	for i := range b.places {
		b.places[i] = b.places[i].Add(by)
	}
}

// Turn turns what is remembered of a character's motion: its next frames are turned, too.
func (s *StyleTranslator) Turn(character int, by m3.Turn) {
	b := &s.bodies[character]
	at := by.Point(m3.V(b.at.x, 0, b.at.z))
	b.at = place{at.X, at.Z, m3.WrapAngle(b.at.yaw + by.Yaw)}
	for i := range b.places {
		b.places[i] = by.Point(b.places[i])
	}
}

// Visit writes or reads what is remembered of a character's motion. Weights and Labels are the caller's.
func (s *StyleTranslator) Visit(st *generator.State, character int) {
	b := &s.bodies[character]
	st.Int(&b.seen)
	if b.seen < 0 {
		st.Fail(fmt.Errorf("the state has %d frames of a styled character", b.seen))
	}
	if b.seen <= 0 {
		if st.Reading() {
			s.Reset(character)
		}
		return
	}
	generator.Values(st, b.places)
	generator.Values(st, b.x)
	generator.Values(st, b.yp)
	generator.Value(st, &b.at)
	generator.Values(st, b.q)
	generator.Values(st, b.known)
	generator.Values(st, b.legs)
	generator.Value(st, &b.legsCache)
	generator.Values(st, b.blend)
	generator.Value(st, &b.stand)
	generator.Values(st, s.Row(character))
	generator.Value(st, &s.steps[character])
	generator.Value(st, &s.stands[character])
}

// Step translates the next frame of a character's motion: local transforms of the database's
// skeleton at its frame rate, the root's in world space. It returns the row of the output, valid
// until the next call, and how many frames pass in the output from the last row to this one. A
// frame with values that are not finite counts as the one before.
func (s *StyleTranslator) Step(character int, pos []m3.Vec3, rot []m3.Quat) (row []float32, step float32) {
	s.one[0] = int32(character)
	s.translate(s.workspaces[0], s.one[:], pos, rot, 0)
	return s.Row(character), s.steps[character]
}

// Run translates the next frame of some characters, each named once, on all workers. The poses are
// those of all characters, (characters, joints), as Step takes them. Row, Frames and Stands return
// the results.
func (s *StyleTranslator) Run(characters []int32, pos []m3.Vec3, rot []m3.Quat) {
	if s.pool == nil {
		return
	}
	s.characters, s.pos, s.rot = characters, pos, rot
	s.pool.Run((len(characters)+groupSize-1)/groupSize, s.work)
	s.characters, s.pos, s.rot = nil, nil, nil
}

// Unstyled reports whether a character has no style and is not on its way from one: the input
// passes through.
func (s *StyleTranslator) Unstyled(character int) bool {
	b := &s.bodies[character]
	return b.seen == 0 || !slices.ContainsFunc(b.blend, func(x float32) bool { return x != 0 })
}

// Move gives the place of character from, with its whole memory, to character to, whose memory is
// lost.
func (s *StyleTranslator) Move(to, from int) {
	if to == from {
		return
	}
	n := len(s.db.Styles)
	s.bodies[to], s.bodies[from] = s.bodies[from], s.bodies[to]
	copy(s.Weights[to*n:][:n], s.Weights[from*n:][:n])
	copy(s.Row(to), s.Row(from))
	s.Labels[to], s.steps[to], s.stands[to] = s.Labels[from], s.steps[from], s.stands[from]
	s.Reset(from)
}

// Frames returns how many frames pass in a character's output from the row before the last to the
// last.
func (s *StyleTranslator) Frames(character int) float32 { return s.steps[character] }

// Row returns the output of a character's last frame, with the columns of [Database.Columns], valid
// until the next frame.
func (s *StyleTranslator) Row(character int) []float32 { return s.rows[character*s.cols:][:s.cols] }

// Stands returns the feet that have contact in a character's last frame: bit 0 the left, bit 1 the
// right.
func (s *StyleTranslator) Stands(character int) uint8 { return s.stands[character] }

// Neighbour is a window of the database that is near to a character's.
type Neighbour struct {
	Frame    int     // its last
	Distance float32 // of eq. 1, its root over the mean of the joints' weights: m
}

// Nearest appends the windows of a class that are nearest to the character's last window to dst,
// nearest first, at most Options.Neighbours. Without such a class it returns dst.
func (s *StyleTranslator) Nearest(dst []Neighbour, character, action, style int) []Neighbour {
	if s.db == nil {
		return dst
	}
	c := s.db.class[action*len(s.db.Styles)+style]
	if c < 0 || s.bodies[character].seen == 0 {
		return dst
	}
	to, known := s.workspaces[0].search, unknown
	copy(to.q, s.bodies[character].q)
	s.db.poses.metric.turned(to.turned, to.q)
	s.db.poses.nearest(to, int(c), s.opt.Neighbours, inf, &known)
	for _, n := range to.best {
		dst = append(dst, Neighbour{int(n.window), n.d})
	}
	return dst
}

// firstPasses is how often the first frame is translated from its own output, so that it begins in
// the style rather than on the way to it.
const firstPasses = 8

// minClassWeight is the weight below which a class is left out, relative to the greatest. Such a
// class would move a joint by a thousandth of a radian at most.
const minClassWeight = 1e-2

// translate translates the next frame of at most groupSize characters. Their poses are stride
// joints apart in pos and rot.
func (s *StyleTranslator) translate(r *workspace, characters []int32, pos []m3.Vec3, rot []m3.Quat, stride int) {
	n := 0
	for _, c := range characters {
		at := int(c) * stride
		slot := &r.slots[n]
		slot.character = c
		if s.accept(r, slot, pos[at:at+s.joints], rot[at:at+s.joints]) {
			n++
		}
	}
	slots := r.slots[:n]
	s.restyle(r, slots)
	for i := range slots {
		c := int(slots[i].character)
		b := &s.bodies[c]
		for k := 0; b.seen == 1 && k < firstPasses; k++ { // without an output before
			copy(b.yp, s.Row(c))
			s.restyle(r, slots[i:i+1])
		}
	}
	for _, c := range characters {
		copy(s.bodies[c].yp, s.Row(int(c)))
	}
}

// easeWeights moves b's style weights a frame toward the weights wanted. It writes them to weights,
// with a sum of at most 1, and reports whether any is above 0.
func (s *StyleTranslator) easeWeights(b *body, weights, want []float32) (any bool) {
	n := len(want)
	total := float32(0)
	for i, w := range want {
		if !(w > 0) { // also NaN
			w = 0
		}
		w = min(w, 1)
		x, v := &b.blend[i], &b.blend[n+i]
		if b.seen == 1 || s.opt.Switch < 0 {
			*x, *v = w, 0
		} else {
			*x, *v = m3.Spring(*x, *v, w, s.opt.Switch, 1/s.db.FPS)
			if m3.Abs(*x-w) < 1e-4 && m3.Abs(*v) < 1e-3 {
				*x, *v = w, 0
			}
			*x = max(*x, 0)
		}
		weights[i] = *x
		total += *x
	}
	if total > 1 {
		for i := range weights {
			weights[i] /= total
		}
	}
	return total > 0
}

// detectContacts returns the feet that have contact: those of the windows whose legs are nearest,
// weighted by inverse distance (Xia et al. 2015, sec. 6). Likelihoods are smoothed over the window
// by half a Gaussian.
func (s *StyleTranslator) detectContacts(r *workspace, b *body) uint8 {
	db := s.db
	last := b.seen - 1
	db.feet.nearest(r.feet, 0, s.opt.Neighbours, inf, &b.legsCache)
	var on [2]float32
	var total float32
	for _, n := range r.feet.best {
		w := 1 / (n.d + 1e-3)
		total += w
		for foot := range on {
			on[foot] += w * float32(db.stands[n.window]>>foot&1)
		}
	}
	for foot := range on {
		on[foot] /= total
		if last == 0 {
			for i := range b.stand {
				b.stand[i][foot] = on[foot]
			}
		}
		b.stand[last%Window][foot] = on[foot]
	}
	var stands uint8
	for foot := range on {
		var p, sum float32
		for ago, w := range smoothing {
			p += w * b.stand[(last+Window-ago)%Window][foot]
			sum += w
		}
		if p > sum/2 {
			stands |= 1 << foot
		}
	}
	return stands
}

// smoothing is a Gaussian with a standard deviation of 1.5 frames, from the present back.
var smoothing = [...]float32{1, 0.801, 0.411, 0.135}

// maxCoordinate bounds the distance of a character from the origin, m. There float32 is exact to
// half a millimetre.
const maxCoordinate = 4096

// usable reports whether a frame can be translated.
func usable(pos []m3.Vec3, rot []m3.Quat) bool {
	for j := range pos {
		if !pos[j].Finite() || !rot[j].Finite() {
			return false
		}
	}
	return max(m3.Abs(pos[0].X), m3.Abs(pos[0].Y), m3.Abs(pos[0].Z)) < maxCoordinate
}

// accept takes the next frame of the slot's character and reports whether it is to be translated.
// Until it is, the frame itself is the output.
func (s *StyleTranslator) accept(r *workspace, slot *slot, pos []m3.Vec3, rot []m3.Quat) bool {
	c, n := int(slot.character), len(s.db.Styles)
	b := &s.bodies[c]
	s.steps[c] = 1
	if !usable(pos, rot) {
		if b.seen == 0 {
			clear(s.Row(c))
		}
		return false
	}
	s.observe(r, b, pos, rot)
	copy(s.Row(c), b.x)
	s.stands[c] = s.detectContacts(r, b)
	s.db.poses.metric.turned(slot.turned, b.q)
	return s.easeWeights(b, slot.weights, s.Weights[c*n:(c+1)*n])
}

// observe updates b's rows, places, coordinates and distance bounds.
func (s *StyleTranslator) observe(r *workspace, b *body, pos []m3.Vec3, rot []m3.Quat) {
	db := s.db
	if b.seen == 0 {
		b.at, b.legsCache = placeOf(pos[0], rot[0], 0), unknown
		for i := range b.known {
			b.known[i] = unknown
		}
	}
	b.x, b.xp = b.xp, b.x
	var before []float32
	if b.seen > 0 {
		before = b.xp
	}
	b.at = db.layout.encode(b.x, pos, rot, b.at, db.FPS, before)
	if b.seen == 0 {
		copy(b.xp, b.x)
		copy(b.yp, b.x)
	}
	db.layout.skel.LocalToModel(r.model, pos, rot)
	for i := range Window {
		if i == b.seen%Window || b.seen == 0 {
			for j := range s.joints {
				b.places[i*s.joints+j] = r.model[j].Pos
			}
		}
	}
	moved := s.query(r, b, db.poses.metric, r.search, b.q)
	for i := range b.known {
		b.known[i].move(moved)
	}
	b.legsCache.move(s.query(r, b, db.feet.metric, r.feet, b.legs))
	b.seen++
}

// query sets up a search for b's window. It replaces the coordinates q of the window before and
// returns the distance between the two.
func (s *StyleTranslator) query(r *workspace, b *body, m *metric, to *search, q []float32) float32 {
	plane, height := r.plane[:2*m.n()], r.height[:m.n()]
	m.cloud(plane, height, func(i int) []m3.Vec3 {
		return b.places[(b.seen+1+i)%Window*s.joints:][:s.joints]
	})
	m.coordinates(to.q, plane, height)
	m.turned(to.turned, to.q)
	moved := m.distance(to.q, to.turned, q) + slack
	copy(q, to.q)
	return moved
}

// cutoff returns the greatest D of a class, relative to the least, that is not negligible.
func (s *StyleTranslator) cutoff() float32 {
	return float32(1 - float64(s.opt.Width)*math.Log(minClassWeight))
}

// restyle writes the output of the slots' characters. Each character's nearest class of the last
// frame goes first, because it rules out distant classes.
func (s *StyleTranslator) restyle(r *workspace, slots []slot) {
	for i := range slots {
		slot := &slots[i]
		b := &s.bodies[slot.character]
		slot.least, slot.found, slot.best = inf, slot.found[:0], -1
		low := inf
		for c, p := range s.db.classes {
			if l := b.known[c].low; l < low && s.Labels[slot.character].Allows(int(p.action), int(p.style)) {
				low, slot.best = l, int32(c)
			}
		}
		if slot.best >= 0 {
			s.predict(r, slot, slot.best)
		}
	}
	for c, p := range s.db.classes {
		for i := range slots {
			if slot := &slots[i]; slot.best != int32(c) && s.Labels[slot.character].Allows(int(p.action), int(p.style)) {
				s.predict(r, slot, int32(c))
			}
		}
	}
	for i := range slots {
		s.blend(&slots[i])
	}
}

// predict adds the prediction of a class, if it is near enough to count.
func (s *StyleTranslator) predict(r *workspace, slot *slot, class int32) {
	db, b := s.db, &s.bodies[slot.character]
	most := slot.least * s.cutoff()
	limit := m3.Sqrt(most)
	if b.known[class].low >= limit {
		return
	}
	copy(r.search.q, b.q)
	copy(r.search.turned, slot.turned)
	db.poses.nearest(r.search, int(class), s.opt.Neighbours, limit, &b.known[class])
	best := r.search.best
	if len(best) == 0 {
		return
	}
	var d float32
	for _, v := range best {
		d += v.d * v.d
	}
	d /= float32(len(best))
	if d > most {
		return
	}
	if r.reg.gather(db, best, slot.weights); r.reg.n == 0 {
		return
	}
	slot.least = min(slot.least, d)
	share := float32(len(best)) / float32(db.poses.classes[class].windows)
	r.reg.predict(db, b.x, b.xp, b.yp, share, &s.opt)
	f := found{class: class, d: d, pred: int32(len(slot.found)), step: r.reg.timing(db, b.x, b.xp, b.yp, slot.weights)}
	copy(slot.preds[len(slot.found)*s.cols:][:s.cols], r.reg.out)
	slot.found = append(slot.found, f)
}

// blend blends the predictions of the classes by eq. 4 and 5.
func (s *StyleTranslator) blend(slot *slot) {
	if len(slot.found) == 0 {
		return
	}
	// In the order of classes, because sums depend on the order.
	slices.SortFunc(slot.found, func(a, b found) int { return cmp.Compare(a.class, b.class) })
	var total, step float32
	for i, f := range slot.found {
		w := float32(0)
		if f.d <= slot.least*s.cutoff() {
			w = float32(m3.Exp64(-float64((f.d/max(slot.least, 1e-12) - 1) / s.opt.Width)))
		}
		slot.found[i].d = w
		total += w
	}
	row := s.Row(int(slot.character))
	clear(row)
	for _, f := range slot.found {
		vec.Axpy(row, f.d/total, slot.preds[int(f.pred)*s.cols:][:s.cols])
		step += f.d / total * f.step
	}
	s.steps[slot.character] = m3.Clamp(step, 1/float32(maxStep), maxStep)
}

package mar

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// StylistOptions say what a stylist is for.
type StylistOptions struct {
	Options
	Characters int // most at a time, at least 1
	Workers    int // goroutines of Run; 0 means one per processor. The result does not depend on it
}

// Label says what is known of the motion that comes in: bits of actions and styles
// in the order of the database. None set means nothing is known.
type Label struct {
	Actions [MaxActions / 64]uint64
	Styles  uint64
}

// InStyle returns what is known of motion that is in the style of that name: nothing where
// the database, which may be nil, has none of it.
func (db *Database) InStyle(name string) (l Label) {
	if db != nil {
		if i := slices.Index(db.Styles, name); i >= 0 {
			l.Styles = 1 << i
		}
	}
	return l
}

// Allows reports whether what comes in may be of an action in a style, given by
// their indices.
func (l *Label) Allows(action, style int) bool {
	return l.allows(pair{int32(action), int32(style)})
}

func (l *Label) allows(p pair) bool {
	if l.Styles != 0 && l.Styles>>p.style&1 == 0 {
		return false
	}
	return l.Actions == [len(l.Actions)]uint64{} || l.Actions[p.action/64]>>(p.action%64)&1 == 1
}

// Stylist translates the motion of characters into styles, frame by frame (Xia et
// al. 2015). Of every frame it looks for the nearest windows of poses in each class
// of the database, fits a regression from their poses to those of the same moments
// in the wanted styles, and blends what the classes say by how near they are.
//
// It belongs to one goroutine.
type Stylist struct {
	// Weights are those of the styles in the output, (characters, styles), each 0 to 1.
	// What their sum lacks to 1 is the input's own style; a sum above 1 is taken for 1.
	Weights []float32
	Labels  []Label // (characters) what is known of the input

	db     *Database
	opt    Options
	bodies []body
	rooms  []*room
	pool   *netruntime.Pool
	cols   int
	joints int
	rows   []float32 // (characters, columns) the output
	steps  []float32 // (characters)
	stands []uint8   // (characters)
	one    [1]int32  // of Step
	who    []int32   // of Run
	pos    []m3.Vec3 // the same
	rot    []m3.Quat
	work   func(worker, i int)
}

// body is what is remembered of a character.
type body struct {
	seen   int
	places []m3.Vec3          // (Window, joints) of the last frames, frame i in i mod Window
	x, xp  []float32          // rows of the input
	yp     []float32          // the output before
	at     place              // of the input
	q      []float32          // coordinates of the last window
	known  []around           // (classes) of the distances from it
	legs   []float32          // coordinates of the last window of legs
	afoot  around             // of the distances from it
	blend  []float32          // (2, styles) weights on their way to those asked for, and their speeds, 1/s
	stand  [Window][2]float32 // likelihoods of the last frames that the feet stand, as places
}

// room is what a worker needs.
type room struct {
	search, feet  *search
	reg           *regression
	plane, height []float32 // of either metric
	model         []m3.Xform
	seats         []seat
}

// together is how many characters a worker translates at a time: class by class, so
// that what it has read of a class for one serves the next.
const together = 5

// seat is what a worker holds of a character while it translates its frame.
type seat struct {
	character int32
	best      int32     // the class that is looked at first
	weights   []float32 // (styles) their sum at most 1
	turned    []float32 // its window's coordinates, turned by a quarter
	least     float32   // D of the nearest class
	found     []found
	preds     []float32 // (classes, columns)
}

type found struct {
	class int32
	d     float32 // D of eq. 4
	step  float32
	pred  int32
}

// NewStylist returns one of so many characters.
func (db *Database) NewStylist(o StylistOptions) (*Stylist, error) {
	if o.Characters < 1 {
		return nil, fmt.Errorf("mar: a stylist of %d characters: want at least 1", o.Characters)
	}
	if o.Neighbours < 0 || o.Ridge < 0 || o.Width < 0 || o.Confidence < 0 {
		return nil, fmt.Errorf("mar: %d neighbours, ridge %g, width %g, confidence %g: want none below 0", o.Neighbours, o.Ridge, o.Width, o.Confidence)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stylist{db: db, opt: o.Options.withDefaults(), cols: db.layout.columns(), joints: db.layout.skel.Len()}
	n := o.Characters
	s.Weights, s.Labels = make([]float32, n*len(db.Styles)), make([]Label, n)
	s.bodies = make([]body, n)
	s.rows, s.steps, s.stands = make([]float32, n*s.cols), make([]float32, n), make([]uint8, n)
	for i := range s.bodies {
		s.bodies[i] = body{places: make([]m3.Vec3, Window*s.joints), x: make([]float32, s.cols), xp: make([]float32, s.cols),
			yp: make([]float32, s.cols), q: make([]float32, db.poses.cols), known: make([]around, len(db.classes)), legs: make([]float32, db.feet.cols),
			blend: make([]float32, 2*len(db.Styles))}
	}
	s.work = func(worker, i int) {
		s.translate(s.rooms[worker], s.who[i*together:min((i+1)*together, len(s.who))], s.pos, s.rot, s.joints)
	}
	s.pool = netruntime.NewPool(min(o.Workers, n))
	for range s.pool.Workers() {
		r := &room{search: db.poses.newSearch(s.opt.Neighbours), feet: db.feet.newSearch(s.opt.Neighbours), reg: newRegression(s.opt.Neighbours, s.cols),
			plane: make([]float32, 2*db.poses.metric.n()), height: make([]float32, db.poses.metric.n()), model: make([]m3.Xform, s.joints),
			seats: make([]seat, together)}
		for i := range r.seats {
			r.seats[i] = seat{weights: make([]float32, len(db.Styles)), turned: make([]float32, db.poses.cols),
				found: make([]found, 0, len(db.classes)), preds: make([]float32, len(db.classes)*s.cols)}
		}
		s.rooms = append(s.rooms, r)
	}
	return s, nil
}

// Close ends the workers.
func (s *Stylist) Close() error {
	s.pool.Close()
	return nil
}

// Reset forgets the motion of a character: the next frame is the first.
func (s *Stylist) Reset(character int) {
	b := &s.bodies[character]
	b.seen = 0
	clear(b.blend)
}

// Step takes the next frame of a character's motion: local transforms of the
// database's skeleton at its rate, the root's in the world. It returns the row of
// the output, which is the stylist's until the next call, and how many frames pass in
// the output from the last one to it. A frame with values that are not finite is
// taken for the one before.
func (s *Stylist) Step(character int, pos []m3.Vec3, rot []m3.Quat) (row []float32, step float32) {
	s.one[0] = int32(character)
	s.translate(s.rooms[0], s.one[:], pos, rot, 0)
	return s.Row(character), s.steps[character]
}

// Run takes the next frame of some characters, each named once, on all workers: poses
// as Step takes them, (characters, joints) for all there are. Row, Frames and Stands
// have what comes out.
func (s *Stylist) Run(characters []int32, pos []m3.Vec3, rot []m3.Quat) {
	s.who, s.pos, s.rot = characters, pos, rot
	s.pool.Run((len(characters)+together-1)/together, s.work)
	s.who, s.pos, s.rot = nil, nil, nil
}

// Still reports whether a character has no style, and is not on its way from one: what
// goes in comes out.
func (s *Stylist) Still(character int) bool {
	b := &s.bodies[character]
	if b.seen == 0 {
		return true
	}
	for _, x := range b.blend {
		if x != 0 {
			return false
		}
	}
	return true
}

// Move gives the place of one character to another, with all that is known of it,
// and forgets the one that was there.
func (s *Stylist) Move(to, from int) {
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

// Frames returns how many frames pass in the output of a character from the frame
// before the last to the last.
func (s *Stylist) Frames(character int) float32 { return s.steps[character] }

// Row returns the output of a character's last frame, columns as Columns says: the
// stylist's, until the next.
func (s *Stylist) Row(character int) []float32 { return s.rows[character*s.cols:][:s.cols] }

// Stands returns the feet that stand in a character's last frame: bit 0 the left, bit
// 1 the right.
func (s *Stylist) Stands(character int) uint8 { return s.stands[character] }

// Neighbour is a window of the database that is near to a character's.
type Neighbour struct {
	Frame    int     // its last
	Distance float32 // of eq. 1, its root over the mean of the joints' weights: m
}

// Nearest appends to dst the windows of a class that are nearest to the character's
// last, nearest first, at most Options.Neighbours. It returns dst where there is no
// such class.
func (s *Stylist) Nearest(dst []Neighbour, character, action, style int) []Neighbour {
	c := s.db.class[action*len(s.db.Styles)+style]
	if c < 0 || s.bodies[character].seen == 0 {
		return dst
	}
	to, known := s.rooms[0].search, nothing
	copy(to.q, s.bodies[character].q)
	s.db.poses.metric.turned(to.turned, to.q)
	s.db.poses.nearest(to, int(c), s.opt.Neighbours, inf, &known)
	for _, n := range to.best {
		dst = append(dst, Neighbour{int(n.window), n.d})
	}
	return dst
}

// settling is how often the first frame is translated anew, from its own output: it
// begins in the style, not on the way to it.
const settling = 8

// negligible is the weight below which a class is left out, of the greatest: it
// would move a joint by a thousandth of a radian at most.
const negligible = 1e-2

// translate takes the next frame of some characters, at most together of them, whose
// poses are stride joints apart for each that there is.
func (s *Stylist) translate(r *room, characters []int32, pos []m3.Vec3, rot []m3.Quat, stride int) {
	n := 0
	for _, c := range characters {
		at := int(c) * stride
		seat := &r.seats[n]
		seat.character = c
		if s.enter(r, seat, pos[at:at+s.joints], rot[at:at+s.joints]) {
			n++
		}
	}
	seats := r.seats[:n]
	s.restyle(r, seats)
	for i := range seats {
		c := int(seats[i].character)
		b := &s.bodies[c]
		for k := 0; b.seen == 1 && k < settling; k++ { // there was no output before
			copy(b.yp, s.Row(c))
			s.restyle(r, seats[i:i+1])
		}
	}
	for _, c := range characters {
		copy(s.bodies[c].yp, s.Row(int(c)))
	}
}

// switching takes b's blend of styles a frame on its way to the weights wanted,
// writes it to weights, its sum at most 1, and returns whether there is any style in
// it.
func (s *Stylist) switching(b *body, weights, want []float32) (any bool) {
	n := len(want)
	total := float32(0)
	for i, w := range want {
		if !(w > 0) { // or not a number
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

// standing returns the feet that stand: what the windows in which legs are nearest
// say, each by the inverse of its distance (Xia et al. 2015, sec. 6). Likelihoods
// are smoothed over the window with a Gaussian's half.
func (s *Stylist) standing(r *room, b *body) uint8 {
	db := s.db
	last := b.seen - 1
	db.feet.nearest(r.feet, 0, s.opt.Neighbours, inf, &b.afoot)
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

// smoothing is a Gaussian of a standard deviation of 1.5 frames, from the present
// back.
var smoothing = [...]float32{1, 0.801, 0.411, 0.135}

// farthest is how far from the origin a character may be, m: float32 has half a
// millimetre there.
const farthest = 4096

// sound reports whether a frame can be taken in.
func sound(pos []m3.Vec3, rot []m3.Quat) bool {
	for j := range pos {
		if !pos[j].Finite() || !rot[j].Finite() {
			return false
		}
	}
	return max(m3.Abs(pos[0].X), m3.Abs(pos[0].Y), m3.Abs(pos[0].Z)) < farthest
}

// enter takes the next frame of the seat's character in and reports whether it is to
// be translated; until it is, the frame itself comes out.
func (s *Stylist) enter(r *room, seat *seat, pos []m3.Vec3, rot []m3.Quat) bool {
	c, n := int(seat.character), len(s.db.Styles)
	b := &s.bodies[c]
	s.steps[c] = 1
	if !sound(pos, rot) {
		if b.seen == 0 {
			clear(s.Row(c))
		}
		return false
	}
	s.take(r, b, pos, rot)
	copy(s.Row(c), b.x)
	s.stands[c] = s.standing(r, b)
	s.db.poses.metric.turned(seat.turned, b.q)
	return s.switching(b, seat.weights, s.Weights[c*n:(c+1)*n])
}

// take takes a frame in: b's rows, places, coordinates and bounds.
func (s *Stylist) take(r *room, b *body, pos []m3.Vec3, rot []m3.Quat) {
	db := s.db
	if b.seen == 0 {
		b.at, b.afoot = placeOf(pos[0], rot[0], 0), nothing
		for i := range b.known {
			b.known[i] = nothing
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
	moved := s.look(r, b, db.poses.metric, r.search, b.q)
	for i := range b.known {
		b.known[i].move(moved)
	}
	b.afoot.move(s.look(r, b, db.feet.metric, r.feet, b.legs))
	b.seen++
}

// look sets up a search for b's window and returns how far it is from the one
// before, whose coordinates are in q and which it replaces.
func (s *Stylist) look(r *room, b *body, m *metric, to *search, q []float32) float32 {
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

// far is how many times the least D a class may have: λ of one beyond is negligible.
func (s *Stylist) far() float32 { return float32(1 - float64(s.opt.Width)*math.Log(negligible)) }

// restyle writes the output of the seats' characters. Of each the class that was the
// nearest goes first: it tells who is too far to count.
func (s *Stylist) restyle(r *room, seats []seat) {
	for i := range seats {
		seat := &seats[i]
		b := &s.bodies[seat.character]
		seat.least, seat.found, seat.best = inf, seat.found[:0], -1
		low := inf
		for c, p := range s.db.classes {
			if l := b.known[c].low; l < low && s.Labels[seat.character].allows(p) {
				low, seat.best = l, int32(c)
			}
		}
		if seat.best >= 0 {
			s.vote(r, seat, seat.best)
		}
	}
	for c, p := range s.db.classes {
		for i := range seats {
			if seat := &seats[i]; seat.best != int32(c) && s.Labels[seat.character].allows(p) {
				s.vote(r, seat, int32(c))
			}
		}
	}
	for i := range seats {
		s.count(&seats[i])
	}
}

// vote lets a class say what comes out, if it is near enough to count.
func (s *Stylist) vote(r *room, seat *seat, class int32) {
	db, b := s.db, &s.bodies[seat.character]
	most := seat.least * s.far()
	limit := m3.Sqrt(most)
	if b.known[class].low >= limit {
		return
	}
	copy(r.search.q, b.q)
	copy(r.search.turned, seat.turned)
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
	if r.reg.gather(db, best, seat.weights); r.reg.n == 0 {
		return
	}
	seat.least = min(seat.least, d)
	r.reg.predict(db, b.x, b.xp, b.yp, db.poses.share(int(class), len(best)), &s.opt)
	f := found{class: class, d: d, pred: int32(len(seat.found)), step: r.reg.timing(db, b.x, b.xp, b.yp, seat.weights)}
	copy(seat.preds[len(seat.found)*s.cols:][:s.cols], r.reg.out)
	seat.found = append(seat.found, f)
}

// count blends what the classes have said by eq. 4 and 5.
func (s *Stylist) count(seat *seat) {
	if len(seat.found) == 0 {
		return
	}
	// In the order of classes, so that sums do not depend on which went first.
	slices.SortFunc(seat.found, func(a, b found) int { return cmp.Compare(a.class, b.class) })
	var total, step float32
	for i, f := range seat.found {
		w := float32(0)
		if f.d <= seat.least*s.far() {
			w = float32(math.Exp(-float64((f.d/max(seat.least, 1e-12) - 1) / s.opt.Width)))
		}
		seat.found[i].d = w
		total += w
	}
	row := s.Row(int(seat.character))
	clear(row)
	for _, f := range seat.found {
		vec.Axpy(row, f.d/total, seat.preds[int(f.pred)*s.cols:][:s.cols])
		step += f.d / total * f.step
	}
	s.steps[seat.character] = m3.Clamp(step, 1/float32(maxStep), maxStep)
}

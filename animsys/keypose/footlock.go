package keypose

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
)

// FootLock keeps standing feet in place on level ground, and feet above it. It lowers the body where
// all standing feet float, bends the legs, and lowers the hips where a leg would else be too short;
// the rest of the body keeps its pose. How each foot moves over the ground solves a least-squares
// problem over all frames: in contact it must not slide, it should move little and smoothly, and it
// does not move where its leg is keyed. Heights and the angles of knees follow likewise. A FootLock
// belongs to one goroutine.
type FootLock struct {
	// Loose is for motion that stands on the ground already, after keys: hips stay, toes that stand stay in place, and
	// toes that move fast clear the ground on which they stand in the frames without keys.
	Loose bool

	layout   *Layout
	rig      *ik.Rig
	model    []m3.Xform
	clip     *skel.Clip // the motion, and then with bent legs
	replacer replacer
	feet     [Feet]lockedFoot
	sorted   []float32 // heights, m
	float    []float32 // (frames) height of the lowest standing foot over the ground, m
	need     []float32 // (frames) least value of a cover, m
	short    []bool    // (frames) in which the cover is lower
	drop     band      // how far the hips are lowered
}

// lockedFoot is a foot in the motion, and how it moves. Slices are by frames.
type lockedFoot struct {
	joints    []int     // hip, knee, ankle and toes
	hip       []m3.Vec3 // positions
	heel, toe []m3.Vec3
	low       []float32      // height of the lowest point of the toes, m
	floor     [parts]float32 // heights at which its parts stand, m
	inKeys    bool           // keys show them
	loose     bool           // see FootLock.Loose
	slip      []m3.Vec3      // movement of the sole over the ground since the frame before, m
	slides    []float32      // the same after the move, as a share of cauchySpeed
	moves     band           // over the ground
	lift      band           // upward
	bends     []float64      // angle of the knee, radians; 0 is straight
	changes   []float64      // of bends, as the moved foot wants them
	eased     band           // what makes changes smooth
}

// Weights of the least squares; sliding of a standing foot weighs 1.
const (
	smoothWeight = 0.02 // change of the move
	swingDecay   = 0.1  // s, after which a swinging foot has lost its offset
	swingEase    = 0.03 // s, of the ease in and out of that
	contactSpeed = 0.1  // m/s, below which heel and toe both count as standing

	// A foot that is marked as standing but steps must step, not slide all the time. So the
	// squares are reweighted by their own size (Cauchy's weights).
	cauchySpeed = 0.5 // m/s at which sliding counts half
	rounds      = 4
)

// Heights.
const (
	dropTime   = 0.06  // s, of the spline of the hips' height
	liftTime   = 0.03  // s, of a foot's
	coverStay  = 0.01  // weight of the height itself
	coverTimes = 5     // rounds in which the frames that fall short are found
	maxDrop    = 0.1   // m
	freeFloat  = 0.003 // m, to which standing feet may float
	freeSink   = 0.005 // m, to which they may sink before the body rises

	// Of recorded feet that go at fastSwing a tenth are lower than clearance, m, over the ground.
	clearance            = 0.031
	slowSwing, fastSwing = 0.2, 2 // m/s

	// Contacts between distant keys are uncertain. In a walk one foot is always on the ground, but the network may
	// find that neither is likely to be. If the sum of both probabilities is above eitherStands, the likelier foot stands.
	eitherStands = 0.35

	// The hips sink for a standing leg that would stretch beyond its pose and the share freeReach of
	// its length, which people exceed in 5 % of their steps, and for one beyond straightReach, a
	// knee of 6°: there it swings to and fro as the foot moves by millimetres.
	freeReach     = 0.992
	straightReach = 0.9985

	// A foot that is led further ahead as it comes down would stretch its leg within two frames and
	// keep it straight. So a knee's angle follows a spline. An almost straight leg is
	// hardly shorter by that.
	kneeTime  = 0.019             // s, of the spline
	leastBend = 5 * math.Pi / 180 // to which the lock stretches a knee
)

// NewFootLock returns a foot lock for tracks of the layout. It fails if the skeleton lacks joints
// of [ik.HumanRoles].
func (l *Layout) NewFootLock() (*FootLock, error) {
	if l.Skel == nil {
		return nil, errZeroLayout
	}
	rig, err := ik.NewHumanRig(l.Skel.Names, l.Skel.Parents)
	if err != nil {
		return nil, fmt.Errorf("keypose: %w", err)
	}
	h := &FootLock{layout: l, rig: rig, model: make([]m3.Xform, l.Skel.Len())}
	for i, leg := range rig.Roles.Legs {
		h.feet[i].joints = leg[len(leg)-4:]
	}
	return h, nil
}

// Apply locks the feet of a track that Inbetweener.Fill has filled, in place. stand, (Frames,
// Feet), is Fill's.
func (h *FootLock) Apply(t *Track, stand []float32) error {
	if h.layout == nil {
		return errZeroLayout
	}
	if t.Layout.Skel.Len() != h.layout.Skel.Len() {
		return fmt.Errorf("keypose: a track of %d joints, want %d", t.Layout.Skel.Len(), h.layout.Skel.Len())
	}
	if len(stand) != t.Frames*Feet {
		return fmt.Errorf("keypose: %d contact values for %d frames, want %d", len(stand), t.Frames, t.Frames*Feet)
	}
	h.apply(t, stand)
	return nil
}

// apply is Apply without checks.
func (h *FootLock) apply(t *Track, stand []float32) {
	if h.clip == nil || h.clip.Frames != t.Frames {
		h.clip = skel.NewClip(h.layout.Skel, float64(t.FPS), t.Frames)
	}
	clip := h.clip
	clip.FPS = float64(t.FPS)
	for i := range h.feet {
		h.feet[i].resize(t.Frames)
	}
	for f := range t.Frames {
		pos, rot := clip.Frame(f)
		t.Pose(f, pos, rot)
		clip.Model(h.model, f)
		for i := range h.feet {
			h.feet[i].see(f, h.model)
		}
	}
	h.need, h.short = grow(h.need, t.Frames), grow(h.short, t.Frames)
	for i := range h.feet {
		h.feet[i].loose = h.Loose
	}
	h.findFloor(t, stand)
	if !h.Loose {
		h.settle(t, stand)
	}
	for i := range h.feet {
		foot := &h.feet[i]
		foot.solve(t, stand[i:])
		for f := range t.Frames {
			h.need[f] = foot.sunk(f, t.FPS)
		}
		h.cover(&foot.lift, t, liftTime, foot.keyed(t))
	}
	if h.drop.reset(t.Frames, 1); !h.Loose {
		h.lower(t, stand)
	}
	for i := range h.feet {
		h.bend(t, &h.feet[i])
	}
	var memory [Feet]ik.Foot
	for f := range t.Frames {
		clip.Model(h.model, f)
		// The hips sink last: until then the feet rise.
		drop := float32(h.drop.x(f)[0])
		for i := range h.feet {
			foot := &h.feet[i]
			way := foot.goal(f).Add(m3.V(0, drop, 0)).Sub(foot.hip[f])
			far := h.stretch(foot, foot.bends[f])
			h.rig.Reach(h.model, i, foot.hip[f].Add(way.Normalize(m3.V(0, -1, 0)).Scale(far)), &memory[i])
		}
		pos, rot := clip.Frame(f)
		pos[0].Y -= drop
		for i := range h.feet {
			for _, j := range h.feet[i].joints[:3] {
				rot[j] = h.model[h.layout.Skel.Parents[j]].Rot.Conj().Mul(h.model[j].Rot).Normalize()
			}
		}
	}
	h.replacer.run(t, clip)
}

func (o *lockedFoot) resize(frames int) {
	for _, v := range []*[]m3.Vec3{&o.hip, &o.heel, &o.toe, &o.slip} {
		*v = grow(*v, frames)
	}
	o.low, o.slides = grow(o.low, frames), grow(o.slides, frames)
}

// see reads the foot's places in a frame.
func (o *lockedFoot) see(f int, model []m3.Xform) {
	toe := o.joints[3]
	o.hip[f], o.heel[f], o.toe[f] = model[o.joints[0]].Pos, model[o.joints[2]].Pos, model[toe].Pos
	o.low[f] = o.toe[f].Y
	if end := toe + 1; end < len(model) { // the toes' end follows them
		o.low[f] = min(o.low[f], model[end].Pos.Y)
	}
}

// goal returns the place of the heel in a frame, after all is solved.
func (o *lockedFoot) goal(f int) m3.Vec3 {
	return o.heel[f].Add(o.moves.ground(f)).Add(m3.V(0, float32(o.lift.x(f)[0]), 0))
}

// settle lowers the body, but no swinging feet, in frames in which all standing feet float higher than
// in the keys around, and raises it where they all sink: a straight leg that was bent for a foot that
// sinks would jerk.
func (h *FootLock) settle(t *Track, stand []float32) {
	h.shift(t, stand, 1, freeFloat)
	if h.feet[0].inKeys {
		h.shift(t, stand, -1, freeSink)
	}
}

// shift moves the body down, or up if down is −1, as far as all standing feet are higher or lower
// than their floor by more than free.
func (h *FootLock) shift(t *Track, stand []float32, down, free float32) {
	h.float = grow(h.float, t.Frames)
	for f := range h.float {
		h.float[f] = maxDrop
		if !carries(stand, f, 0) && !carries(stand, f, 1) {
			h.float[f] = 0
		}
	}
	for i := range h.feet {
		o := &h.feet[i]
		for f := range h.float {
			if carries(stand, f, i) {
				above := min(o.low[f]-o.floor[lowPart], o.heel[f].Y-o.floor[heelPart])
				h.float[f] = min(h.float[f], max(0, down*above-free))
			}
		}
	}
	for f := range h.need {
		g := f*t.Layout.Groups() + GroupRoot
		h.need[f] = h.float[f]
		if prev := t.Prev[g]; prev >= 0 {
			next := max(t.Next[g], prev)
			h.need[f] -= m3.Lerp(h.float[prev], h.float[next], t.Between[g])
		}
	}
	h.cover(&h.drop, t, dropTime, rootKeyed(t))
	for f := range t.Frames {
		by := m3.V(0, down*max(0, float32(h.drop.x(f)[0])), 0)
		pos, _ := h.clip.Frame(f)
		pos[0] = pos[0].Sub(by)
		for i := range h.feet {
			o := &h.feet[i]
			on := 2 * stand[f*Feet+i] // swinging feet keep their height
			if down < 0 {
				on-- // those that leave the ground, too
			}
			with := by.Scale(m3.Clamp(on, 0, 1))
			o.hip[f], o.heel[f], o.toe[f], o.low[f] = o.hip[f].Sub(by), o.heel[f].Sub(with), o.toe[f].Sub(with), o.low[f]-with.Y
		}
	}
}

// carries reports whether a foot carries the body in a frame: it stands, or it is the likelier of two that
// may stand.
func carries(stand []float32, f, i int) bool {
	a, b := stand[f*Feet+i], stand[f*Feet+1-i]
	return a > 0.5 || a >= b && a+b > eitherStands
}

// findFloor finds the heights at which parts of feet stand. Those of both feet in the keys hold for
// all frames, since a network's mean of possible poses may be lower. In a key a foot may stand on its
// heel or its toes alone, with the other part raised. So the floor is a low height of the part: an
// eighth of its heights are lower.
func (h *FootLock) findFloor(t *Track, stand []float32) {
	root := rootKeyed(t)
	for part := range parts {
		h.sorted = h.sorted[:0]
		for i := range h.feet {
			o := &h.feet[i]
			keyed := o.keyed(t)
			for f := range t.Frames {
				if !h.Loose && stand[f*Feet+i] > 0.5 && keyed(f) && root(f) {
					h.sorted = append(h.sorted, o.height(part, f))
				}
			}
		}
		inKeys := len(h.sorted) > 0
		slices.Sort(h.sorted)
		for i := range h.feet {
			o := &h.feet[i]
			keyed := o.keyed(t)
			if o.inKeys = inKeys; inKeys {
				o.floor[part] = h.sorted[len(h.sorted)/8]
				continue
			}
			h.sorted = h.sorted[:0]
			for f := range t.Frames {
				if stand[f*Feet+i] > 0.5 && !(h.Loose && keyed(f)) {
					h.sorted = append(h.sorted, o.height(part, f))
				}
			}
			if o.floor[part] = 0; len(h.sorted) > 0 {
				slices.Sort(h.sorted)
				o.floor[part] = h.sorted[len(h.sorted)/4]
			}
		}
	}
}

// Parts of a foot that stand.
const (
	heelPart = iota
	toePart
	lowPart // the lowest point of the toes
	parts
)

// height returns the height of a part of the foot in a frame.
func (o *lockedFoot) height(part, f int) float32 {
	switch part {
	case heelPart:
		return o.heel[f].Y
	case toePart:
		return o.toe[f].Y
	}
	return o.low[f]
}

// sunk returns how far the foot is too low in a frame after its move over the ground, m; it is negative
// above. A foot in motion has to clear the ground.
func (o *lockedFoot) sunk(f int, fps float32) float32 {
	if !o.inKeys && !o.loose {
		return -o.low[f]
	}
	to, from := min(f+1, len(o.toe)-1), max(f-1, 0)
	way := o.toe[to].Add(o.moves.ground(to)).Sub(o.toe[from].Add(o.moves.ground(from))).Flat().Len()
	clear := clearance * m3.SmoothStep(slowSwing, fastSwing, way*fps/float32(max(1, to-from)))
	by := max(o.floor[toePart]+clear-o.toe[f].Y, -o.low[f])
	if o.loose {
		return by
	}
	return max(by, o.floor[heelPart]-o.heel[f].Y)
}

// rootKeyed reports in which frames the height of the hips is keyed.
func rootKeyed(t *Track) func(f int) bool {
	return func(f int) bool { return t.Weight[f*t.Layout.Groups()+GroupRoot] == 1 }
}

// lower computes how far the hips sink for the legs of standing feet.
func (h *FootLock) lower(t *Track, stand []float32) {
	clear(h.need)
	for i := range h.feet {
		o := &h.feet[i]
		thigh, shin := h.bones(o)
		length := float32(thigh + shin)
		for f := range t.Frames {
			on := stand[f*Feet+i]
			if on <= 0.5 {
				continue
			}
			goal := o.goal(f)
			reach := m3.Clamp(o.hip[f].Dist(o.heel[f])/length, freeReach, straightReach) * length
			way := goal.Sub(o.hip[f]).Flat().Len()
			if high := reach*reach - way*way; high > 0 {
				h.need[f] = min(max(h.need[f], o.hip[f].Y-goal.Y-m3.Sqrt(high)), maxDrop)
			}
		}
	}
	h.cover(&h.drop, t, dropTime, rootKeyed(t))
}

// bend computes the angles of a foot's knee. They are smooth: keys in which a leg is straight, among
// frames in which it is bent, would be corners. Without a floor only their changes by the lock are.
func (h *FootLock) bend(t *Track, o *lockedFoot) {
	o.bends, o.changes = grow(o.bends, t.Frames), grow(o.changes, t.Frames)
	fixed, weight := o.keyed(t), math.Pow(float64(kneeTime*t.FPS), 4)
	o.eased.reset(t.Frames, 1)
	for f := range t.Frames {
		o.bends[f], o.changes[f] = h.angle(o, o.hip[f].Dist(o.heel[f])), 0
		if !fixed(f) {
			hip := o.hip[f].Sub(m3.V(0, float32(h.drop.x(f)[0]), 0))
			o.changes[f] = max(h.angle(o, hip.Dist(o.goal(f))), min(o.bends[f], leastBend)) - o.bends[f]
		}
		o.eased.place(f, 1)
		if f > 1 {
			b, c := o.bends[f-2:], o.changes[f-2:]
			turn := c[0] - 2*c[1] + c[2]
			if o.inKeys {
				turn += b[0] - 2*b[1] + b[2]
			}
			o.eased.turn(f-1, weight, []float64{turn})
		}
	}
	o.eased.fixAll(fixed)
	o.eased.solve()
	for f := range o.bends {
		o.bends[f] += o.changes[f] + o.eased.x(f)[0]
	}
}

// angle returns the angle of a foot's knee by the distance from hip to heel.
func (h *FootLock) angle(o *lockedFoot, far float32) float64 {
	a, b := h.bones(o)
	if a*b == 0 {
		return 0
	}
	d := float64(far)
	return math.Acos(max(-1, min((d*d-a*a-b*b)/(2*a*b), 1)))
}

// stretch returns the distance from hip to heel at an angle of the knee.
func (h *FootLock) stretch(o *lockedFoot, bend float64) float32 {
	a, b := h.bones(o)
	return float32(math.Sqrt(max(0, a*a+b*b+2*a*b*math.Cos(bend))))
}

// bones returns the lengths of thigh and shin.
func (h *FootLock) bones(o *lockedFoot) (thigh, shin float64) {
	at := h.layout.Skel.Offsets
	return float64(at[o.joints[1]].Len()), float64(at[o.joints[2]].Len())
}

// cover computes a smooth curve that is as small as possible and nowhere much less than h.need. It is
// 0 in fixed frames.
func (h *FootLock) cover(s *band, t *Track, time float32, fixed func(f int) bool) {
	bend := float64(time * t.FPS)
	bend *= bend
	bend *= bend * coverStay
	s.reset(t.Frames, 1)
	clear(h.short)
	for range coverTimes {
		same := true
		for f, was := range h.short {
			h.short[f] = float32(s.x(f)[0]) < h.need[f]
			same = same && h.short[f] == was
		}
		if same {
			return
		}
		s.reset(t.Frames, 1)
		for f := range t.Frames {
			s.place(f, coverStay)
			if h.short[f] {
				s.pull(f, 1, float64(h.need[f]))
			}
			if f > 1 {
				s.turn(f-1, bend, nil)
			}
		}
		s.fixAll(fixed)
		s.solve()
	}
}

// solve computes the moves over the ground.
func (o *lockedFoot) solve(t *Track, stand []float32) {
	m, dt := &o.moves, 1/t.FPS
	still := contactSpeed * contactSpeed * dt * dt
	for f := 1; f < t.Frames; f++ {
		heel, toe := o.heel[f].Sub(o.heel[f-1]), o.toe[f].Sub(o.toe[f-1])
		// A foot stands on what moves less: first its heel, then its toes.
		a, b := heel.Dot(heel)+still, toe.Dot(toe)+still
		o.slip[f], o.slides[f] = heel.Lerp(toe, a/(a+b)).Flat(), 0
		if o.loose {
			o.slip[f] = toe.Flat()
		}
	}
	stay, bend := float64(smoothWeight*(dt/swingDecay)*(dt/swingDecay)), float64(smoothWeight*(swingEase/dt)*(swingEase/dt))
	fixed := o.keyed(t)
	for range rounds {
		m.reset(t.Frames, 2)
		for f := range t.Frames {
			m.place(f, stay)
			if f > 0 {
				on := stand[f*Feet] * stand[(f-1)*Feet] / (1 + o.slides[f]*o.slides[f])
				m.step(f, float64(on), o.slip[f])
				m.step(f, smoothWeight, m3.Vec3{})
			}
			if f > 1 {
				m.turn(f-1, bend, nil)
			}
		}
		m.fixAll(fixed)
		m.solve()
		for f := 1; f < t.Frames; f++ {
			o.slides[f] = m.ground(f).Sub(m.ground(f-1)).Add(o.slip[f]).Len() / (cauchySpeed * dt)
		}
	}
}

// keyed reports in which frames one of the leg's joints is keyed.
func (o *lockedFoot) keyed(t *Track) func(f int) bool {
	l := t.Layout
	var groups [3]int
	for i, j := range o.joints[:3] {
		groups[i] = l.GroupOf(l.Skel.Names[j])
	}
	return func(f int) bool {
		for _, g := range groups {
			if t.Weight[f*l.Groups()+g] == 1 {
				return true
			}
		}
		return false
	}
}

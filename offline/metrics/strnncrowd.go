package metrics

import (
	"math"

	"github.com/mlange-42/arche/generic"

	"mannequin/animsys"
	"mannequin/animsys/generator"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
)

// STRNNCrowd is what people on predicted motion do for one request of a speed and a turn.
type STRNNCrowd struct {
	Speed  float64 `json:"speed_m_s"`
	Turn   float64 `json:"turn_rad_s"`
	Went   float64 `json:"went_m_s"`
	Turned float64 `json:"turned_rad_s"`
	Glide  float64 `json:"glide"`            // speed of contacts that stand in generated frames, as a share of the body's speed
	Slide  float64 `json:"slide_cm"`         // of standing toes as shown, per tick
	Stand  float64 `json:"stand"`            // share of the time with foot lock
	Border float64 `json:"border_jerk_m_s3"` // RMS jerk of joints seen from the body, as shown, in the ticks around new frames
	Within float64 `json:"within_jerk_m_s3"` // in the other ticks
	Lost   int     `json:"lost"`             // windows of all asks
}

// STRNNCrowdSize is the number of people per request of MeasureSTRNNCrowd.
const STRNNCrowdSize = 8

const (
	strnnSettle = 5   // s
	strnnWatch  = 20  // s
	glideLeast  = 0.3 // m/s: the least speed that glide is a share of
)

// MeasureSTRNNCrowd lets people walk on level ground, STRNNCrowdSize for each of asks. Speed and Turn
// are given; it fills in the rest. People and workers of o are ignored.
func MeasureSTRNNCrowd(m *strnn.Model, asks []STRNNCrowd, o strnn.StreamOptions, workers int) error {
	n := STRNNCrowdSize * len(asks)
	o.Capacity, o.Workers = n, workers
	stream, err := m.NewStream(o)
	if err != nil {
		return err
	}
	flat, err := newFlatWorld(stream, workers)
	if err != nil {
		return err
	}
	defer flat.close()
	s := flat.crowd
	steering := generic.NewMap1[strnn.Steer](&flat.world)
	for i := range n {
		e, err := s.Spawn(m3.V(0, 0, 0), 0)
		if err != nil {
			return err
		}
		ask := asks[i/STRNNCrowdSize]
		*steering.Get(e) = strnn.Steer{Speed: float32(ask.Speed), Turn: float32(ask.Turn)}
	}
	w := newWatch(s, stream, n)
	for tick := range (strnnSettle + strnnWatch) * generator.TickRate {
		w.before()
		if err := flat.schedule.Step(); err != nil {
			return err
		}
		for i := range n {
			w.see(&asks[i/STRNNCrowdSize], i, tick >= strnnSettle*generator.TickRate)
		}
	}
	for i := range asks {
		w.sum(&asks[i], i)
	}
	return nil
}

// watch holds what was seen of the people.
type watch struct {
	s      *animsys.Crowd
	stream *strnn.Stream
	poses  generator.Poses // as the stream makes them
	tips   []int           // joints in which legs end
	feet   []int           // contacts' joints in the skeleton
	roots  []m3.Xform      // (people) before the tick
	toes   []m3.Vec3       // (people, tips) as shown
	glides []m3.Vec3       // (people, contacts) as made
	stood  []uint8         // (people) contacts
	local  [4][]m3.Vec3    // the last ticks' joints about the body, the oldest first, (people, joints)
	since  []int           // (people) ticks since the window began
	model  []m3.Xform
	of     []strnnSums // (asks)
}

// strnnSums are counts over the people of an ask.
type strnnSums struct{ held, stands, borders, withins float64 }

func newWatch(s *animsys.Crowd, stream *strnn.Stream, n int) *watch {
	joints := s.Skel.Len()
	w := &watch{s: s, stream: stream, roots: make([]m3.Xform, n), stood: make([]uint8, n), since: make([]int, n), of: make([]strnnSums, n/STRNNCrowdSize),
		model: make([]m3.Xform, joints)}
	w.poses = generator.Poses{Roots: make([]m3.Xform, n), Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Restarted: make([]bool, n)}
	for _, leg := range s.Ground.Rig.Roles.Legs {
		w.tips = append(w.tips, int(leg[len(leg)-1]))
	}
	for _, c := range stream.Model().Layout.Contacts {
		w.feet = append(w.feet, s.Skel.Index(c.Joint))
	}
	w.toes, w.glides = make([]m3.Vec3, n*len(w.tips)), make([]m3.Vec3, n*len(w.feet))
	for i := range w.local {
		w.local[i] = make([]m3.Vec3, n*joints)
	}
	return w
}

func (w *watch) before() {
	copy(w.roots, w.s.Roots)
	w.local = [4][]m3.Vec3{w.local[1], w.local[2], w.local[3], w.local[0]}
}

// see measures person i after a tick. If counts, it adds to the ask.
func (w *watch) see(ask *STRNNCrowd, i int, counts bool) {
	s, sums := w.s, &w.of[i/STRNNCrowdSize]
	was, is := w.roots[i], s.Roots[i]
	bones, joints, back := s.BonesAt(i), s.Skel.Len(), is.Rot.Conj()
	for j, b := range bones {
		w.local[3][i*joints+j] = back.Rotate(b.Pos.Sub(is.Pos))
	}
	for k, tip := range w.tips {
		at, last := bones[tip].Pos, &w.toes[i*len(w.tips)+k]
		if counts && s.Ground.Feet[i*len(w.tips)+k].Contact() {
			ask.Slide += 100 * float64(at.Dist(*last))
			sums.held++
		}
		*last = at
	}
	w.stream.Pose(&w.poses, i)
	pos, rot := w.poses.Joints(i, joints)
	s.Skel.LocalToModel(w.model, pos, rot)
	stands := w.stream.Contacts(i)
	for k, j := range w.feet {
		at, last := w.model[j].Pos, &w.glides[i*len(w.feet)+k]
		if counts && (stands&w.stood[i])>>k&1 == 1 {
			ask.Glide += float64(at.Sub(*last).Flat().Len())
			sums.stands++
		}
		*last = at
	}
	w.stood[i] = stands
	if w.since[i]++; w.stream.WindowStarted(i) {
		w.since[i] = 0
	}
	if !counts {
		return
	}
	ahead := was.Rot.Forward()
	ask.Turned += float64(m3.WrapAngle(is.Rot.Yaw()-m3.YawOf(ahead))) / strnnWatch / STRNNCrowdSize
	ask.Went += float64(is.Pos.Sub(was.Pos).Dot(ahead)) / strnnWatch / STRNNCrowdSize
	for j := range bones {
		k := i*joints + j
		third := w.local[3][k].Sub(w.local[0][k]).Add(w.local[1][k].Sub(w.local[2][k]).Scale(3))
		jerk := float64(third.Dot(third)) * math.Pow(generator.TickRate, 6)
		if w.since[i] < 4 { // one of the differences is across the border
			ask.Border += jerk
			sums.borders++
		} else {
			ask.Within += jerk
			sums.withins++
		}
	}
}

// sum turns the sums of ask i into means.
func (w *watch) sum(ask *STRNNCrowd, i int) {
	sums := &w.of[i]
	ask.Slide /= math.Max(1, sums.held)
	ask.Stand = sums.held / float64(strnnWatch*generator.TickRate*STRNNCrowdSize*len(w.tips))
	ask.Glide *= generator.TickRate / math.Max(1, sums.stands) / math.Max(glideLeast, ask.Went)
	ask.Border, ask.Within = math.Sqrt(ask.Border/math.Max(1, sums.borders)), math.Sqrt(ask.Within/math.Max(1, sums.withins))
	ask.Lost = w.stream.Discarded()
}

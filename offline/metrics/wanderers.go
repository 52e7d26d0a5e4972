package metrics

import (
	"math"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"

	"mannequin/animsys"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// Wandered is how wanderers go who are asked for a speed and a turn.
type Wandered struct {
	Speed  float64 `json:"speed_m_s"`
	Turn   float64 `json:"turn_rad_s"`
	Went   float64 `json:"went_m_s"`
	Turned float64 `json:"turned_rad_s"`
	Glide  float64 `json:"glide"`            // how fast contacts that stand go in the frames that are made, as a share of the body's speed
	Slide  float64 `json:"slide_cm"`         // of standing toes over the ground as shown, per tick
	Stand  float64 `json:"stand"`            // share of the time that a foot is held
	Border float64 `json:"border_jerk_m_s3"` // of joints about the body as shown, root of the mean square in the ticks around new frames
	Within float64 `json:"within_jerk_m_s3"` // in the others
	Lost   int     `json:"lost"`             // windows, of all who are asked for anything
}

// Wanderers is how many walk for each ask of MeasureWanderers.
const Wanderers = 8

const (
	wanderersSettle = 5   // s
	wanderersWatch  = 20  // s
	glideLeast      = 0.3 // m/s: who is slower glides by shares of this
)

// MeasureWanderers has wanderers walk on level ground, Wanderers for each of asks, of
// which Speed and Turn are given, and fills in the rest. Of o the people and the workers
// do not count.
func MeasureWanderers(m *strnn.Model, asks []Wandered, o strnn.StreamOptions, workers int) error {
	n := Wanderers * len(asks)
	field, err := terrain.Flat(terrain.Grid{Size: 200, Cell: 0.5})
	if err != nil {
		return err
	}
	world := arche.NewWorld()
	s, err := animsys.NewWanderers(&world, m, animsys.WanderersOptions{Capacity: n, Terrain: field, Workers: workers, Stream: o})
	if err != nil {
		return err
	}
	defer s.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/strnn.TickRate, animsys.Systems()...)
	if err != nil {
		return err
	}
	defer schedule.Close()
	wanders := generic.NewMap1[strnn.Wander](&world)
	for i := range n {
		e, err := s.Spawn(m3.V(0, 0, 0), 0)
		if err != nil {
			return err
		}
		ask := asks[i/Wanderers]
		*wanders.Get(e) = strnn.Wander{Speed: float32(ask.Speed), Turn: float32(ask.Turn)}
	}
	w := newWatch(s, n)
	for tick := range (wanderersSettle + wanderersWatch) * strnn.TickRate {
		w.before()
		if err := schedule.Step(); err != nil {
			return err
		}
		for i := range n {
			w.see(&asks[i/Wanderers], i, tick >= wanderersSettle*strnn.TickRate)
		}
	}
	for i := range asks {
		w.sum(&asks[i], i)
	}
	return nil
}

// watch is what is known of wanderers who are watched.
type watch struct {
	s      *animsys.Wanderers
	tips   []int        // joints in which legs end
	feet   []int        // contacts' joints in the skeleton
	roots  []m3.Xform   // (people) before the tick
	toes   []m3.Vec3    // (people, tips) as shown
	glides []m3.Vec3    // (people, contacts) as made
	stood  []uint8      // (people) contacts
	local  [4][]m3.Vec3 // the last ticks' joints about the body, the oldest first, (people, joints)
	since  []int        // (people) ticks since they began to play the frames that they play
	model  []m3.Xform
	pos    []m3.Vec3
	rot    []m3.Quat
	of     []wanderSums // (asks)
}

// wanderSums are counts over the people of an ask.
type wanderSums struct{ held, stands, borders, withins float64 }

func newWatch(s *animsys.Wanderers, n int) *watch {
	joints := s.Skel.Len()
	w := &watch{s: s, roots: make([]m3.Xform, n), stood: make([]uint8, n), since: make([]int, n), of: make([]wanderSums, n/Wanderers),
		model: make([]m3.Xform, joints), pos: make([]m3.Vec3, joints), rot: make([]m3.Quat, joints)}
	for _, leg := range s.Ground.Rig.Roles.Legs {
		w.tips = append(w.tips, int(leg[len(leg)-1]))
	}
	for _, c := range s.Stream.Model().Layout.Contacts {
		w.feet = append(w.feet, s.Skel.Index(c.Joint))
	}
	w.toes, w.glides = make([]m3.Vec3, n*len(w.tips)), make([]m3.Vec3, n*len(w.feet))
	for i := range w.local {
		w.local[i] = make([]m3.Vec3, n*joints)
	}
	return w
}

// before notes what is there before a tick.
func (w *watch) before() {
	copy(w.roots, w.s.Roots)
	oldest := w.local[0]
	copy(w.local[:], w.local[1:])
	w.local[3] = oldest
}

// see looks at person i after a tick, and adds what they do to the ask's where it counts.
func (w *watch) see(ask *Wandered, i int, counts bool) {
	s, sums := w.s, &w.of[i/Wanderers]
	was, is := w.roots[i], s.Roots[i]
	bones, joints, back := s.Bones(i), s.Skel.Len(), is.Rot.Conj()
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
	s.Stream.Pose(i, w.pos, w.rot)
	s.Skel.LocalToModel(w.model, w.pos, w.rot)
	stands := s.Stream.Stands(i)
	for k, j := range w.feet {
		at, last := w.model[j].Pos, &w.glides[i*len(w.feet)+k]
		if counts && (stands&w.stood[i])>>k&1 == 1 {
			ask.Glide += float64(at.Sub(*last).Flat().Len())
			sums.stands++
		}
		*last = at
	}
	w.stood[i] = stands
	if w.since[i]++; s.Stream.Began(i) {
		w.since[i] = 0
	}
	if !counts {
		return
	}
	ahead := was.Rot.Rotate(m3.V(0, 0, 1))
	ask.Turned += float64(m3.WrapAngle(m3.YawOf(is.Rot.Rotate(m3.V(0, 0, 1)))-m3.YawOf(ahead))) / wanderersWatch / Wanderers
	ask.Went += float64(is.Pos.Sub(was.Pos).Dot(ahead)) / wanderersWatch / Wanderers
	for j := range bones {
		k := i*joints + j
		third := w.local[3][k].Sub(w.local[0][k]).Add(w.local[1][k].Sub(w.local[2][k]).Scale(3))
		jerk := float64(third.Dot(third)) * math.Pow(strnn.TickRate, 6)
		if w.since[i] < 4 { // one of the differences is across the border
			ask.Border += jerk
			sums.borders++
		} else {
			ask.Within += jerk
			sums.withins++
		}
	}
}

// sum makes means of the sums of ask i.
func (w *watch) sum(ask *Wandered, i int) {
	sums := &w.of[i]
	ask.Slide /= math.Max(1, sums.held)
	ask.Stand = sums.held / float64(wanderersWatch*strnn.TickRate*Wanderers*len(w.tips))
	ask.Glide *= strnn.TickRate / math.Max(1, sums.stands) / math.Max(glideLeast, ask.Went)
	ask.Border, ask.Within = math.Sqrt(ask.Border/math.Max(1, sums.borders)), math.Sqrt(ask.Within/math.Max(1, sums.withins))
	ask.Lost = w.s.Stream.Lost()
}

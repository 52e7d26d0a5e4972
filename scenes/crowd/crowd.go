// Package crowd is the scene of dogs and people together, moved by every generator that
// there is, who go about between spots, along lanes and in packs, around rocks and each
// other; and who come and go.
package crowd

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/keypose"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/grid"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Options configure the scene. Who has no network does not come.
type Options struct {
	Agents  int            // at most MaxAgents; 0 means 100
	Room    int            // most of them at a time, at least Agents; 0 means half as many again
	Terrain *terrain.Field // around the origin, GroundSize wide; nil makes hills from Seed
	Seed    uint64
	Churn   float32 // so many come and so many go per second
	Workers int     // goroutines that share the rows; 0 means one per CPU
	Open    netruntime.Opener
	BF16    bool // networks in bfloat16 where the processor has it: see netruntime.SessionOptions

	Dog *mann.Model
	Far []*mann.Model // for dogs far away: see animsys.Options

	Latent *latent.Model
	Next   *netruntime.Net // see latent.Model.NewStream

	STRNN *strnn.Model // with a guide

	Manifold          *manifold.Model
	Steps, Locomotion *netruntime.Net
	Styles            *mar.Database        // nil: nobody has a style of these
	Transfers         []*manifold.Transfer // the same

	Keypose *keypose.Model // of those who perform on their spots

	Attention *animsys.Attention // nil is animsys.DefaultAttention
}

// MaxAgents is the most in the scene.
const MaxAgents = 4096

// Scene is the running scene; it is a scenes.Scene.
type Scene struct {
	World    arche.World
	Schedule *ecs.Schedule

	kinds     []*kind
	place     *place
	steer     *steer
	grid      *grid.Grid
	attention animsys.Attention
	rng       *rand.Rand
	tick      int
	want      int // agents that there shall be
	room      int
	churn     float32 // per tick
	due       float32 // of those who come and go
	seed      uint64
	born      int
	pack      arche.Entity // the leader of the last pack
	inPack    int
	watched   arche.Entity // none: all of them
	pressed   bool
	panel     scenes.Panel
}

var (
	_ scenes.Scene  = (*Scene)(nil)
	_ scenes.Traced = (*Scene)(nil)
	_ scenes.Saver  = (*Scene)(nil)
)

var help = []string{
	"Space: watch one, and the next   R: watch them all",
	"up, down, left, right or the mouse: how many, and how many come and go",
}

// New builds the scene.
func New(opt Options) (*Scene, error) {
	if opt.Agents == 0 {
		opt.Agents = 100
	}
	if opt.Room == 0 {
		opt.Room = min(opt.Agents+opt.Agents/2+8, MaxAgents)
	}
	switch {
	case opt.Agents < 1 || opt.Agents > MaxAgents:
		return nil, fmt.Errorf("crowd: %d agents: want 1 to %d", opt.Agents, MaxAgents)
	case opt.Room < opt.Agents || opt.Room > MaxAgents:
		return nil, fmt.Errorf("crowd: room for %d of %d agents: want all of them, and at most %d", opt.Room, opt.Agents, MaxAgents)
	case !(opt.Churn >= 0 && opt.Churn <= 1000):
		return nil, fmt.Errorf("crowd: %g who come and go per second: want 0 to 1000", opt.Churn)
	}
	if opt.Terrain == nil {
		var err error
		if opt.Terrain, err = terrain.Hills(terrain.Grid{Size: GroundSize(opt.Agents), Cell: 0.5}, terrain.HillsOptions{Seed: opt.Seed, Wavelength: 16, MaxSlope: 12 * math.Pi / 180}); err != nil {
			return nil, err
		}
	}
	s := &Scene{World: arche.NewWorld(), want: opt.Agents, room: opt.Room, churn: opt.Churn / scenes.TickRate, seed: opt.Seed, rng: rand.New(rand.NewPCG(opt.Seed, 11)), attention: animsys.DefaultAttention()}
	if opt.Attention != nil {
		s.attention = *opt.Attention
	}
	if err := opt.Terrain.Validate(); err != nil {
		return nil, err
	}
	var err error
	if s.place, err = newPlace(opt.Terrain, opt.Agents, opt.Seed); err != nil {
		return nil, err
	}
	if err := s.open(&opt); err != nil {
		return nil, errors.Join(err, s.closeKinds())
	}
	reach := s.place.radius + edge
	s.steer = &steer{s: s, at: make([]m3.Vec3, opt.Room), v: make([]m3.Vec3, opt.Room)}
	s.grid = grid.New(-reach, -reach, reach, reach, personal, opt.Room)
	if s.Schedule, err = ecs.NewSchedule(&s.World, 1.0/scenes.TickRate, append([]ecs.System{s.steer}, animsys.Systems()...)...); err != nil {
		return nil, errors.Join(err, s.closeKinds())
	}
	for s.Agents() < s.want {
		if err := s.come(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.panel = scenes.Panel{Title: "crowd", Sliders: []scenes.Slider{
		{Label: "agents", Value: float32(s.want), Min: 1, Max: float32(s.room), Whole: true},
		{Label: "come and go, 1/s", Value: opt.Churn, Min: 0, Max: 100, Whole: true},
	}}
	return s, nil
}

func (s *Scene) closeKinds() (err error) {
	for _, k := range s.kinds {
		err = errors.Join(err, k.close())
	}
	return err
}

// Close stops the scene's workers.
func (s *Scene) Close() error {
	s.Schedule.Close()
	return s.closeKinds()
}

// Agents returns how many there are.
func (s *Scene) Agents() (n int) {
	for _, k := range s.kinds {
		n += k.bodies.Agents()
	}
	return n
}

// Saves marks a scenes.Saver.
func (s *Scene) Saves() {}

// Step runs one tick.
func (s *Scene) Step(in scenes.Input) error {
	if i := s.panel.Turn(in.Touch); i == 0 {
		s.want = int(s.panel.Sliders[0].Value + 0.5)
	} else if i == 1 {
		s.churn = s.panel.Sliders[1].Value / scenes.TickRate
	}
	if err := s.comeAndGo(); err != nil {
		return err
	}
	switch {
	case in.Reset:
		s.watched = arche.Entity{}
	case in.Jump && !s.pressed:
		s.watched = s.next()
	}
	s.pressed = in.Jump
	if in.Watched {
		for _, k := range s.kinds {
			k.bodies.Attend(&s.attention, in.Eye, in.Ahead, in.Saving)
		}
	}
	if err := s.Schedule.Step(); err != nil {
		return err
	}
	for _, k := range s.kinds {
		k.marks.Step(k.bodies.Agents())
	}
	return nil
}

// perTick is how many come or go in one tick at most, besides those who come and go
// anyway.
const perTick = 4

// comeAndGo sees to it that there are as many as there shall be.
func (s *Scene) comeAndGo() error {
	for s.due += s.churn; s.due >= 1; s.due-- {
		before := s.Agents()
		if err := s.leave(); err != nil {
			return err
		}
		if s.Agents() < before {
			if err := s.come(); err != nil {
				return err
			}
		}
	}
	for range perTick {
		switch n := s.Agents(); {
		case n < s.want:
			if err := s.come(); err != nil {
				return err
			}
		case n > s.want:
			if err := s.leave(); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns who is watched after the one who is.
func (s *Scene) next() arche.Entity {
	found := s.watched.IsZero()
	var first arche.Entity
	for _, k := range s.kinds {
		for row := range k.bodies.Agents() {
			e := k.bodies.Rows.Entity(row)
			if found {
				return e
			}
			if first.IsZero() {
				first = e
			}
			found = e == s.watched
		}
	}
	return first
}

// lacking returns the kind of which there are too few, or with more the one of which
// there are too many, for so many in all.
func (s *Scene) lacking(n int, more bool) *kind {
	var shares int
	for _, k := range s.kinds {
		shares += k.share
	}
	var best *kind
	var most float32
	for _, k := range s.kinds {
		lack := float32(n*k.share)/float32(shares) - float32(k.bodies.Agents())
		if more {
			lack = -lack
		}
		if more && k.bodies.Agents() == 0 || !more && k.bodies.Agents() == k.bodies.Rows.Cap() {
			continue
		}
		if best == nil || lack > most {
			best, most = k, lack
		}
	}
	return best
}

// come brings one more.
func (s *Scene) come() error {
	k := s.lacking(s.Agents()+1, false)
	if k == nil || s.Agents() == s.room {
		return nil
	}
	row := k.bodies.Agents()
	m := &k.minds[row]
	*m = mind{rng: *rand.NewPCG(s.seed, uint64(s.born)), rest: control.Move, left: giveUp}
	s.born++
	m.look = m.bits()
	m.goal, m.lane = uint8(m.bits()%uint64(len(s.place.spots))), uint8(m.bits()%uint64(len(s.place.lanes)))
	at, yaw := s.gap(k, m)
	switch {
	case k.stays:
		m.left = 4 + 8*m.uniform()
	case k.laned:
		m.pace = laneSlow + (laneFast-laneSlow)*m.uniform()
	case k.dogs:
		m.pace = [...]float32{control.WalkSpeed, control.PaceSpeed, control.PaceSpeed, control.TrotSpeed}[m.bits()%4]
	default:
		m.pace = wanderSlow + (wanderFast-wanderSlow)*m.uniform()
	}
	e, err := k.spawn(at, yaw, m)
	if err != nil {
		return err
	}
	if k.dogs {
		if s.inPack%packed == 0 {
			s.pack = e
		} else {
			m.leader = s.pack
		}
		s.inPack++
	}
	if k.born != nil {
		k.born(e, m)
	}
	return nil
}

// gap returns where there is room for one more.
func (s *Scene) gap(k *kind, m *mind) (at m3.Vec3, yaw float32) {
	for range 12 {
		yaw = m3.WrapAngle(2 * math.Pi * m.uniform())
		if k.laned {
			lane := s.place.lanes[m.lane]
			m.start = lane.Length() * m.uniform()
			var ahead m3.Vec3
			at, ahead = lane.At(m.start)
			yaw = m3.YawOf(ahead)
		} else {
			a, r := 2*math.Pi*float64(m.uniform()), s.place.radius*m3.Sqrt(m.uniform())
			at = m3.V(r*float32(math.Sin(a)), 0, r*float32(math.Cos(a)))
		}
		if s.place.free(at, clearance) && s.alone(at) {
			break
		}
	}
	return at, yaw
}

// alone reports whether nobody is near at.
func (s *Scene) alone(at m3.Vec3) bool {
	for _, k := range s.kinds {
		for _, root := range k.bodies.Roots[:k.bodies.Agents()] {
			if root.Pos.Flat().Dist(at) < 1.2 {
				return false
			}
		}
	}
	return true
}

// leave has someone go, whoever it is, but not the one who is watched.
func (s *Scene) leave() error {
	k := s.lacking(s.Agents()-1, true)
	if k == nil || s.Agents() <= 1 {
		return nil
	}
	row := s.rng.IntN(k.bodies.Agents())
	e := k.bodies.Rows.Entity(row)
	if e == s.watched { // the next one, if there is one
		row = (row + 1) % k.bodies.Agents()
		if e = k.bodies.Rows.Entity(row); e == s.watched {
			return nil
		}
	}
	last := k.bodies.Agents() - 1
	if err := k.despawn(e); err != nil {
		return err
	}
	k.minds[row] = k.minds[last]
	return nil
}

// Hash sums up everybody, what the panel asks for, and who is watched.
func (s *Scene) Hash() uint64 {
	h := statehash.New.Int(s.want).Floats(s.churn).Uint(uint64(s.watched.ID()))
	for _, k := range s.kinds {
		h = h.Uint(k.bodies.Hash())
	}
	return uint64(h)
}

// Stages returns the names of the tick's stages.
func (s *Scene) Stages() []string { return s.Schedule.Names() }

// Trace sets what is called before each stage.
func (s *Scene) Trace(f func(next int)) { s.Schedule.Trace = f }

// Frame describes what to draw.
func (s *Scene) Frame(dst *scenes.Frame, alpha float32) {
	dst.Begin(s.place.field)
	dst.Seat = scenes.Overlook(s.want)
	dst.Help = append(dst.Help, help...)
	var mid m3.Vec3
	line := fmt.Sprintf("%d:", s.Agents())
	var rates [animsys.Quarter + 1]int
	for _, k := range s.kinds {
		c := dst.Cast(k.bodies.Skel)
		c.Bones = k.bodies.Interpolate(c.Bones, alpha)
		for row := range k.bodies.Agents() {
			c.Tint = append(c.Tint, k.tint(&k.minds[row]))
			mid = mid.Add(c.Of(row)[0].Pos.Scale(1 / float32(s.Agents())))
			rates[k.bodies.Rate(row)]++
		}
		line += fmt.Sprintf("  %d %s", c.Len(), k.name)
		if row, ok := k.bodies.Rows.Row(s.watched); ok && !s.watched.IsZero() {
			dst.Focus = c.Of(row)[0].Pos
			dst.Heading = m3.YawOf(k.bodies.Roots[row].Rot.Rotate(m3.V(0, 0, 1)))
		}
	}
	if s.watched.IsZero() {
		dst.Focus = mid
	}
	for i, k := range s.kinds {
		row := -1
		if r, ok := k.bodies.Rows.Row(s.watched); ok {
			row = r
		}
		k.marks.Draw(dst, dst.Casts[i].Bones, row, alpha)
	}
	dst.HUD = append(dst.HUD, line, fmt.Sprintf("a step every tick: %d, every second: %d, every fourth: %d, frozen: %d", rates[animsys.Full], rates[animsys.Half], rates[animsys.Quarter], rates[animsys.Frozen]))
	dst.Panel.Copy(&s.panel)
}

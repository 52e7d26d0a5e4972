package animsys

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// PeopleOptions configure people.
type PeopleOptions struct {
	Capacity int            // most of them at a time, at least 1
	Terrain  *terrain.Field // the ground they walk on; required
	Roles    *ik.Roles      // the skeleton's roles; nil derives them from the shipped people's joint names
	Workers  int            // goroutines that share the rows; 0 means one per CPU

	// Transfers are the styles of ecs.Gram, of the very model, at most ecs.MaxStyles; nil:
	// none.
	Transfers []*manifold.Transfer
	// Styles has those of ecs.MAR, at most ecs.MaxStyles, on the model's skeleton; nil:
	// none. Style says how they are given; its Characters are Capacity, its Workers the
	// tick's.
	Styles *mar.Database
	Style  mar.Options
	Known  mar.Label // what is known of people's own motion; none: nothing. The less is, the longer it takes

	// Stream says how motion is made. Its People are Capacity, and its Workers,
	// where they are 0, one fewer than the tick has, at least 1.
	Stream manifold.StreamOptions
}

// People is the resource that holds the agents of a model of manifold: each has a
// manifold.Curve, the component that says where it goes, and may have an
// ecs.Style, which says how. A goroutine of theirs makes their motion in
// windows, a batch at a time, while the tick plays them. It belongs, but for that,
// to the goroutine that owns the world.
//
// A change of a curve shows after its windows' latency, about a second, since
// people turn ahead of where they go. Who is spawned stands until then.
type People struct {
	Bodies
	Stream *manifold.Stream

	// Waits counts the ticks that had to wait for windows: their number was too
	// great, or the processor too slow, for what PeopleOptions.Stream says. What
	// people do does not depend on it.
	Waits int

	transfers []*manifold.Transfer
	restyle   *restyle // nil without Styles

	contact []uint8 // per leg: the contact of its tip
	curves  generic.Map1[manifold.Curve]
	spawned int

	tick    int
	latency int
	spare   []*manifold.Order
	pending []int // ticks at which the orders under way are played, oldest first
	work    chan *manifold.Order
	done    chan madeOrder
}

type madeOrder struct {
	order *manifold.Order
	err   error
}

// NewPeople makes people of a model and the networks that manifold.NewWalker
// takes, and adds them to w as a resource.
func NewPeople(w *arche.World, m *manifold.Model, steps, locomotion *netruntime.Net, opt PeopleOptions) (*People, error) {
	if m == nil || steps == nil || locomotion == nil {
		return nil, fmt.Errorf("animsys: people without a model, or its networks")
	}
	if err := stage(w, opt.Capacity, opt.Terrain); err != nil {
		return nil, err
	}
	res := generic.NewResource[People](w)
	if res.Has() {
		return nil, fmt.Errorf("animsys: the world has People already")
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	roles, err := rolesOf(opt.Roles, m.Skel, ik.HumanRoles)
	if err != nil {
		return nil, err
	}
	p := &People{curves: generic.NewMap1[manifold.Curve](w), transfers: opt.Transfers}
	if len(opt.Transfers) > ecs.MaxStyles {
		return nil, fmt.Errorf("animsys: %d transfers, at most %d fit an ecs.Style", len(opt.Transfers), ecs.MaxStyles)
	}
	for i, t := range opt.Transfers {
		if !t.Of(m) {
			return nil, fmt.Errorf("animsys: transfer %d is of another model: take what manifold.Transfers.For gives for this one", i)
		}
	}
	opt.Stream.People = opt.Capacity
	if opt.Stream.Workers == 0 {
		opt.Stream.Workers = max(1, opt.Workers-1)
	}
	if p.Stream, err = m.NewStream(steps, locomotion, opt.Stream); err != nil {
		return nil, err
	}
	if err := p.open(w, m.Skel, opt.Terrain, ik.DefaultHuman(), roles, opt.Capacity, opt.Workers); err != nil {
		p.Stream.Close()
		return nil, err
	}
	tips, contact, err := contactsOf(m.Layout, m.Skel, roles)
	if err != nil {
		p.close()
		p.Stream.Close()
		return nil, err
	}
	p.contact = contact
	if p.restyle, err = newRestyle(m.Skel, tips, &opt); err != nil {
		p.close()
		p.Stream.Close()
		return nil, err
	}
	p.Ground.Contacts = make([]bool, len(p.Ground.Feet))
	p.follow(p.Stream.Still)
	p.finest = p.restyle.finest
	n := p.Stream.Orders()
	p.latency, p.pending = p.Stream.Options().Latency, make([]int, 0, n)
	for range n {
		p.spare = append(p.spare, p.Stream.NewOrder())
	}
	p.work, p.done = make(chan *manifold.Order, n), make(chan madeOrder, n)
	go p.make()
	p.enlist()
	res.Add(p)
	return p, nil
}

// make makes what is asked for, until there will be no more.
func (p *People) make() {
	for o := range p.work {
		p.done <- madeOrder{o, netruntime.Aside(func() error { return p.Stream.Make(o) })}
	}
	close(p.done)
}

// Close stops all workers. Closing twice is harmless; systems pass closed people by.
func (p *People) Close() error {
	if !p.close() {
		return nil
	}
	close(p.work)
	for range p.done { // what is under way
	}
	return errors.Join(p.Stream.Close(), p.restyle.close())
}

// Spawn adds someone who stands at pos, whose height is dropped, with heading yaw
// in radians. The entity has an ecs.Slot and a manifold.Curve, for you to set; add
// tags of your own. It fails when all rows are taken, while the world is locked,
// and for places that are not finite.
func (p *People) Spawn(pos m3.Vec3, yaw float32) (arche.Entity, error) {
	if err := p.canSpawn(pos, yaw); err != nil {
		return arche.Entity{}, err
	}
	e := p.curves.New()
	err := p.add(e, func(row int) {
		p.Stream.Add(feature.Place{Pos: pos, Yaw: yaw}, p.phase())
		p.show(row, row+1)
	})
	if err != nil {
		return arche.Entity{}, err
	}
	return e, nil
}

// phase returns that of the next one's first step: spread evenly however many
// there are.
func (p *People) phase() float32 {
	const golden = 2.399963229728653
	p.spawned++
	return float32(math.Remainder(golden*float64(p.spawned), 2*math.Pi))
}

// Despawn removes someone and the entity, between ticks or in a system before
// Pick or after Skin. Another may take over the row.
func (p *People) Despawn(e arche.Entity) error {
	row, _, err := p.remove(e)
	if err == nil {
		p.Stream.Remove(row)
		p.restyle.move(row, p.Rows.Len())
	}
	return err
}

// Place moves someone to pos with heading yaw, where they stand until their curve
// leads on. They keep their posture, which eases into standing.
func (p *People) Place(e arche.Entity, pos m3.Vec3, yaw float32) error {
	row, err := p.row(e, pos, yaw)
	if err != nil {
		return err
	}
	p.Stream.Place(row, feature.Place{Pos: pos, Yaw: yaw}, p.phase())
	p.restyle.forget(row)
	p.show(row, row+1)
	p.moved(row)
	return nil
}

// show fetches roots, poses and contacts of the rows from r0 up to r1.
func (p *People) show(r0, r1 int) {
	for r := r0; r < r1; r++ {
		p.Stream.Pose(r, p.Pos[r*p.joints:(r+1)*p.joints], p.Rot[r*p.joints:(r+1)*p.joints])
		p.stand(r, p.Stream.Where(r), p.Stream.Stands(r), p.contact)
	}
}

// Windows gathers the entities' curves and styles (who loses an ecs.Style loses the
// style), plays windows that are due, and asks for those that are needed next.
type Windows struct {
	people *People
	filter generic.Filter3[ecs.Slot, manifold.Curve, ecs.Style]
	fault  generic.Resource[ecs.Fault]
}

// Initialize finds the people.
func (s *Windows) Initialize(w *arche.World) {
	s.filter = *generic.NewFilter3[ecs.Slot, manifold.Curve, ecs.Style]().Optional(generic.T[ecs.Style]())
	s.fault = generic.NewResource[ecs.Fault](w)
	if res := generic.NewResource[People](w); res.Has() {
		s.people = res.Get()
	}
}

// Update takes and asks.
func (s *Windows) Update(w *arche.World) {
	p := s.people
	if p == nil || p.closed {
		return
	}
	if len(p.pending) > 0 && p.pending[0] == p.tick {
		if err := p.take(); err != nil {
			s.fault.Get().Err = err
			return
		}
	}
	for q := s.filter.Query(w); q.Next(); {
		slot, curve, style := q.Get()
		if p.Rows.Holds(q.Entity(), slot) {
			if style == nil || style.Method == ecs.MAR && p.rates[slot.Row].want != Full {
				style = &noStyle
			}
			p.restyle.want(slot.Row, style)
			c := *curve
			c.Gait.Cadence = p.restyle.cadence(slot.Row, c.Gait.Cadence)
			p.Stream.Curves[slot.Row], p.Stream.Styles[slot.Row] = c, p.styled(style)
		}
	}
	if p.tick%p.Stream.Options().Every == 0 {
		p.ask()
	}
	p.tick++
}

var noStyle ecs.Style

// styled returns the share of a transfer that a style asks for.
func (p *People) styled(s *ecs.Style) (out manifold.Styled) {
	if s.Method != ecs.Gram {
		return out
	}
	for i, tr := range p.transfers {
		if w := s.Weights[i]; w > out.Weight {
			out = manifold.Styled{With: tr, Weight: w}
		}
	}
	return out
}

// Finalize has nothing to do: people are closed by their owner.
func (s *Windows) Finalize(*arche.World) {}

// ask has the windows made that are needed next.
func (p *People) ask() {
	o := p.spare[len(p.spare)-1]
	if p.Stream.Ask(o); o.Len() == 0 {
		return
	}
	p.spare = p.spare[:len(p.spare)-1]
	p.pending = append(p.pending, p.tick+p.latency)
	p.work <- o
}

// take plays the oldest order, and waits for it where it must.
func (p *People) take() error {
	copy(p.pending, p.pending[1:])
	p.pending = p.pending[:len(p.pending)-1]
	var m madeOrder
	select {
	case m = <-p.done:
	default:
		p.Waits++
		m = netruntime.Await(p.done)
	}
	p.Stream.Take(m.order, m.err)
	p.spare = append(p.spare, m.order)
	return m.err
}

// Play goes on by a frame and poses everyone.
type Play struct{ spread }

// Initialize finds the people.
func (s *Play) Initialize(w *arche.World) {
	if res := generic.NewResource[People](w); res.Has() {
		p := res.Get()
		s.on(&p.Bodies, func(r0, r1 int) {
			p.Stream.Advance(r0, r1)
			p.eachStep(r0, r1, p.show)
		})
	}
}

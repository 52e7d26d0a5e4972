package crowd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/animsys/retarget"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/steer"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// population is the agents of one generator, with the settings of how they come and go and are
// steered.
type population struct {
	*world.Population
	name   string
	share  int  // percent of all agents
	laned  bool // they go along lanes
	stays  bool // they stay in place
	dogs   bool // they go in packs
	walker control.Walker
	paces  []float32    // at which they go, m/s; nil: those of people or dogs
	far    *world.Far   // nil: all are on the processor
	states []agentState // (agents): by row, or by number of far

	// spawn adds an agent; nil is Spawn. born sets what an agent keeps, and may be nil. control sets an
	// agent's control.
	spawn   func(at m3.Vec3, yaw float32, a *agentState) (arche.Entity, error)
	born    func(e arche.Entity, a *agentState)
	control func(e arche.Entity, row int, a *agentState, want intent)
}

// ways is the number of different ways to perform a routine.
const ways = 8

// The speeds of people, m/s.
const (
	wanderSlow, wanderFast = 1.0, 1.6
	laneSlow, laneFast     = 1.1, 1.9
)

// open makes room for the agents of each generator with networks, by their shares.
func (s *Scene) open(o *Options) error {
	type offer struct {
		there bool
		population
		open func(o *Options, p *population, n int) error
	}
	offers := slices.DeleteFunc([]offer{
		{o.Dog != nil, population{name: "dogs", share: 50, dogs: true, walker: steer.Dog}, s.openDogs},
		{o.Latent != nil && o.Next != nil, population{name: "on sliders", share: 26, walker: steer.OnSliders}, s.openSliders},
		{o.STRNN != nil, population{name: "predicted", share: 8, walker: steer.Predicted}, s.openPredicted},
		{o.People != nil, population{name: "on lanes", share: 10, laned: true, walker: steer.OnCurve}, s.openLanes},
		{o.Keypose != nil, population{name: "performing", share: 6, stays: true, walker: steer.Person}, s.openPerforming},
		{o.Character != nil, population{name: "of your own", share: 20}, s.openCharacter},
	}, func(k offer) bool { return !k.there })
	all := 0
	for _, k := range offers {
		all += k.share
	}
	if all == 0 {
		return fmt.Errorf("crowd: Options has no network: want a dog's, or people's")
	}
	for i := range offers {
		k := &offers[i]
		n, p := (o.Room*k.share+all-1)/all+2, &k.population
		p.states = make([]agentState, n)
		if err := k.open(o, p, n); err != nil {
			return err
		}
		if p.spawn == nil {
			p.spawn = func(at m3.Vec3, yaw float32, _ *agentState) (arche.Entity, error) { return p.Spawn(at, yaw) }
		}
		s.populations = append(s.populations, p)
	}
	return nil
}

// addTo adds a population's generator to the world.
func addTo[C any](s *Scene, p *population, g generator.Generator[C], opt animsys.Options, ahead world.Ahead) (err error) {
	p.Population, err = world.Add(&s.World, g, opt, ahead, func(row int) [3]float32 { return p.tint(&p.states[row]) })
	return err
}

// tint returns the colour of an agent's coat or clothes.
func (p *population) tint(a *agentState) [3]float32 {
	if p.dogs || p.Roles != nil && len(p.Roles.Legs) != 2 {
		return scenes.Coat(a.look)
	}
	return scenes.Clothes(int(a.look%1024), 0)
}

// size returns the number of agents, wherever they live.
func (p *population) size() int {
	if p.far != nil {
		return p.far.Len()
	}
	return p.Agents()
}

// places returns where all agents are, on flat ground.
func (p *population) places() []m3.Xform {
	if p.far != nil {
		return p.far.Gather()
	}
	return p.Roots[:p.Agents()]
}

// who returns the entity of agent i; the zero entity if it lives on the GPU.
func (p *population) who(i int) arche.Entity {
	if p.far != nil {
		return p.far.Entity(i)
	}
	return p.Entity(i)
}

// rate returns the update rate of agent i.
func (p *population) rate(i int) animsys.UpdateRate {
	if p.far == nil {
		return p.UpdateRateAt(i)
	}
	if row, ok := p.Row(p.far.Entity(i)); ok {
		return p.UpdateRateAt(row)
	}
	return animsys.EveryTick
}

// openDogs opens the dogs, which go in packs.
func (s *Scene) openDogs(o *Options, p *population, n int) error {
	dogs, err := o.Dog.NewController(mann.ControllerOptions{Capacity: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, LOD: o.Far})
	if err != nil {
		return err
	}
	goals := generic.NewMap1[control.Goal](&s.ECS)
	p.control = func(e arche.Entity, _ int, _ *agentState, want intent) {
		g := control.Goal{Action: want.rest}
		if want.speed > 0 || want.turn != 0 {
			g = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: want.speed, Turn: want.turn / control.MaxTurn}
		}
		*goals.Get(e) = g
	}
	return addTo(s, p, dogs, animsys.Options{}, nil)
}

// openCharacter opens the animals or people of mannequin make, in their own size.
func (s *Scene) openCharacter(o *Options, p *population, n int) error {
	of := o.Character.Character()
	if of == nil {
		return errors.New("crowd: Options.Character is empty")
	}
	own, err := of.Sized()
	if err != nil {
		return fmt.Errorf("crowd: %w", err)
	}
	stream, err := o.Character.NewStream(matching.StreamOptions{Capacity: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, Nearest: o.Nearest})
	if err != nil {
		return err
	}
	if err := addTo(s, p, stream, animsys.Options{Characters: []*retarget.Character{own}}, nil); err != nil {
		return err
	}
	if p.Roles = &of.Roles; of.Name != "" {
		p.name = strings.ToValidUTF8(of.Name, "?")
	}
	goals := generic.NewMap1[control.Goal](&s.ECS)
	set := func(e arche.Entity, g control.Goal) { *goals.Get(e) = g }
	if err := s.openFar(o, p, own, set); err != nil {
		return err
	}
	_, long := world.Extent(own)
	p.walker = steer.Dog
	p.walker.Radius, p.walker.Middle = max(steer.Person.Radius, 0.7*long), 0
	for _, v := range of.Speeds(6) {
		if v *= own.Scale; v < 2.5*long+1 { // a fast run is not for a crowd
			p.paces = append(p.paces, v)
		}
	}
	if p.paces == nil {
		p.paces = []float32{wanderSlow}
	}
	if p.far == nil {
		p.Own = own
		p.spawn = func(at m3.Vec3, yaw float32, _ *agentState) (arche.Entity, error) {
			e, err := p.Spawn(at, yaw)
			if err == nil {
				err = p.SetCharacter(e, own)
			}
			return e, err
		}
	}
	p.control = func(e arche.Entity, i int, _ *agentState, want intent) {
		g := control.Goal{Action: want.rest}
		if want.speed > 0 || want.turn != 0 {
			g = control.Goal{Action: control.Move, Move: m3.V(0, 0, 1), Speed: want.speed, Turn: m3.Clamp(want.turn/control.MaxTurn, -1, 1)}
		}
		if p.far != nil {
			p.far.SetGoal(i, &g)
		} else {
			set(e, g)
		}
	}
	return nil
}

// openFar lets those of a character live on the GPU that are far away. There they have the size of the skeleton.
func (s *Scene) openFar(o *Options, p *population, own *retarget.Character, set func(arche.Entity, control.Goal)) (err error) {
	s.asked = o.Beyond != 0
	switch {
	case o.Beyond == 0 || o.GPU == nil:
		return nil
	case o.Character.Learned == nil || own.Scale != 1:
		if o.Log != nil {
			o.Log.Warn("no GPU for characters far away: it has those of learned motion matching that are as large as their skeleton", "character", p.name)
		}
		return nil
	}
	p.far, err = s.NewFar(p.Population, world.FarOptions{
		Beyond: o.Beyond, GPU: *o.GPU, Goal: set,
		Open: func(opt resident.Options) (*resident.Crowd, error) {
			return resident.NewLearned(o.Character.Learned, opt)
		},
	})
	return err
}

// openSliders opens people who walk by sliders.
func (s *Scene) openSliders(o *Options, p *population, n int) error {
	stream, err := o.Latent.NewStream(o.Next, latent.StreamOptions{Capacity: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, Every: 5})
	if err != nil {
		return err
	}
	if err := addTo(s, p, stream, animsys.Options{}, overlay.Places(stream.Preview, 10)); err != nil {
		return err
	}
	steering, err := o.Latent.NewSteering(o.Next, max(o.Workers, 1))
	if err != nil {
		return err
	}
	sliders := generic.NewMap1[latent.Sliders](&s.ECS)
	bearing := [...]int{o.Latent.Components.Index("lean"), o.Latent.Components.Index("bend")}
	p.born = func(e arche.Entity, a *agentState) {
		for _, k := range bearing {
			sliders.Get(e).Set(k, 1.5*(2*a.uniform()-1))
		}
	}
	p.control = func(e arche.Entity, _ int, _ *agentState, want intent) {
		steering.Steer(sliders.Get(e), want.turn, want.speed)
	}
	return nil
}

// openPredicted opens people with predicted motion.
func (s *Scene) openPredicted(o *Options, p *population, n int) error {
	every := 2 // a divisor of the ticks of a window, 2·Predict
	if o.STRNN.Predict%2 == 0 {
		every = 4
	}
	stream, err := o.STRNN.NewStream(strnn.StreamOptions{Capacity: n, Workers: o.Workers, Seed: o.Seed, BF16: o.BF16, Open: o.Open, Every: every, From: 1})
	if err != nil {
		return err
	}
	wanders := generic.NewMap1[strnn.Steer](&s.ECS)
	p.control = func(e arche.Entity, _ int, _ *agentState, want intent) {
		*wanders.Get(e) = strnn.Steer{Speed: want.speed, Turn: want.turn}
	}
	return addTo(s, p, stream, animsys.Options{}, overlay.Places(stream.Preview, 3))
}

// openLanes opens people who go along lanes.
func (s *Scene) openLanes(o *Options, p *population, n int) error {
	stream, err := o.People.NewStream(manifold.StreamOptions{Capacity: n, Styles: o.Transfers, Open: o.Open, BF16: o.BF16})
	if err != nil {
		return err
	}
	curves := generic.NewMap1[manifold.Curve](&s.ECS)
	mar, gram := generic.NewMap1[ecs.MARStyle](&s.ECS), generic.NewMap1[ecs.GramStyle](&s.ECS)
	p.born = func(e arche.Entity, a *agentState) {
		*curves.Get(e) = manifold.Curve{Path: s.place.lanes[a.lane], Start: a.start, Speed: a.pace}
		switch pick := a.bits() % 3; {
		case pick == 1 && o.Styles != nil:
			style := ecs.MARStyle{}
			style.Weights[a.bits()%uint64(len(o.Styles.Styles))] = 1
			mar.Assign(e, &style)
		case pick == 2 && len(o.Transfers) > 0:
			gram.Assign(e, &ecs.GramStyle{Style: int(a.bits() % uint64(len(o.Transfers))), Weight: 1})
		}
	}
	p.control = func(e arche.Entity, _ int, _ *agentState, want intent) {
		const change = 0.3 // m/s: each change makes motion anew
		if curve := curves.Get(e); m3.Abs(curve.Speed-want.speed) > change || (curve.Speed > 0) != (want.speed > 0) {
			curve.Speed = want.speed
		}
	}
	return addTo(s, p, stream, animsys.Options{Styles: o.Styles, Known: o.Styles.InStyle("neutral")}, overlay.Places(stream.Preview, 10))
}

// openPerforming opens people who stand on their spots and wave, point, clap, talk.
func (s *Scene) openPerforming(o *Options, p *population, n int) error {
	stream, err := o.Keypose.NewStream(keypose.StreamOptions{Capacity: n, Workers: o.Workers, BF16: o.BF16, Open: o.Open, Every: 8, From: 4})
	if err != nil {
		return err
	}
	if err := addTo(s, p, stream, animsys.Options{}, nil); err != nil {
		return err
	}
	written := make([][]*keypose.PoseLoop, ways)
	for i := range written {
		author, err := routines.NewAuthor(o.Keypose.Layout, o.Seed+uint64(i))
		if err != nil {
			return err
		}
		for _, name := range routines.Names() {
			r, err := author.Write(name)
			if err != nil {
				return err
			}
			written[i] = append(written[i], r)
		}
	}
	parts := generic.NewMap1[keypose.Performance](&s.ECS)
	next := func(a *agentState) keypose.Performance {
		mine := written[a.look%ways]
		return keypose.Performance{Loop: mine[a.bits()%uint64(len(mine))], Speed: 0.85 + 0.3*a.uniform()}
	}
	p.spawn = func(at m3.Vec3, yaw float32, a *agentState) (arche.Entity, error) {
		part := next(a)
		part.Start = 10 * float64(a.uniform())
		return animsys.SpawnWith(p.Crowd, at, yaw, part)
	}
	p.control = func(e arche.Entity, _ int, a *agentState, _ intent) {
		if a.left <= 0 {
			a.left = 4 + 8*a.uniform()
			*parts.Get(e) = next(a)
		}
	}
	return nil
}

// count returns the text for n agents.
func (p *population) count(n int) string {
	if p.dogs {
		return scenes.Count(n, "dog", "dogs")
	}
	return fmt.Sprintf("%d %s", n, p.name)
}

// agent returns the text for one agent.
func (p *population) agent(e arche.Entity) string {
	if p.dogs {
		return fmt.Sprintf("dog %d", e.ID())
	}
	if p.Roles != nil {
		return fmt.Sprintf("%s %d", p.name, e.ID())
	}
	return fmt.Sprintf("person %d, %s", e.ID(), p.name)
}

package interact

import (
	"mannequin/animsys"
	"mannequin/ecs"
	"mannequin/engine/hud"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// Sizes and places, seen from where a person stands, m.
const (
	seatHigh     = 0.46
	hipsOverSeat = 0.11
	benchBack    = 0.42
	boxSize      = 0.34
	stoolHigh    = 0.3
	barHigh      = 1.78

	startTicks = 120 // until the first task
)

var (
	boxAt   = m3.V(0, boxSize/2, 0.46)
	chestAt = m3.V(0, 1.12, 0.36)
	stoolAt = m3.V(-0.16, stoolHigh, 0.42)
	overLog = m3.V(0.12, 0, 0.62)
	buttons = []m3.Vec3{{X: 0.3, Y: 1.5, Z: 0.5}, {X: -0.25, Y: 1.2, Z: 0.5}, {X: 0.1, Y: 0.95, Z: 0.5}, {X: -0.3, Y: 1.6, Z: 0.5}}

	wood  = [3]float32{0.36, 0.24, 0.12}
	metal = [3]float32{0.35, 0.36, 0.38}
	stone = [3]float32{0.30, 0.28, 0.25}
	red   = [3]float32{0.5, 0.05, 0.04}
)

// person is someone who does a task again and again.
type person struct {
	at     m3.Vec3 // where it stands
	entity arche.Entity
	task   *task
	tick   int                // of the task; below 0 it has not begun
	box    m3.Vec3            // its box's middle
	holds  bool               // the box
	up     animsys.PoseTarget // the pose in which it stood before it sat down
}

// place returns a place that is seen from the person.
func (p *person) place(from m3.Vec3) m3.Vec3 { return p.at.Add(from) }

// task is what a person does. Each act is done once a round.
type task struct {
	name string
	ends int // ticks of a round
	acts []act
}

type act struct {
	tick int
	do   func(s *Scene, p *person) error
}

var tasks = []*task{
	{"bench", 640, []act{{0, sit}, {300, rise}, {410, free}}},
	{"box", 700, []act{{0, grasp}, {80, lift}, {250, lower}, {342, release}}},
	{"stool", 760, []act{
		{0, steps(animsys.Right, stoolAt, 0.9, 0.06)}, {140, stepBack}, {380, steps(animsys.Left, overLog, 1, 0.25)}, {540, stepBack},
	}},
	{"bar", 560, []act{{0, hang}, {300, release}}},
	{"buttons", 520, []act{{0, press(0)}, {80, press(1)}, {160, press(2)}, {240, press(3)}, {320, release}}},
}

// act does what the task has in this tick.
func (p *person) act(s *Scene) error {
	for i := range p.task.acts {
		if a := &p.task.acts[i]; a.tick == p.tick {
			if err := a.do(s, p); err != nil {
				return err
			}
		}
	}
	if p.tick++; p.tick == p.task.ends {
		p.tick = 0
	}
	return nil
}

// carry takes the box along with the hands.
func (p *person) carry(s *Scene) {
	if p.holds {
		m := s.People.Bones(p.entity)
		l, r := m[s.People.Skel.Index("LeftHandIndex1")].Pos, m[s.People.Skel.Index("RightHandIndex1")].Pos
		p.box = l.Lerp(r, 0.5)
	}
}

func sit(s *Scene, p *person) (err error) {
	p.up = s.People.PoseOf(p.entity)
	to := s.seat(p)
	to.Seconds = 1.7
	_, err = s.People.TakePose(p.entity, s.between, to)
	return err
}

func rise(s *Scene, p *person) (err error) {
	p.up.Seconds, p.up.Layer = 1.5, 1
	_, err = s.People.TakePose(p.entity, s.between, p.up)
	return err
}

func free(s *Scene, p *person) error {
	if err := s.People.Stop(p.entity, 0, 0.3); err != nil {
		return err
	}
	return s.People.Stop(p.entity, 1, 0.3)
}

// hands sends both hands to the sides of the box, or where the box is to be.
func (p *person) hands(s *Scene, box m3.Vec3, seconds float32) {
	side := m3.V(boxSize/2, 0, 0)
	*s.reach.Get(p.entity) = ecs.Reach{
		Left:  ecs.Hand{Target: box.Add(side), Weight: 1, Seconds: seconds},
		Right: ecs.Hand{Target: box.Sub(side), Weight: 1, Seconds: seconds},
	}
	*s.looks.Get(p.entity) = ecs.LookAt{Target: box, Weight: 0.7}
}

func grasp(s *Scene, p *person) error { p.hands(s, p.box, 1.3); return nil }

func lift(s *Scene, p *person) error {
	p.holds = true
	p.hands(s, p.place(chestAt), 1.2)
	return nil
}

func lower(s *Scene, p *person) error { p.hands(s, p.place(boxAt), 1.4); return nil }

func release(s *Scene, p *person) error {
	if p.holds {
		p.holds, p.box = false, p.place(boxAt)
	}
	*s.reach.Get(p.entity), *s.looks.Get(p.entity) = ecs.Reach{}, ecs.LookAt{}
	return nil
}

// steps puts a foot to a place.
func steps(foot animsys.Side, to m3.Vec3, seconds, lift float32) func(*Scene, *person) error {
	return func(s *Scene, p *person) error {
		at := p.place(to)
		if err := s.People.CanStep(p.entity, foot, at, seconds); err != nil {
			return err
		}
		c, f := s.step.Get(p.entity), ecs.Foot{Target: at, Weight: 1, Seconds: seconds, Lift: lift}
		if *c = (ecs.Step{}); foot == animsys.Left {
			c.Left = f
		} else {
			c.Right = f
		}
		*s.looks.Get(p.entity) = ecs.LookAt{Target: at, Weight: 0.6}
		return nil
	}
}

func stepBack(s *Scene, p *person) error {
	c := s.step.Get(p.entity)
	c.Left.Weight, c.Right.Weight = 0, 0
	*s.looks.Get(p.entity) = ecs.LookAt{}
	return nil
}

func hang(s *Scene, p *person) error {
	bar := p.place(m3.V(0, barHigh, 0.22))
	*s.reach.Get(p.entity) = ecs.Reach{
		Left:  ecs.Hand{Target: bar.Add(m3.V(0.24, 0, 0)), Weight: 1, Seconds: 0.9},
		Right: ecs.Hand{Target: bar.Sub(m3.V(0.24, 0, 0)), Weight: 1, Seconds: 1},
	}
	*s.looks.Get(p.entity) = ecs.LookAt{Target: bar.Add(m3.V(0, 0, 1)), Weight: 0.8}
	return nil
}

// press sends a hand to a button, and the other one down.
func press(i int) func(*Scene, *person) error {
	return func(s *Scene, p *person) error {
		at := p.place(buttons[i])
		side := animsys.Left
		h := ecs.Hand{Target: at, Weight: 1, Seconds: 0.7}
		r := ecs.Reach{Left: h}
		if buttons[i].X < 0 {
			side, r = animsys.Right, ecs.Reach{Right: h}
		}
		if err := s.People.CanReach(p.entity, side, at, h.Seconds); err != nil {
			return err
		}
		*s.reach.Get(p.entity), *s.looks.Get(p.entity) = r, ecs.LookAt{Target: at, Weight: 1}
		return nil
	}
}

// still returns what stands around the person.
func (p *person) still() (all []hud.Block) {
	block := func(at m3.Vec3, width, depth, height float32, colour [3]float32) {
		all = append(all, hud.Block{At: p.place(at), Width: width, Depth: depth, Height: height, Colour: colour, Loose: true})
	}
	switch p.task.name {
	case "bench":
		block(m3.V(0, seatHigh, -benchBack-0.04), 1.2, 0.4, 0.06, wood)
		block(m3.V(0.5, seatHigh-0.06, -benchBack-0.04), 0.08, 0.34, seatHigh-0.06, metal)
		block(m3.V(-0.5, seatHigh-0.06, -benchBack-0.04), 0.08, 0.34, seatHigh-0.06, metal)
	case "stool":
		block(stoolAt, 0.3, 0.3, stoolHigh, wood)
		block(m3.V(0.16, 0.16, 0.36), 0.3, 0.12, 0.16, stone)
	case "bar":
		block(m3.V(0, barHigh+0.02, 0.22), 1.2, 0.04, 0.04, metal)
		for _, x := range []float32{-0.6, 0.6} {
			block(m3.V(x, barHigh+0.02, 0.22), 0.05, 0.05, barHigh+0.02, metal)
		}
	case "buttons":
		for _, b := range buttons {
			block(b.Add(m3.V(0, 0, 0.06)), 0.05, 0.05, b.Y, metal)
			block(b.Add(m3.V(0, 0.03, 0.02)), 0.06, 0.04, 0.06, red)
		}
	}
	return all
}

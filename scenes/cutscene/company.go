package cutscene

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/scenes"
	"mannequin/scenes/cutscene/script"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// company is the actors who share a model, in a world of their own: rows are in the
// order of actors.
type company struct {
	kind     script.Kind
	model    string
	world    arche.World
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
	actors   []*actor
	styles   []dressed // that people can have
	lacks    error     // why not those of ecs.GramStyle, which are of another model

	goals   generic.Map1[control.Goal]
	curves  generic.Map1[manifold.Curve]
	looks   generic.Map1[ecs.LookAt]
	reaches generic.Map1[ecs.Reach]
	mar     generic.Map1[ecs.MARStyle]
	gram    generic.Map1[ecs.GramStyle]
}

// engage finds everyone a company, and puts them where they begin.
func (s *Scene) engage(opt *Options) error {
	sc := opt.Script
	for i := range sc.Actors {
		a := newActor(sc, i, s.ticks)
		if a.Model == "" {
			if a.Model = opt.Dog; a.Kind == script.Person {
				a.Model = opt.Manifold
			}
		}
		k := slices.IndexFunc(s.companies, func(c *company) bool { return c.kind == a.Kind && c.model == a.Model })
		if k < 0 {
			k = len(s.companies)
			s.companies = append(s.companies, &company{kind: a.Kind, model: a.Model})
		}
		a.company = s.companies[k]
		a.company.actors = append(a.company.actors, a)
		s.actors = append(s.actors, a)
	}
	for _, c := range s.companies {
		if err := c.open(s, opt); err != nil {
			return sc.Errorf(c.actors[0].Line, "model %s: %w", c.model, err)
		}
		for _, a := range c.actors {
			if err := a.enter(s.Terrain); err != nil {
				return err
			}
		}
		var err error
		if c.schedule, err = ecs.NewSchedule(&c.world, 1.0/scenes.TickRate, animsys.Systems()...); err != nil {
			return err
		}
	}
	for _, a := range s.actors {
		if err := a.rehearse(s); err != nil {
			return err
		}
	}
	return nil
}

// open makes the company's world.
func (c *company) open(s *Scene, opt *Options) error {
	net, err := opt.Net(c.model)
	if err != nil {
		return err
	}
	c.world = arche.NewWorld()
	c.looks, c.reaches = generic.NewMap1[ecs.LookAt](&c.world), generic.NewMap1[ecs.Reach](&c.world)
	c.mar, c.gram = generic.NewMap1[ecs.MARStyle](&c.world), generic.NewMap1[ecs.GramStyle](&c.world)
	if c.kind == script.Dog {
		model, err := mann.NewModel(net)
		if err != nil {
			return err
		}
		dogs, err := model.NewController(mann.ControllerOptions{Capacity: len(c.actors), Workers: opt.Workers, BF16: opt.BF16, Open: opt.Open})
		if err != nil {
			return err
		}
		if c.crowd, err = animsys.NewCrowd(&c.world, dogs, animsys.Options{Ground: s.Terrain, Workers: opt.Workers}); err != nil {
			return errors.Join(err, dogs.Close())
		}
		c.goals = generic.NewMap1[control.Goal](&c.world)
		return c.spawn()
	}
	model, err := manifold.NewModel(net)
	if err != nil {
		return err
	}
	steps, err := opt.Net(opt.Footstep)
	if err != nil {
		return err
	}
	locomotion, err := opt.Net(opt.Locomotion)
	if err != nil {
		return err
	}
	people := animsys.Options{Ground: s.Terrain, Workers: opt.Workers}
	windows := manifold.StreamOptions{People: len(c.actors), Open: opt.Open, BF16: opt.BF16, Batch: len(c.actors)}
	if slices.ContainsFunc(c.actors, func(a *actor) bool { return len(a.styles) > 0 }) {
		if err := c.wardrobe(opt, model, &people, &windows); err != nil {
			return err
		}
	}
	stream, err := model.With(steps, locomotion).NewStream(windows)
	if err != nil {
		return err
	}
	if c.crowd, err = animsys.NewCrowd(&c.world, stream, people); err != nil {
		return errors.Join(err, stream.Close())
	}
	c.curves = generic.NewMap1[manifold.Curve](&c.world)
	return c.spawn()
}

// spawn puts the actors where they begin.
func (c *company) spawn() error {
	for _, a := range c.actors {
		var err error
		if a.entity, err = c.crowd.Spawn(a.At, a.Yaw); err != nil {
			return err
		}
		c.looks.Assign(a.entity, &ecs.LookAt{})
		if c.kind == script.Person {
			c.reaches.Assign(a.entity, &ecs.Reach{})
			c.mar.Assign(a.entity, &ecs.MARStyle{})
			c.gram.Assign(a.entity, &ecs.GramStyle{})
		}
	}
	return nil
}

// dressed is a style that someone can have.
type dressed struct {
	name  string
	gram  bool // by ecs.GramStyle, else by ecs.MARStyle
	index int  // among the method's
}

// wardrobe opens the styles that the actors ask for: the database, which takes longer,
// only where they ask for more than transfers.
func (c *company) wardrobe(opt *Options, model *manifold.Model, people *animsys.Options, windows *manifold.StreamOptions) error {
	if opt.Transfers != nil {
		ts, err := opt.Transfers()
		if err != nil {
			return err
		}
		windows.Styles, err = ts.For(model)
		if errors.Is(err, manifold.ErrOtherModel) { // the player's own; the database may have what is asked for
			c.lacks, err = err, nil
		}
		if err != nil {
			return err
		}
		for i, tr := range windows.Styles {
			c.styles = append(c.styles, dressed{tr.Name, true, i})
		}
	}
	more := slices.ContainsFunc(c.actors, func(a *actor) bool {
		return slices.ContainsFunc(a.styles, func(s script.Style) bool { _, err := c.style(s.Name); return err != nil })
	})
	if !more || opt.Styles == nil {
		return nil
	}
	db, err := opt.Styles()
	if err != nil || db == nil {
		return err
	}
	people.Styles, people.Known = db, db.InStyle("neutral")
	for i, name := range db.Styles {
		c.styles = append(c.styles, dressed{name, false, i})
	}
	return nil
}

// style returns the style of a name.
func (c *company) style(name string) (dressed, error) {
	var names []string
	for _, d := range c.styles {
		if d.name == name {
			return d, nil
		}
		names = append(names, d.name)
	}
	err := fmt.Errorf("no style %q: want one of %v", name, names)
	if c.lacks != nil {
		err = fmt.Errorf("%w; there are more, but %w", err, c.lacks)
	}
	return dressed{}, err
}

func (c *company) close() error {
	if c.schedule != nil {
		c.schedule.Close()
	}
	if c.crowd == nil {
		return nil
	}
	return c.crowd.Close()
}

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
	"mannequin/internal/closest"
	"mannequin/netruntime"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/world"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// group is the actors that share a model: rows are in the order of actors.
type group struct {
	kind   script.Kind
	model  string
	crowd  *animsys.Crowd
	actors []*actor
	styles []style // that people can have
	lacks  error   // why the styles of ecs.GramStyle are missing: they are of another model
}

// controls are the components of actors.
type controls struct {
	goals   generic.Map1[control.Goal]
	curves  generic.Map1[manifold.Curve]
	looks   generic.Map1[ecs.LookAt]
	reaches generic.Map1[ecs.Reach]
	mar     generic.Map1[ecs.MARStyle]
	gram    generic.Map1[ecs.GramStyle]
}

func newControls(w *arche.World) controls {
	return controls{
		generic.NewMap1[control.Goal](w), generic.NewMap1[manifold.Curve](w), generic.NewMap1[ecs.LookAt](w),
		generic.NewMap1[ecs.Reach](w), generic.NewMap1[ecs.MARStyle](w), generic.NewMap1[ecs.GramStyle](w),
	}
}

// build puts each actor into a group and at its first place.
func (s *Scene) build(opt *Options) error {
	sc := opt.Script
	for i := range sc.Actors {
		a := newActor(sc, i, s.ticks)
		if a.Model == "" {
			if a.Model = opt.Dog; a.Kind == script.Person {
				a.Model = opt.Manifold
			}
		}
		k := slices.IndexFunc(s.groups, func(g *group) bool { return g.kind == a.Kind && g.model == a.Model })
		if k < 0 {
			k = len(s.groups)
			s.groups = append(s.groups, &group{kind: a.Kind, model: a.Model})
		}
		a.group, a.controls = s.groups[k], &s.controls
		a.group.actors = append(a.group.actors, a)
		s.actors = append(s.actors, a)
	}
	for _, g := range s.groups {
		err := g.open(s, opt)
		if err == nil {
			err = g.spawn(&s.controls)
		}
		if err != nil {
			return sc.Errorf(g.actors[0].Line, "model %s: %w", g.model, err)
		}
	}
	for _, a := range s.actors {
		if err := a.enter(s.Terrain); err != nil {
			return err
		}
	}
	if err := s.Start(); err != nil {
		return err
	}
	for _, a := range s.actors {
		if err := a.resolve(s); err != nil {
			return err
		}
	}
	return nil
}

// open makes the group's crowd.
func (g *group) open(s *Scene, opt *Options) error {
	net, err := opt.Net(g.model)
	if err != nil {
		return err
	}
	var p *world.Population
	if g.kind == script.Dog {
		p, err = g.openDogs(s, opt, net)
	} else {
		p, err = g.openPeople(s, opt, net)
	}
	if err == nil {
		g.crowd = p.Crowd
	}
	return err
}

func (g *group) openDogs(s *Scene, opt *Options, net *netruntime.Net) (*world.Population, error) {
	model, err := mann.NewModel(net)
	if err != nil {
		return nil, err
	}
	dogs, err := model.NewController(mann.ControllerOptions{Capacity: len(g.actors), Workers: opt.Workers, BF16: opt.BF16, Open: opt.Open})
	if err != nil {
		return nil, err
	}
	return world.Add(&s.World, dogs, animsys.Options{}, nil, nil)
}

func (g *group) openPeople(s *Scene, opt *Options, net *netruntime.Net) (*world.Population, error) {
	steps, err := opt.Net(opt.Footstep)
	if err != nil {
		return nil, err
	}
	locomotion, err := opt.Net(opt.Locomotion)
	if err != nil {
		return nil, err
	}
	networks, err := manifold.NewNetworks(net, steps, locomotion)
	if err != nil {
		return nil, err
	}
	var people animsys.Options
	windows := manifold.StreamOptions{Capacity: len(g.actors), Open: opt.Open, BF16: opt.BF16, Batch: len(g.actors)}
	if slices.ContainsFunc(g.actors, func(a *actor) bool { return len(a.styles) > 0 }) {
		if err := g.openStyles(opt, networks.Model, &people, &windows); err != nil {
			return nil, err
		}
	}
	stream, err := networks.NewStream(windows)
	if err != nil {
		return nil, err
	}
	return world.Add(&s.World, stream, people, nil, nil)
}

// spawn puts the actors at their first places.
func (g *group) spawn(c *controls) error {
	for _, a := range g.actors {
		var err error
		if a.entity, err = g.crowd.Spawn(a.At, a.Yaw); err != nil {
			return err
		}
		c.looks.Assign(a.entity, &ecs.LookAt{})
		if g.kind == script.Person {
			c.reaches.Assign(a.entity, &ecs.Reach{})
			c.mar.Assign(a.entity, &ecs.MARStyle{})
			c.gram.Assign(a.entity, &ecs.GramStyle{})
		}
	}
	return nil
}

// style is a style that people can have.
type style struct {
	name  string
	gram  bool // of ecs.GramStyle, else of ecs.MARStyle
	index int  // among the method's
}

// openStyles opens the styles that the actors name. It opens the database, which takes longer, only
// if they name more than transfers.
func (g *group) openStyles(opt *Options, model *manifold.Model, people *animsys.Options, windows *manifold.StreamOptions) error {
	if opt.Transfers != nil {
		ts, err := opt.Transfers()
		if err != nil {
			return err
		}
		windows.Styles, err = ts.For(model)
		if errors.Is(err, manifold.ErrOtherModel) { // the player's own model; the database may have the styles
			g.lacks, err = err, nil
		}
		if err != nil {
			return err
		}
		for i, tr := range windows.Styles {
			g.styles = append(g.styles, style{tr.Name, true, i})
		}
	}
	more := slices.ContainsFunc(g.actors, func(a *actor) bool {
		return slices.ContainsFunc(a.styles, func(s script.Style) bool { _, err := g.style(s.Name); return err != nil })
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
		g.styles = append(g.styles, style{name, false, i})
	}
	return nil
}

// style returns the style of a name.
func (g *group) style(name string) (style, error) {
	var names []string
	for _, s := range g.styles {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	err := fmt.Errorf("no style %q: want one of %v%s", name, names, closest.Hint(name, names))
	if g.lacks != nil {
		err = fmt.Errorf("%w; there are more, but %w", err, g.lacks)
	}
	return style{}, err
}

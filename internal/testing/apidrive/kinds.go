package apidrive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/extreme"
	"mannequin/internal/testing/testgen"
	"mannequin/models"
	"mannequin/models/person"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// Kind is a generator that crowds are made of.
type Kind struct {
	Name string

	// open makes a crowd, and fails if the generator or the crowd cannot be made.
	open func(w *arche.World, capacity, workers int, opt animsys.Options) (*crowd, error)
}

// controls are what a driver does with the generator of a crowd and its components, without their types.
type controls struct {
	// spawn is animsys.SpawnWith, or Crowd.Spawn for the default. begins says that an agent can begin
	// with this control.
	spawn func(d *driver, pos m3.Vec3, yaw float32) (e arche.Entity, begins bool, err error)
	// begins reports whether an agent can begin with the component that e has, or with the default.
	begins func(e arche.Entity) bool
	// write changes e's component; free says that it may come and go, too.
	write func(d *driver, e arche.Entity, free bool)
	// again restores the saved rows into another generator, and plays them.
	again func(rows int) error
}

// of returns the kind of a generator. give makes a control, and begins reports whether an agent can
// begin with one; a nil control is the default.
func of[C any](name string, open func(capacity, workers int) (generator.Generator[C], error), give func(r *rand.Rand) C, begins func(*C) bool) *Kind {
	k := &Kind{Name: name}
	k.open = func(w *arche.World, capacity, workers int, opt animsys.Options) (*crowd, error) {
		g, err := open(capacity, workers)
		if err != nil {
			return nil, err
		}
		c, err := animsys.NewCrowd(w, g, opt)
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		components := generic.NewMap1[C](w)
		made := func(d *driver) (c C) {
			if c = give(d.Rand); d.once(3) {
				extreme.Made{}.FillFrom(reflect.ValueOf(&c).Elem(), d.number)
			}
			return c
		}
		return &crowd{Crowd: c, kind: k, agents: map[arche.Entity]bool{}, legged: c.Ground, inertial: *c.Inertial, controls: controls{
			spawn: func(d *driver, pos m3.Vec3, yaw float32) (arche.Entity, bool, error) {
				if d.once(2) {
					e, err := c.Spawn(pos, yaw)
					return e, begins(nil), err
				}
				control := made(d)
				e, err := animsys.SpawnWith(c, pos, yaw, control)
				return e, begins(&control), err
			},
			begins: func(e arche.Entity) bool { return begins(components.Get(e)) },
			write: func(d *driver, e arche.Entity, free bool) {
				has, control := components.Get(e), made(d)
				switch {
				case has != nil && free && d.once(8):
					components.Remove(e)
				case has != nil:
					*has = control
				case free:
					components.Assign(e, &control)
				}
			},
			again: func(rows int) error {
				var s generator.State
				for row := range rows {
					g.Save(&s, row)
				}
				other, err := open(capacity, 1)
				if err != nil {
					return err
				}
				defer other.Close()
				s.Rewind()
				for range rows {
					if _, err := other.Restore(&s); err != nil {
						return err
					}
				}
				p := testgen.Play(other, c.Skel.Len())
				for range 3 {
					if err := p.Tick(rows); err != nil {
						return err
					}
				}
				for row := range rows {
					pos, rot := p.Poses().Joints(row, c.Skel.Len())
					for j := range pos {
						if !pos[j].Finite() || !rot[j].Finite() {
							return fmt.Errorf("joint %d of a restored agent is at %v, turned by %v", j, pos[j], rot[j])
						}
					}
				}
				return nil
			},
		}}, nil
	}
	return k
}

// Shipped returns the kinds of all shipped models.
func Shipped() ([]*Kind, error) {
	o := opener{}
	dogs, dogs2, dogs4 := model(&o, mann.NewModel, "dog"), model(&o, mann.NewModel, "dog-stride2"), model(&o, mann.NewModel, "dog-stride4")
	clips, predictor, poses := model(&o, latent.NewModel, "human-latent"), model(&o, strnn.NewModel, "human-strnn"), model(&o, keypose.NewModel, "human-keypose")
	next, err := models.Open("human-next")
	o.fail(err)
	walkers, err := person.Open()
	o.fail(err)
	free, err := stylesfree.Open()
	o.fail(err)
	gram, err := stylesgram.Open()
	o.fail(err)
	if o.err != nil {
		return nil, o.err
	}
	styles, err := gram.For(walkers.Model)
	o.fail(err)
	author, err := routines.NewAuthor(poses.Layout, 1)
	o.fail(err)
	circle, err := control.Circle(5)
	o.fail(err)
	way, err := control.NewPath([]m3.Vec3{{}, m3.V(3, 0, 1), m3.V(-4, 0, 2)}, false)
	o.fail(err)
	if o.err != nil {
		return nil, o.err
	}
	paths := []*control.Path{circle, way, nil, {}}
	loops := []*keypose.PoseLoop{nil, {}}
	for _, name := range routines.Names() {
		loop, err := author.Write(name)
		o.fail(err)
		loops = append(loops, loop)
	}

	kinds := []*Kind{
		of("dogs", func(n, workers int) (generator.Generator[control.Goal], error) {
			return dogs.NewController(mann.ControllerOptions{Capacity: n, Workers: workers, LOD: []*mann.Model{dogs2, dogs4}})
		}, func(r *rand.Rand) control.Goal {
			return control.Goal{Move: m3.V(r.Float32()-0.5, 0, r.Float32()), Turn: 2*r.Float32() - 1, Speed: 4 * r.Float32(),
				Action: control.Action(r.IntN(int(control.NumActions) + 1)), Path: paths[r.IntN(len(paths))]}
		}, anyControl),
		of("people", func(n, workers int) (generator.Generator[manifold.Curve], error) {
			return walkers.NewStream(manifold.StreamOptions{Capacity: n, Workers: workers, Styles: styles})
		}, func(r *rand.Rand) manifold.Curve {
			return manifold.Curve{Path: paths[r.IntN(len(paths))], Start: 10 * r.Float32(), Speed: 3 * r.Float32(), Facing: r.Float32()}
		}, anyControl),
		of("sliders", func(n, workers int) (generator.Generator[latent.Sliders], error) {
			return clips.NewStream(next, latent.StreamOptions{Capacity: n, Workers: workers})
		}, func(r *rand.Rand) (s latent.Sliders) {
			s.Set(r.IntN(latent.MaxSliders+2)-1, float32(r.NormFloat64()))
			s.Release(r.IntN(latent.MaxSliders+2) - 1)
			return s
		}, anyControl),
		of("wanderers", func(n, workers int) (generator.Generator[strnn.Steer], error) {
			return predictor.NewStream(strnn.StreamOptions{Capacity: n, Workers: workers})
		}, func(r *rand.Rand) strnn.Steer {
			return strnn.Steer{Speed: 2 * r.Float32(), Turn: 2*r.Float32() - 1, Free: r.IntN(4) == 0}
		}, anyControl),
		of("performers", func(n, workers int) (generator.Generator[keypose.Performance], error) {
			return poses.NewStream(keypose.StreamOptions{Capacity: n, Workers: workers})
		}, func(r *rand.Rand) keypose.Performance {
			return keypose.Performance{Loop: loops[r.IntN(len(loops))], Speed: 3 * r.Float32(), Start: 9 * r.Float64()}
		}, func(p *keypose.Performance) bool {
			return p != nil && p.Loop != nil && p.Loop != loops[1] && p.Start >= 0 && p.Start <= 1e6
		}),
	}
	styled := *kinds[1]
	styled.Name = "styled people"
	styled.open = func(w *arche.World, capacity, workers int, opt animsys.Options) (*crowd, error) {
		opt.Styles, opt.Known = free, free.InStyle("neutral")
		return kinds[1].open(w, capacity, workers, opt)
	}
	return append(kinds, &styled), o.err
}

func anyControl[C any](*C) bool { return true }

// opener opens models, and keeps the first error.
type opener struct{ err error }

func (o *opener) fail(err error) { o.err = errors.Join(o.err, err) }

func model[M any](o *opener, make func(*netruntime.Net) (M, error), name string) M {
	m, err := models.OpenAs(name, make)
	o.fail(err)
	return m
}

package open

import (
	"cmp"
	"errors"
	"fmt"

	"mannequin/animsys/keypose"
	latentmodel "mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/animsys/skel"
	predictor "mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/course"
	"mannequin/scenes/crowd"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/herd"
	"mannequin/scenes/interact"
	"mannequin/scenes/latent"
	"mannequin/scenes/people"
	"mannequin/scenes/person"
	"mannequin/scenes/play"
	"mannequin/scenes/quadruped"
	"mannequin/scenes/strnn"
	"mannequin/scenes/world"
)

// Scene loads the setup's networks and builds its scene. player is the input of a recording that
// nobody plays.
func Scene(s Setup, r Resources) (scene scenes.Scene, player scenes.Script, err error) {
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	o := opener{Setup: &s, Resources: &r}
	o.options = world.Options{
		Agents: s.Agents, Seed: s.Seed, Workers: r.Workers, BF16: s.BF16, Open: r.Open, Nearest: r.Nearest, Log: r.Log, NoAvoidance: s.NoAvoidance,
	}
	if s.Scene != "cutscene" { // its script has the ground
		if o.options.Terrain, err = s.ground(); err != nil {
			return nil, nil, err
		}
	}
	var build func() (scenes.Scene, error)
	switch s.Scene {
	case "people":
		build = o.people()
	case "strnn":
		build = with(strnn.New, strnn.Options{Options: o.options, Model: load(&o, s.STRNN, predictor.NewModel)})
	case "latent":
		build = o.latent()
		player = latent.Autopilot()
	case "course":
		near, far := o.dogs()
		build = with(course.New, course.Options{Options: o.options, Dog: near, Far: far, People: load(&o, s.STRNN, predictor.NewModel)})
		player = course.Autopilot()
	case "interact":
		build = with(interact.New, interact.Options{Options: o.options, Networks: o.networks(), Poses: load(&o, s.Keypose, keypose.NewModel)})
	case "crowd":
		build = o.crowd()
	case "herd":
		build = o.herd()
	case "cutscene":
		build = o.cutscene()
	case "person":
		opt := person.Options{Options: o.options, Character: o.character()}
		if r.Styles != nil {
			opt.Styles = get(&o, r.Styles)
		}
		if r.Transfers != nil {
			opt.Transfers = get(&o, get(&o, r.Transfers).ForPoses)
		}
		build = with(person.New, opt)
		player = person.Autopilot()
	case "play":
		build = with(play.New, play.Options{Options: o.options, Character: o.character()})
		player = play.Autopilot()
	default:
		near, far := o.dogs()
		build = with(quadruped.New, quadruped.Options{Options: o.options, Model: near, Far: far})
		player = quadruped.Autopilot()
	}
	if o.err != nil {
		return nil, nil, o.err
	}
	if scene, err = build(); err != nil {
		return nil, nil, err
	}
	return scene, player, nil
}

// with returns a function that builds a scene with opt.
func with[O any, S scenes.Scene](build func(opt O) (S, error), opt O) func() (scenes.Scene, error) {
	return func() (scenes.Scene, error) { return build(opt) }
}

// opener loads what scenes need. After the first error it loads nothing more.
type opener struct {
	*Setup
	*Resources
	options world.Options
	err     error
}

// get returns the result of load.
func get[T any](o *opener, load func() (T, error)) (out T) {
	if o.err == nil {
		out, o.err = load()
	}
	return out
}

// net opens a network.
func (o *opener) net(name string) *netruntime.Net {
	return get(o, func() (*netruntime.Net, error) { return o.Net(name) })
}

// load opens a network and makes a model of it.
func load[M any](o *opener, name string, make func(*netruntime.Net) (M, error)) M {
	net := o.net(name)
	return get(o, func() (M, error) {
		m, err := make(net)
		if err != nil {
			err = fmt.Errorf("model %s: %w", name, err)
		}
		return m, err
	})
}

// dogs opens the networks of dogs.
func (o *opener) dogs() (near *mann.Model, far []*mann.Model) {
	near = load(o, o.Model, mann.NewModel)
	for _, name := range o.Far {
		far = append(far, load(o, name, mann.NewModel))
	}
	return near, far
}

// networks opens the networks of people on lanes.
func (o *opener) networks() *manifold.Networks {
	space := load(o, o.Manifold, manifold.NewModel)
	footsteps, locomotion := o.net(o.Footstep), o.net(o.Locomotion)
	return get(o, func() (*manifold.Networks, error) { return space.With(footsteps, locomotion), nil })
}

// styles opens the styles for people on lanes.
func (o *opener) styles(of *manifold.Networks) (db *mar.Database, all []*manifold.StyleTransfer) {
	if o.Styles != nil {
		db = get(o, o.Styles)
	}
	if o.Transfers == nil {
		return db, nil
	}
	set := get(o, o.Transfers)
	all = get(o, func() ([]*manifold.StyleTransfer, error) { return set.For(of.Model) })
	if errors.Is(o.err, manifold.ErrOtherModel) { // the player's own manifold, which can do without
		if o.Log != nil {
			o.Log.Warn("people get no styles by Gram matrices", "why", o.err)
		}
		o.err = nil
	}
	return db, all
}

func (o *opener) crowd() func() (scenes.Scene, error) {
	opt := crowd.Options{Options: o.options, Churn: o.Churn}
	if o.HasKind("dogs") {
		opt.Dog, opt.Far = o.dogs()
	}
	if o.HasKind("sliders") {
		opt.Latent, opt.Next = load(o, o.Latent, latentmodel.NewModel), o.net(o.Next)
	}
	if o.HasKind("lanes") {
		opt.People = o.networks()
	}
	if o.HasKind("styles") {
		opt.Styles, opt.Transfers = o.styles(opt.People)
	}
	if o.HasKind("predicted") {
		opt.STRNN = load(o, o.STRNN, predictor.NewModel)
	}
	if o.HasKind("performing") {
		opt.Keypose = load(o, o.Keypose, keypose.NewModel)
	}
	if o.Setup.Character != "" {
		opt.Character = o.character()
	}
	if opt.Beyond = o.GPUBeyond; o.GPUBeyond > 0 && o.err == nil {
		opt.GPU = o.gpu(opt.Character.Character().Skel)
	}
	return with(crowd.New, opt)
}

func (o *opener) herd() func() (scenes.Scene, error) {
	near, far := o.dogs()
	opt := herd.Options{Options: o.options, Model: near, Far: far, Beyond: o.GPUBeyond}
	if o.GPUBeyond > 0 && o.err == nil {
		opt.GPU = o.gpu(near.Skel)
	}
	return with(herd.New, opt)
}

// gpu says where agents of a skeleton live that are far away; nil: on the processor.
func (o *opener) gpu(of *skel.Skeleton) *resident.Options {
	var gpu resident.Options
	var err error
	if o.GPU != nil {
		gpu, err = o.GPU(of)
	}
	if err != nil {
		if o.Log != nil {
			o.Log.Warn("no GPU for those far away: they stay on the processor", "why", err)
		}
		return nil
	}
	gpu.Log = o.Log
	return &gpu
}

func (o *opener) people() func() (scenes.Scene, error) {
	opt := people.Options{Options: o.options, Styled: o.Styled, Networks: o.networks()}
	if o.Styled > 0 {
		opt.Styles, opt.Transfers = o.styles(opt.Networks)
	}
	return with(people.New, opt)
}

func (o *opener) latent() func() (scenes.Scene, error) {
	opt := latent.Options{Options: o.options, Model: load(o, o.Latent, latentmodel.NewModel)}
	if o.Agents == 0 {
		return with(latent.New, opt)
	}
	opt.Next = o.net(o.Next)
	return func() (scenes.Scene, error) {
		scene, err := latent.New(opt)
		if err != nil {
			err = fmt.Errorf("--latent %s with --next %s: %w", o.Latent, o.Next, err)
		}
		return scene, err
	}
}

// character opens the file of a character.
func (o *opener) character() *matching.File {
	return get(o, func() (*matching.File, error) {
		if o.Resources.Character == nil {
			return nil, errors.New("the scene has a character, and this program opens none")
		}
		name := o.Setup.Character
		if o.Scene == "person" {
			name = cmp.Or(name, "hero")
		}
		return o.Resources.Character(name)
	})
}

func (o *opener) cutscene() func() (scenes.Scene, error) {
	read := o.Resources.Script
	if read == nil {
		read = cutscene.Open
	}
	opt := cutscene.Options{Options: o.options, Net: o.Net, Styles: o.Styles, Transfers: o.Transfers,
		Dog: o.Model, Manifold: o.Manifold, Footstep: o.Footstep, Locomotion: o.Locomotion}
	opt.Script, o.err = read(o.Setup.Script)
	return with(cutscene.New, opt)
}

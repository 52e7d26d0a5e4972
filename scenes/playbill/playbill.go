// Package playbill opens scenes by name: a Setup says all that a scene begins with, so
// that the same one can be opened again.
package playbill

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/keypose"
	latentmodel "mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	predictor "mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/crowd"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/herd"
	"mannequin/scenes/latent"
	"mannequin/scenes/people"
	"mannequin/scenes/quadruped"
	"mannequin/scenes/strnn"
	"mannequin/terrain"
)

// Scenes are the names of all scenes.
var Scenes = []string{"quadruped", "crowd", "herd", "people", "latent", "strnn", "cutscene"}

// Kinds are who there is in the crowd: dogs, people by generator, and styles for those on
// lanes.
var Kinds = []string{"dogs", "sliders", "lanes", "styles", "predicted", "performing"}

// Setup says what a scene begins with. Fields that the scene does not read change
// nothing. Names of networks are those that Means.Net takes.
type Setup struct {
	Scene   string   `json:"scene"`
	Agents  int      `json:"agents"`           // dogs in the herd, or people; latent: who walk about besides
	Styled  int      `json:"styled,omitempty"` // of the people, how many move in a style each
	Churn   float32  `json:"churn,omitempty"`  // crowd: how many come, and how many go, per second
	Kinds   []string `json:"kinds,omitempty"`  // crowd: who comes, of Kinds; none: all of them
	Terrain string   `json:"terrain"`          // hills, flat, slope, steps, or a number: hills from that seed
	Seed    uint64   `json:"seed"`             // of the hills and of everyone's wishes
	BF16    bool     `json:"bf16"`             // networks in bfloat16 where the processor has it
	Script  string   `json:"script"`           // of a cutscene: a shipped one's name, or a file

	Model      string   `json:"model"` // the dogs'
	Far        []string `json:"far"`   // of dogs far away, that go by more ticks at a time
	Manifold   string   `json:"manifold"`
	Footstep   string   `json:"footstep"`
	Locomotion string   `json:"locomotion"`
	Latent     string   `json:"latent"`
	Next       string   `json:"next"`
	STRNN      string   `json:"strnn"`
	Keypose    string   `json:"keypose"`
}

// Default returns the setup of a scene with the shipped networks.
func Default(scene string) Setup {
	s := Setup{
		Scene: scene, Agents: 50, Terrain: "hills", Seed: 1, Model: "dog", Far: FarOf("dog"), Manifold: "human", Footstep: "human-footstep", Locomotion: "human-locomotion",
		Latent: "human-latent", Next: "human-next", STRNN: "human-strnn", Keypose: "human-keypose",
	}
	if scene == "crowd" {
		s.Agents, s.BF16 = 100, true
	}
	if scene == "cutscene" {
		s.Script = cutscene.Shipped()[0]
	}
	if scene == "latent" { // steps are seen best on flat ground
		s.Agents, s.Terrain = 0, "flat"
	}
	return s
}

// FarOf returns the shipped networks that stand in for a shipped one far away.
func FarOf(model string) []string {
	switch model {
	case "dog", "dog-free":
		return []string{model + "-stride2", model + "-stride4"}
	}
	return nil
}

// Means is what a scene is opened with besides its setup: nothing of it changes what
// happens in the scene.
type Means struct {
	Net     func(name string) (*netruntime.Net, error) // opens a network; required
	Script  func(name string) (*script.Script, error)  // opens the script of a cutscene; nil is cutscene.Open
	Open    netruntime.Opener                          // what computes networks; nil is the processor
	Workers int                                        // goroutines; 0 means one per CPU
	Log     *slog.Logger                               // told what a player should know; nil: nobody

	// Styles opens the database of styles of ecs.MAR, Transfers the styles of ecs.Gram;
	// either is required for Setup.Styled, and the one that has them for scripts with
	// styles. nil: there are none.
	Styles    func() (*mar.Database, error)
	Transfers func() (*manifold.Transfers, error)
}

// Check returns what is wrong with the setup.
func (s *Setup) Check() error {
	names := strings.Join(Scenes[:len(Scenes)-1], ", ") + " or " + Scenes[len(Scenes)-1]
	switch {
	case !slices.Contains(Scenes, s.Scene):
		return fmt.Errorf("no scene %q: want %s", s.Scene, names)
	case s.Agents < 0 || s.Agents > herd.MaxAgents:
		return fmt.Errorf("--agents %d: want 0 to %d", s.Agents, herd.MaxAgents)
	case s.Scene != "quadruped" && s.Scene != "latent" && s.Scene != "cutscene" && s.Agents == 0:
		return fmt.Errorf("--agents 0: the scene %s wants 1 to %d", s.Scene, herd.MaxAgents)
	case len(s.Far) > 2:
		return fmt.Errorf("--far names %d networks: want one that goes by 2 ticks, and one by 4", len(s.Far))
	case !(s.Churn >= 0 && s.Churn <= 1000) || s.Churn > 0 && s.Scene != "crowd":
		return fmt.Errorf("--churn %g: want 0, or in the scene crowd up to 1000", s.Churn)
	case len(s.Kinds) > 0 && s.Scene != "crowd":
		return fmt.Errorf("--kinds %s: only the scene crowd has kinds", strings.Join(s.Kinds, ","))
	case slices.Contains(s.Kinds, "styles") && !slices.Contains(s.Kinds, "lanes"):
		return fmt.Errorf("--kinds %s: styles are for who is on lanes: add lanes", strings.Join(s.Kinds, ","))
	case s.Styled < 0 || s.Styled > 0 && (s.Scene != "people" || s.Styled > s.Agents):
		return fmt.Errorf("--styled %d: want 0, or in the scene people up to as many as there are", s.Styled)
	}
	for _, k := range s.Kinds {
		if !slices.Contains(Kinds, k) {
			return fmt.Errorf("--kinds %s: want some of %s", k, strings.Join(Kinds, ", "))
		}
	}
	_, err := s.hills()
	return err
}

// Comes reports whether a kind of a crowd does.
func (s *Setup) Comes(kind string) bool { return len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind) }

// hills returns the seed of the hills, where the terrain is that.
func (s *Setup) hills() (uint64, error) {
	switch s.Terrain {
	case "hills", "flat", "slope", "steps":
		return s.Seed, nil
	}
	n, err := strconv.ParseUint(s.Terrain, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("no terrain %q: want hills, flat, slope, steps or a number", s.Terrain)
	}
	return n, nil
}

// ground makes the terrain.
func (s *Setup) ground() (*terrain.Field, error) {
	size := herd.GroundSize(s.Agents)
	switch s.Scene {
	case "crowd":
		return s.hillsFor(terrain.Grid{Size: crowd.GroundSize(s.Agents), Cell: 0.5}, 16, 0.2)
	case "people":
		size = people.GroundSize(s.Agents)
	case "strnn":
		size = strnn.GroundSize(s.Agents)
	}
	return s.hillsFor(terrain.Grid{Size: max(120, size), Cell: 0.5}, 14, 0.30)
}

// hillsFor makes the terrain on a grid, where it is hills of so many metres and slopes of so
// many radians at most.
func (s *Setup) hillsFor(grid terrain.Grid, wavelength, slope float32) (*terrain.Field, error) {
	switch s.Terrain {
	case "flat":
		return terrain.Flat(grid)
	case "slope":
		return terrain.Slope(grid, 0.17, 0)
	case "steps":
		grid.Cell = terrain.StairCell
		return terrain.Steps(grid, 0.12, 1.5)
	}
	seed, err := s.hills()
	if err != nil {
		return nil, err
	}
	return terrain.Hills(grid, terrain.HillsOptions{Seed: seed, Wavelength: wavelength, MaxSlope: slope})
}

// Open loads what the scene needs and builds it. player says what someone who is not
// there would do.
func Open(s Setup, m Means) (scene scenes.Scene, player scenes.Script, err error) {
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if s.Scene == "cutscene" { // its script says on what ground
		scene, err = s.cutscene(&m)
		return scene, nil, err
	}
	field, err := s.ground()
	if err != nil {
		return nil, nil, err
	}
	switch s.Scene {
	case "people":
		scene, err = s.people(&m, field)
	case "strnn":
		scene, err = s.strnn(&m, field)
	case "latent":
		scene, err = s.latent(&m, field)
		player = latent.Autopilot()
	case "crowd":
		scene, err = s.crowd(&m, field)
	case "herd":
		scene, err = s.herd(&m, field)
	default:
		scene, err = s.quadruped(&m, field)
		player = quadruped.Autopilot()
	}
	if err != nil {
		return nil, nil, err
	}
	return scene, player, nil
}

// model opens a network as what make makes of it.
func model[M any](m *Means, name string, make func(*netruntime.Net) (M, error)) (out M, err error) {
	net, err := m.Net(name)
	if err != nil {
		return out, err
	}
	if out, err = make(net); err != nil {
		return out, fmt.Errorf("model %s: %w", name, err)
	}
	return out, nil
}

// dogs opens the networks of dogs.
func (s *Setup) dogs(m *Means) (near *mann.Model, far []*mann.Model, err error) {
	if near, err = model(m, s.Model, mann.NewModel); err != nil {
		return nil, nil, err
	}
	for _, name := range s.Far {
		f, err := model(m, name, mann.NewModel)
		if err != nil {
			return nil, nil, err
		}
		far = append(far, f)
	}
	return near, far, nil
}

// styles opens the styles that there are for people on a manifold.
func (m *Means) styles(model *manifold.Model) (db *mar.Database, all []*manifold.Transfer, err error) {
	if m.Styles != nil {
		if db, err = m.Styles(); err != nil {
			return nil, nil, err
		}
	}
	if m.Transfers == nil {
		return db, nil, nil
	}
	ts, err := m.Transfers()
	if err != nil {
		return nil, nil, err
	}
	all, err = ts.For(model)
	if errors.Is(err, manifold.ErrOtherModel) { // the player's own, who can do without
		if m.Log != nil {
			m.Log.Warn("people get no styles by Gram matrices", "why", err)
		}
		return db, nil, nil
	}
	return db, all, err
}

func (s *Setup) quadruped(m *Means, field *terrain.Field) (scenes.Scene, error) {
	dog, far, err := s.dogs(m)
	if err != nil {
		return nil, err
	}
	return quadruped.New(quadruped.Options{Model: dog, Far: far, Herd: s.Agents, Terrain: field, Seed: s.Seed, Workers: m.Workers, BF16: s.BF16, Open: m.Open, Log: m.Log})
}

func (s *Setup) crowd(m *Means, field *terrain.Field) (scenes.Scene, error) {
	opt := crowd.Options{Agents: s.Agents, Terrain: field, Seed: s.Seed, Churn: s.Churn, Workers: m.Workers, BF16: s.BF16, Open: m.Open}
	var err error
	if s.Comes("dogs") {
		if opt.Dog, opt.Far, err = s.dogs(m); err != nil {
			return nil, err
		}
	}
	if s.Comes("sliders") {
		if opt.Latent, err = model(m, s.Latent, latentmodel.New); err != nil {
			return nil, err
		}
		if opt.Next, err = m.Net(s.Next); err != nil {
			return nil, err
		}
	}
	if s.Comes("lanes") {
		if opt.People, err = s.networks(m); err != nil {
			return nil, err
		}
	}
	if s.Comes("styles") {
		if opt.Styles, opt.Transfers, err = m.styles(opt.People.Model); err != nil {
			return nil, err
		}
	}
	if s.Comes("predicted") {
		if opt.STRNN, err = model(m, s.STRNN, predictor.New); err != nil {
			return nil, err
		}
	}
	if s.Comes("performing") {
		if opt.Keypose, err = model(m, s.Keypose, keypose.New); err != nil {
			return nil, err
		}
	}
	return crowd.New(opt)
}

func (s *Setup) herd(m *Means, field *terrain.Field) (scenes.Scene, error) {
	dog, far, err := s.dogs(m)
	if err != nil {
		return nil, err
	}
	return herd.New(herd.Options{Model: dog, Far: far, Agents: s.Agents, Terrain: field, Seed: s.Seed, Workers: m.Workers, BF16: s.BF16, Open: m.Open, Log: m.Log})
}

// networks opens those of people along curves.
func (s *Setup) networks(m *Means) (*manifold.Networks, error) {
	space, err := model(m, s.Manifold, manifold.NewModel)
	if err != nil {
		return nil, err
	}
	footsteps, err := m.Net(s.Footstep)
	if err != nil {
		return nil, err
	}
	locomotion, err := m.Net(s.Locomotion)
	if err != nil {
		return nil, err
	}
	return space.With(footsteps, locomotion), nil
}

func (s *Setup) people(m *Means, field *terrain.Field) (scenes.Scene, error) {
	opt := people.Options{Agents: s.Agents, Terrain: field, Seed: s.Seed, Workers: m.Workers, BF16: s.BF16, Open: m.Open, Styled: s.Styled}
	var err error
	if opt.Networks, err = s.networks(m); err != nil {
		return nil, err
	}
	if s.Styled > 0 {
		if opt.Styles, opt.Transfers, err = m.styles(opt.Networks.Model); err != nil {
			return nil, err
		}
	}
	return people.New(opt)
}

func (s *Setup) cutscene(m *Means) (scenes.Scene, error) {
	open := m.Script
	if open == nil {
		open = cutscene.Open
	}
	sc, err := open(s.Script)
	if err != nil {
		return nil, err
	}
	scene, err := cutscene.New(cutscene.Options{Script: sc, Net: m.Net, Styles: m.Styles, Transfers: m.Transfers, Dog: s.Model, Manifold: s.Manifold, Footstep: s.Footstep, Locomotion: s.Locomotion,
		Workers: m.Workers, Open: m.Open, BF16: s.BF16})
	if err != nil {
		return nil, err // and no scene, which a nil one would be
	}
	return scene, nil
}

func (s *Setup) strnn(m *Means, field *terrain.Field) (scenes.Scene, error) {
	net, err := model(m, s.STRNN, predictor.New)
	if err != nil {
		return nil, err
	}
	return strnn.New(strnn.Options{Model: net, Agents: s.Agents, Terrain: field, Seed: s.Seed, Workers: m.Workers, Stream: predictor.StreamOptions{BF16: s.BF16, Open: m.Open}})
}

func (s *Setup) latent(m *Means, field *terrain.Field) (scenes.Scene, error) {
	net, err := model(m, s.Latent, latentmodel.New)
	if err != nil {
		return nil, err
	}
	opt := latent.Options{Model: net, Agents: s.Agents, Terrain: field, Seed: s.Seed, Workers: m.Workers, BF16: s.BF16, Open: m.Open}
	if s.Agents == 0 {
		return latent.New(opt)
	}
	if opt.Next, err = m.Net(s.Next); err != nil {
		return nil, err
	}
	scene, err := latent.New(opt)
	if err != nil {
		return nil, fmt.Errorf("--latent %s with --next %s: %w", s.Latent, s.Next, err)
	}
	return scene, nil
}

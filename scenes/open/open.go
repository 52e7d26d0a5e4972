// Package open opens scenes by name. A Setup is all that a scene begins with, so
// that the same one can be opened again.
package open

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/animsys/skel"
	"mannequin/netruntime"
	"mannequin/scenes/crowd"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/herd"
	"mannequin/scenes/people"
	"mannequin/scenes/strnn"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

// Names lists all scenes.
var Names = []string{"quadruped", "person", "course", "crowd", "herd", "people", "latent", "strnn", "interact", "cutscene", "play"}

// Kinds lists the kinds of agents in the scene crowd: dogs, people by generator, and styles for
// the people on lanes.
var Kinds = []string{"dogs", "sliders", "lanes", "styles", "predicted", "performing"}

// Setup is what a scene begins with. Fields that the scene does not read change nothing. Names of
// networks are names that Resources.Net takes.
type Setup struct {
	Scene   string   `json:"scene"`
	Agents  int      `json:"agents"`           // dogs in the herd, or people; latent: other people
	Styled  int      `json:"styled,omitempty"` // number of people with a style
	Churn   float32  `json:"churn,omitempty"`  // crowd: agents added, and as many removed, per second
	Kinds   []string `json:"kinds,omitempty"`  // crowd: some of Kinds; none is all of them
	Terrain string   `json:"terrain"`          // hills, flat, slope, steps, or a number: hills from that seed
	Seed    uint64   `json:"seed"`             // of the hills and of the agents' steering
	BF16    bool     `json:"bf16"`             // networks in bfloat16 if the processor has it
	Script  string   `json:"script"`           // cutscene: a shipped script's name, or a file

	Character string `json:"character,omitempty"` // play, person, crowd: what Resources.Character takes, usually a file

	Model      string   `json:"model"` // of dogs
	Far        []string `json:"far"`   // of distant dogs, with longer strides
	Manifold   string   `json:"manifold"`
	Footstep   string   `json:"footstep"`
	Locomotion string   `json:"locomotion"`
	Latent     string   `json:"latent"`
	Next       string   `json:"next"`
	STRNN      string   `json:"strnn"`
	Keypose    string   `json:"keypose"`

	// GPUBeyond is the distance from the camera from which on dogs of the herd, or those of Character in the crowd, live on a GPU, m; 0: none does. Tapes know none: what a GPU
	// computes differs from the processor's in the last bits.
	GPUBeyond float32 `json:"-"`

	// NoAvoidance is world.Options.NoAvoidance. A tape says it by its version of the steering.
	NoAvoidance bool `json:"-"`
}

// Steering returns the version of the scene's steering: in a tape with another one agents move
// otherwise. The newest version of each scene steers by control.Avoidance, except people, who keep
// their distance on lanes. Version 1 of people has no avoidance.
func (s *Setup) Steering() int {
	switch {
	case s.Scene == "strnn", s.Scene == "latent" && s.Agents > 0:
		return 3
	case s.Scene == "crowd", s.Scene == "herd", s.Scene == "quadruped" && s.Agents > 0, s.Scene == "latent", s.Scene == "people" && !s.NoAvoidance:
		return 2
	}
	return 1
}

// SetSteering makes the scene steer as in a version. It returns an error if it no longer can.
func (s *Setup) SetSteering(version int) error {
	s.NoAvoidance = version == 1 && s.Scene == "people"
	if now := s.Steering(); now != version {
		return fmt.Errorf("the scene %s was recorded with version %d of its steering, this program has version %d: "+
			"play the tape with the program that recorded it", s.Scene, version, now)
	}
	return nil
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
	if scene == "course" {
		s.Agents, s.Terrain = 3, "flat"
	}
	if scene == "interact" {
		s.Agents, s.Terrain = 5, "flat"
	}
	if scene == "person" {
		s.Agents, s.Terrain = 12, "flat"
	}
	if scene == "play" {
		s.Agents, s.Terrain = 0, "flat"
	}
	if scene == "cutscene" {
		s.Script = cutscene.Shipped()[0]
	}
	if scene == "latent" { // steps are seen best on flat ground
		s.Agents, s.Terrain = 0, "flat"
	}
	return s
}

// FarOf returns the shipped networks with longer strides that go with a shipped one.
func FarOf(model string) []string {
	switch model {
	case "dog", "dog-free":
		return []string{model + "-stride2", model + "-stride4"}
	}
	return nil
}

// Resources are what a scene is opened with besides its setup. They do not change what happens in
// the scene.
type Resources struct {
	Net    func(name string) (*netruntime.Net, error) // opens a network; required
	Script func(name string) (*script.Script, error)  // opens a cutscene's script; nil is cutscene.Open
	// Character opens the file of a character; an empty name, of the scene play, is one that needs no file. The scenes play and person
	// require it.
	Character func(name string) (*matching.File, error)

	// GPU says where agents of a skeleton live that are far from the camera, and what draws them from there. An error is why they have no
	// GPU: then they stay on the processor. nil: they live on any GPU, and their bones are read back.
	GPU func(of *skel.Skeleton) (resident.Options, error)

	Open    netruntime.Opener        // device for the networks; nil is the processor
	Nearest netruntime.NearestOpener // device that searches recordings; nil is the processor
	Workers int                      // goroutines; 0 is one per CPU
	Log     *slog.Logger             // warnings for the player; nil drops them

	// Styles opens the database of ecs.MARStyle, Transfers the styles of ecs.GramStyle; nil: there
	// are none. Setup.Styled requires one of them, a script the one that has its styles.
	Styles    func() (*mar.Database, error)
	Transfers func() (*manifold.StyleSet, error)
}

// Check returns the first error in the setup.
func (s *Setup) Check() error {
	names := strings.Join(Names[:len(Names)-1], ", ") + " or " + Names[len(Names)-1]
	switch {
	case !slices.Contains(Names, s.Scene):
		return fmt.Errorf("no scene %q: want %s", s.Scene, names)
	case s.Agents < 0 || s.Agents > world.MaxAgents:
		return fmt.Errorf("--agents %d: want 0 to %d", s.Agents, world.MaxAgents)
	case s.Scene == "play" && s.Agents > 0:
		return fmt.Errorf("--agents %d: in the scene play the character is alone", s.Agents)
	case s.Scene != "play" && s.Scene != "person" && s.Scene != "crowd" && s.Character != "":
		return fmt.Errorf("--character %s: the scenes play, person and crowd have one", s.Character)
	case s.Scene != "quadruped" && s.Scene != "latent" && s.Scene != "cutscene" && s.Scene != "play" && s.Agents == 0:
		return fmt.Errorf("--agents 0: the scene %s wants 1 to %d", s.Scene, world.MaxAgents)
	case (s.Scene == "course" || s.Scene == "person") && s.Terrain != Default(s.Scene).Terrain:
		return fmt.Errorf("--terrain %s: the scene %s has a ground of its own", s.Terrain, s.Scene)
	case len(s.Far) > 2:
		return fmt.Errorf("--far names %d networks: want one with a stride of 2 ticks, and one of 4", len(s.Far))
	case !(s.GPUBeyond >= 0 && s.GPUBeyond <= 1000):
		return fmt.Errorf("--gpu-beyond %g: want 0 to 1000 m", s.GPUBeyond)
	case s.GPUBeyond > 0 && s.Scene != "herd" && (s.Scene != "crowd" || s.Character == ""):
		return fmt.Errorf("--gpu-beyond %g: the dogs of the scene herd go to the GPU, and in the scene crowd those of --character: add --scene herd, or --scene crowd --character hero", s.GPUBeyond)
	case !(s.Churn >= 0 && s.Churn <= 1000) || s.Churn > 0 && s.Scene != "crowd":
		return fmt.Errorf("--churn %g: want 0, or in the scene crowd up to 1000", s.Churn)
	case len(s.Kinds) > 0 && s.Scene != "crowd":
		return fmt.Errorf("--kinds %s: only the scene crowd has kinds", strings.Join(s.Kinds, ","))
	case slices.Contains(s.Kinds, "styles") && !slices.Contains(s.Kinds, "lanes"):
		return fmt.Errorf("--kinds %s: styles are for people on lanes: add lanes", strings.Join(s.Kinds, ","))
	case s.Styled < 0 || s.Styled > 0 && (s.Scene != "people" || s.Styled > s.Agents):
		return fmt.Errorf("--styled %d: want 0, or in the scene people up to --agents", s.Styled)
	}
	for _, k := range s.Kinds {
		if !slices.Contains(Kinds, k) {
			return fmt.Errorf("--kinds %s: want some of %s", k, strings.Join(Kinds, ", "))
		}
	}
	_, err := s.hills()
	return err
}

// HasKind reports whether the crowd has a kind of agents.
func (s *Setup) HasKind(kind string) bool { return len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind) }

// hills returns the seed of the hills.
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
	seed, err := s.hills()
	if err != nil {
		return nil, err
	}
	size, hills := max(120, herd.GroundSize(s.Agents)), terrain.HillsOptions{Seed: seed, Wavelength: 14, MaxSlope: 0.30}
	switch s.Scene {
	case "crowd":
		size, hills.Wavelength, hills.MaxSlope = crowd.GroundSize(s.Agents), 16, 0.2
	case "people":
		size = max(120, people.GroundSize(s.Agents))
	case "strnn":
		size = max(120, strnn.GroundSize(s.Agents))
	}
	return world.Ground(s.Terrain, terrain.Grid{Size: size, Cell: 0.5}, hills)
}

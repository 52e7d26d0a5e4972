package main

import (
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/scenes/open"
)

func TestParse(t *testing.T) {
	dog, people := defaults("quadruped"), defaults("people")
	dog.Agents, dog.Terrain, dog.Seed, dog.Model, dog.Far = 8, "steps", 7, "dog-free", open.FarOf("dog-free")
	people.Styled = 2
	small, large, alone := defaults("crowd"), defaults("crowd"), defaults("crowd")
	small.Agents, small.Kinds = 3, []string{"dogs", "sliders", "lanes"}
	large.Agents, alone.Agents, alone.Kinds = 50, 50, []string{"dogs", "predicted"}
	for fragment, want := range map[string]open.Setup{
		"": defaults("quadruped"), "#": defaults("quadruped"), "#scene=&agents=&terrain=&model=": defaults("quadruped"), "#scene=latent": defaults("latent"),
		"#scene=quadruped&agents=8&terrain=steps&seed=7&model=dog-free": dog, "#styled=2&scene=people": people,
		"#scene=crowd&agents=3": small, "#scene=crowd&agents=3&kinds=": small, "#scene=crowd&agents=50": large, "#scene=crowd&agents=50&kinds=dogs,predicted": alone,
	} {
		if got, err := parse(fragment); err != nil || !reflect.DeepEqual(got, address{want, "cpu"}) {
			t.Errorf("%q is %+v, %v; want %+v", fragment, got, err, want)
		}
	}
	if got, err := parse("#backend=webgpu"); err != nil || !reflect.DeepEqual(got, address{defaults("quadruped"), "webgpu"}) {
		t.Errorf("with a backend: %+v, %v", got, err)
	}
	for address, want := range map[string]string{
		"#scene=ballet": `no scene "ballet"`, "#scene=play": "play is not in the browser", "#agents=many": "agents=many: want a whole number", "#agents=-1": "agents -1: want", "#agents=99999": "99999",
		"#agnets=3": "agnets=3: want scene, agents", "#agents=1&agents=2": "agents 2 times", "#scene=%zz": "address", "#terrain=sea": "sea",
		"#backend=cuda": "want cpu or webgpu", "#scene=crowd&agents=0": "0", "#kinds=dogs": "only the scene crowd", "#scene=crowd&kinds=cats": "kinds cats: want some of dogs", "#seed=-1": "seed=-1",
	} {
		if _, err := parse(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", address, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("#scene=people&agents=3&terrain=flat&seed=2&styled=1&model=dog")
	f.Add("#scene=%zz&&=")
	f.Fuzz(func(t *testing.T, address string) {
		s, err := parse(address)
		if err == nil && s.Check() != nil {
			t.Errorf("%q gives a setup that is refused", address)
		}
	})
}

// Every scene has fewer characters than on the desktop, or as many.
func TestDefaults(t *testing.T) {
	for _, name := range names {
		s := defaults(name)
		if err := s.Check(); err != nil || s.Agents > open.Default(name).Agents {
			t.Errorf("%s has %d characters: %v", name, s.Agents, err)
		}
	}
}

func TestModelFile(t *testing.T) {
	if got, err := modelFile("dog-free", "safetensors"); err != nil || got != "models/dog-free.safetensors" {
		t.Errorf("dog-free lies at %q, %v", got, err)
	}
	for _, name := range []string{"", "../dog", "a/b", "dog.safetensors", "Dog", "https:"} {
		if got, err := modelFile(name, "character"); err == nil {
			t.Errorf("%q lies at %q", name, got)
		}
	}
}

// No weights are linked: the page fetches those of the scene.
func TestNoWeights(t *testing.T) {
	list := exec.Command("go", "list", "-deps", ".")
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out := must.Get(list.Output())(t)
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "mannequin/scenes/open") {
		t.Fatal("the scenes are not linked")
	}
	for _, d := range deps {
		if strings.HasPrefix(d, "mannequin/models") {
			t.Errorf("%s is linked", d)
		}
	}
}

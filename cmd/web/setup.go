// Command web plays scenes in a browser. Build it with make web, open it with mannequin serve.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mannequin/scenes/open"
)

// agents is the default number of agents in a browser, for scenes that differ from open.Default.
// WebAssembly has one thread and short vectors or none, so fewer agents keep up with 60 ticks per
// second.
var agents = map[string]int{"quadruped": 8, "crowd": 20, "herd": 20, "people": 8, "person": 6, "strnn": 12}

// names lists the scenes of a browser: characters that a player made are files.
var names = slices.DeleteFunc(slices.Clone(open.Names), func(name string) bool { return name == "play" })

// defaults returns the setup of a scene in a browser.
func defaults(scene string) open.Setup {
	s := open.Default(scene)
	if n, ok := agents[scene]; ok {
		s.Agents = n
	}
	return s
}

// A crowd of fewer agents than few leaves out some kinds: the weights of all kinds are 66 MB.
const few = 24

// kinds returns the default kinds of agents of a crowd in a browser; nil is all.
func kinds(agents int) []string {
	if agents < few {
		return []string{"dogs", "sliders", "lanes"}
	}
	return nil
}

// address is what an address asks for.
type address struct {
	open.Setup
	backend string // what computes the networks
}

// backends are what can compute the networks in a browser.
var backends = []string{"cpu", "webgpu"}

// keys are the keys of an address.
var keys = map[string]func(a *address, value string) error{
	"scene":   func(*address, string) error { return nil }, // read first
	"agents":  func(a *address, v string) (err error) { a.Agents, err = strconv.Atoi(v); return err },
	"styled":  func(a *address, v string) (err error) { a.Styled, err = strconv.Atoi(v); return err },
	"terrain": func(a *address, v string) error { a.Terrain = v; return nil },
	"kinds":   func(a *address, v string) error { a.Kinds = strings.Split(v, ","); return nil },
	"seed":    func(a *address, v string) (err error) { a.Seed, err = strconv.ParseUint(v, 10, 64); return err },
	"model":   func(a *address, v string) error { a.Model, a.Far = v, open.FarOf(v); return nil },
	"backend": func(a *address, v string) error { a.backend = v; return nil },
}

// parse reads the fragment of an address, such as scene=quadruped&agents=8. Missing keys have
// defaults.
func parse(fragment string) (address, error) {
	a := address{defaults(names[0]), backends[0]}
	values, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return a, fmt.Errorf("the address: %w", err)
	}
	scene := cmp.Or(values.Get("scene"), names[0])
	if slices.Contains(open.Names, scene) && !slices.Contains(names, scene) {
		return a, fmt.Errorf("the scene %s is not in the browser: want %s", scene, strings.Join(names, ", "))
	}
	a.Setup = defaults(scene)
	for key, v := range values {
		set, ok := keys[key]
		if !ok {
			return a, fmt.Errorf("the address has %s=%s: want scene, agents, kinds, terrain, seed, model, styled or backend", key, v[0])
		}
		if len(v) > 1 {
			return a, fmt.Errorf("the address has %s %d times", key, len(v))
		}
		if v[0] == "" {
			continue // the default
		}
		if set(&a, v[0]) != nil {
			return a, fmt.Errorf("the address has %s=%s: want a whole number", key, v[0])
		}
	}
	if !slices.Contains(backends, a.backend) {
		return a, fmt.Errorf("the address has backend=%s: want %s", a.backend, strings.Join(backends, " or "))
	}
	if scene == "crowd" && values.Get("kinds") == "" {
		a.Kinds = kinds(a.Agents)
	}
	if err := a.Check(); err != nil {
		// The error names fields as flags.
		return a, errors.New(strings.ReplaceAll(err.Error(), "--", ""))
	}
	return a, nil
}

// modelFile returns the path of a shipped file by its name and ending, relative to the page.
func modelFile(name, ending string) (string, error) {
	odd := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') }
	if name == "" || slices.ContainsFunc([]rune(name), odd) {
		return "", fmt.Errorf("no model %q: want a shipped model's name, as dog-free", name)
	}
	return "models/" + name + "." + ending, nil
}

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

// keys are the keys of an address, and set the fields of a setup.
var keys = map[string]func(s *open.Setup, value string) error{
	"scene":   func(*open.Setup, string) error { return nil }, // read first
	"agents":  func(s *open.Setup, v string) (err error) { s.Agents, err = strconv.Atoi(v); return err },
	"styled":  func(s *open.Setup, v string) (err error) { s.Styled, err = strconv.Atoi(v); return err },
	"terrain": func(s *open.Setup, v string) error { s.Terrain = v; return nil },
	"kinds":   func(s *open.Setup, v string) error { s.Kinds = strings.Split(v, ","); return nil },
	"seed":    func(s *open.Setup, v string) (err error) { s.Seed, err = strconv.ParseUint(v, 10, 64); return err },
	"model":   func(s *open.Setup, v string) error { s.Model, s.Far = v, open.FarOf(v); return nil },
}

// parse returns the setup in the fragment of an address, such as scene=quadruped&agents=8. Missing
// keys have defaults.
func parse(fragment string) (open.Setup, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return defaults(names[0]), fmt.Errorf("the address: %w", err)
	}
	scene := cmp.Or(values.Get("scene"), names[0])
	if slices.Contains(open.Names, scene) && !slices.Contains(names, scene) {
		return defaults(names[0]), fmt.Errorf("the scene %s is not in the browser: want %s", scene, strings.Join(names, ", "))
	}
	s := defaults(scene)
	for key, v := range values {
		set, ok := keys[key]
		if !ok {
			return s, fmt.Errorf("the address has %s=%s: want scene, agents, kinds, terrain, seed, model or styled", key, v[0])
		}
		if len(v) > 1 {
			return s, fmt.Errorf("the address has %s %d times", key, len(v))
		}
		if v[0] == "" {
			continue // the default
		}
		if set(&s, v[0]) != nil {
			return s, fmt.Errorf("the address has %s=%s: want a whole number", key, v[0])
		}
	}
	if scene == "crowd" && values.Get("kinds") == "" {
		s.Kinds = kinds(s.Agents)
	}
	if err := s.Check(); err != nil {
		// The error names fields as flags.
		return s, errors.New(strings.ReplaceAll(err.Error(), "--", ""))
	}
	return s, nil
}

// modelFile returns the path of a shipped file by its name and ending, relative to the page.
func modelFile(name, ending string) (string, error) {
	odd := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') }
	if name == "" || slices.ContainsFunc([]rune(name), odd) {
		return "", fmt.Errorf("no model %q: want a shipped model's name, as dog-free", name)
	}
	return "models/" + name + "." + ending, nil
}

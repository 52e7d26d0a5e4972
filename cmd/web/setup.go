package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mannequin/scenes/playbill"
)

// agents is how many a scene has in a browser unless the address says, where that is
// not what playbill has: WebAssembly has one thread and short vectors, so fewer keep up
// with 60 ticks per second, the more so where there are no vectors.
var agents = map[string]int{"quadruped": 8, "crowd": 20, "herd": 20, "people": 8, "strnn": 12}

// defaults returns the setup of a scene in a browser.
func defaults(scene string) playbill.Setup {
	s := playbill.Default(scene)
	if n, ok := agents[scene]; ok {
		s.Agents = n
	}
	return s
}

// few is a crowd that does without some kinds: the weights of all are 66 MB.
const few = 24

// kinds returns who comes to a crowd in a browser unless the address says; none is all.
func kinds(agents int) []string {
	if agents < few {
		return []string{"dogs", "sliders", "lanes"}
	}
	return nil
}

// keys are what an address can say, and where in a setup it goes.
var keys = map[string]func(s *playbill.Setup, value string) error{
	"scene":   func(*playbill.Setup, string) error { return nil }, // read first
	"agents":  func(s *playbill.Setup, v string) (err error) { s.Agents, err = strconv.Atoi(v); return err },
	"styled":  func(s *playbill.Setup, v string) (err error) { s.Styled, err = strconv.Atoi(v); return err },
	"terrain": func(s *playbill.Setup, v string) error { s.Terrain = v; return nil },
	"kinds":   func(s *playbill.Setup, v string) error { s.Kinds = strings.Split(v, ","); return nil },
	"seed":    func(s *playbill.Setup, v string) (err error) { s.Seed, err = strconv.ParseUint(v, 10, 64); return err },
	"model":   func(s *playbill.Setup, v string) error { s.Model, s.Far = v, playbill.FarOf(v); return nil },
}

// parse returns the setup that an address asks for behind its #, as in
// scene=quadruped&agents=8. What it does not say is as usual.
func parse(fragment string) (playbill.Setup, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return defaults(playbill.Scenes[0]), fmt.Errorf("the address: %w", err)
	}
	scene := playbill.Scenes[0]
	if v := values.Get("scene"); v != "" {
		scene = v
	}
	s := defaults(scene)
	for key, v := range values {
		set, ok := keys[key]
		if !ok {
			return s, fmt.Errorf("the address says %s=%s: want scene, agents, kinds, terrain, seed, model or styled", key, v[0])
		}
		if len(v) > 1 {
			return s, fmt.Errorf("the address says %s %d times", key, len(v))
		}
		if v[0] == "" {
			continue // as if it did not say so
		}
		if set(&s, v[0]) != nil {
			return s, fmt.Errorf("the address says %s=%s: want a whole number", key, v[0])
		}
	}
	if scene == "crowd" && values.Get("kinds") == "" {
		s.Kinds = kinds(s.Agents)
	}
	if err := s.Check(); err != nil {
		// It names fields as flags.
		return s, errors.New(strings.ReplaceAll(err.Error(), "--", ""))
	}
	return s, nil
}

// modelFile returns where the weights of a network lie beside the page.
func modelFile(name string) (string, error) {
	odd := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') }
	if name == "" || slices.ContainsFunc([]rune(name), odd) {
		return "", fmt.Errorf("no model %q: want a shipped model's name, as dog-free", name)
	}
	return "models/" + name + ".safetensors", nil
}

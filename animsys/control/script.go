package control

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
	"mannequin/internal/closest"
)

// maxCues bounds the goals of a script, far beyond any written by hand.
const maxCues = 10000

// Script is a list of goals for one character with start times. It is immutable and safe to share.
type Script struct {
	at    []float64 // seconds, rising
	goals []Goal    // with Move and Face in the world where sticks are
	stick []bool    // the goal is a player's, in the world
}

// OpenScript reads the script file at path: see ReadScript.
func OpenScript(path string, tags ...string) (*Script, error) {
	data, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return ReadScript(path, data, tags...)
}

// ReadScript reads a script from the contents of the TOML file called name:
//
//	[[goal]]
//	at = 0.0           # seconds; each goal holds until the next begins
//	action = "move"    # idle, move, jump, sit, lie, stand, or a tag
//	speed = 1.1        # m/s
//	move = [0, 1]      # leftward, forward; by default forward
//	turn = 0.25        # −1 (right) to 1 (left)
//
//	[[goal]]
//	at = 4.0
//	action = "move"
//	path = "circle"    # a built-in path, or a file beside the script
//
//	[[goal]]
//	at = 8.0
//	stick = [1, 0]     # a player's stick, in the world: along +X and +Z; half of it goes at half the speed
//	face = [0, 1]      # in the world: faces there; by default where the stick points
//	speed = 1.4
//
// The first goal begins at 0, the others strictly after their predecessors. tags are the tags of the character's
// database, whose names a script may use as actions; the first 64 count.
func ReadScript(name string, data []byte, tags ...string) (*Script, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are allowed", name, len(data), maxFile)
	}
	var f struct {
		Goal []struct {
			At     float64
			Action string
			Speed  *float32
			Move   []float32
			Stick  []float32
			Face   []float32
			Turn   float32
			Path   string
		}
	}
	if err := boundedtoml.Decode(name, data, &f); err != nil {
		return nil, err
	}
	if len(f.Goal) == 0 || len(f.Goal) > maxCues {
		return nil, fmt.Errorf("%s: %d goals, want 1 to %d tables [[goal]]", name, len(f.Goal), maxCues)
	}
	s := &Script{}
	files := map[string]*Path{} // many goals may name one file
	for i, c := range f.Goal {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: goal %d: %w", name, i+1, fmt.Errorf(format, args...))
		}
		switch {
		case i == 0 && c.At != 0:
			return nil, fail("begins at %g s, the first one must begin at 0", c.At)
		case i > 0 && !(c.At > s.at[i-1]):
			return nil, fail("begins at %g s, must be after its predecessor at %g s", c.At, s.at[i-1])
		}
		g := Goal{Turn: c.Turn, Speed: PaceSpeed}
		if c.Speed != nil {
			g.Speed = *c.Speed
		}
		if c.Action != "" {
			a, err := parse(c.Action, tags)
			if err != nil {
				return nil, fail("%w", err)
			}
			g.Action = a
		}
		switch {
		case len(c.Move) == 2:
			g.Move = m3.V(c.Move[0], 0, c.Move[1])
		case c.Move != nil:
			return nil, fail("move has %d numbers, want leftward and forward", len(c.Move))
		case g.Action == Move || g.Action == Jump:
			g.Move = m3.V(0, 0, 1)
		}
		stick := c.Stick != nil || c.Face != nil
		if stick {
			if c.Move != nil || c.Turn != 0 || c.Path != "" {
				return nil, fail("stick and face, which are in the world, exclude move, turn and path")
			}
			var err error
			if g.Move, err = inWorld(c.Stick); err != nil {
				return nil, fail("stick %w", err)
			}
			if g.Face, err = inWorld(c.Face); err != nil {
				return nil, fail("face %w", err)
			}
			if l := g.Move.Len(); l > 1 {
				g.Move = g.Move.Scale(1 / l)
			}
			if c.Face == nil {
				g.Face = g.Move
			}
			if c.Action == "" && g.Move != (m3.Vec3{}) {
				g.Action = Move
			}
		}
		if !g.Finite() || g.Speed < 0 {
			return nil, fail("speed, move, stick, face and turn must be finite, speed not negative")
		}
		if c.Path != "" {
			p, err := Builtin(c.Path)
			if err != nil {
				file := c.Path
				if !filepath.IsAbs(file) {
					file = filepath.Join(filepath.Dir(name), file)
				}
				if p = files[file]; p == nil {
					if p, err = OpenPath(file); err != nil {
						return nil, fail("path %q is neither circle, square, star, meander nor a path file: %w", c.Path, err)
					}
					files[file] = p
				}
			}
			g.Path = p
		}
		s.at, s.goals, s.stick = append(s.at, c.At), append(s.goals, g), append(s.stick, stick)
	}
	return s, nil
}

// inWorld returns a direction of two numbers, along +X and +Z. None is zero.
func inWorld(v []float32) (m3.Vec3, error) {
	const most = 1e6
	switch {
	case v == nil:
		return m3.Vec3{}, nil
	case len(v) != 2:
		return m3.Vec3{}, fmt.Errorf("has %d numbers, want two: along +X and +Z", len(v))
	case !(m3.Abs(v[0]) <= most && m3.Abs(v[1]) <= most):
		return m3.Vec3{}, fmt.Errorf("is %v, want finite numbers up to %g", v, most)
	}
	return m3.V(v[0], 0, v[1]), nil
}

// Goals returns the goals in their order, of characters that face +Z.
func (s *Script) Goals() []Goal { return slices.Clone(s.goals) }

// parse returns the action called name, which may be one of tags.
func parse(name string, tags []string) (Action, error) {
	a, err := ParseAction(name)
	if err == nil {
		return a, nil
	}
	for i, t := range tags[:min(len(tags), owns)] {
		if strings.EqualFold(t, name) {
			return Own + Action(i), nil
		}
	}
	if len(tags) == 0 {
		return 0, err
	}
	all := slices.Clone(actionNames[:])
	for _, t := range tags {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return 0, fmt.Errorf("control: no action %q: want one of %s%s", name, strings.Join(all, ", "), closest.Hint(name, all))
}

// At returns the goal t seconds after the start of a character with a rotation: sticks are in the world. The zero Script asks to
// stand still.
func (s *Script) At(t float64, rot m3.Quat) Goal {
	if len(s.goals) == 0 {
		return Goal{}
	}
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] > t })
	i = max(i-1, 0)
	g := s.goals[i]
	if s.stick[i] {
		back := rot.Conj()
		g.Move, g.Face = back.Rotate(g.Move), back.Rotate(g.Face)
	}
	return g
}

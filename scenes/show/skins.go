package show

import (
	"fmt"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
	"mannequin/scenes"
)

// Wearer is the kind of character that a skin is for.
type Wearer string

// The kinds of characters.
const (
	Anyone  Wearer = ""       // the kind with as many legs as the mesh
	Dogs    Wearer = "dog"    // four legs
	Persons Wearer = "person" // two legs
)

// Skin is a mesh that replaces the bodies that are grown around skeletons.
type Skin struct {
	*skin.Skin
	For Wearer
	Map map[string]string // joint names of the skeleton to joint names of the mesh, where they do not match by name; may be nil
}

// Wear replaces the skins from the next Draw on. If several skins are for the same kind of
// character, the last one counts. It returns how well they fit the characters of the present frame.
// It fails if a skin does not fit or the frame has no character of its kind.
func (w *Show) Wear(skins ...Skin) (reports []*skin.Report, err error) {
	for i := range skins {
		s := &skins[i]
		if s.For != Anyone || w.named(s) {
			continue
		}
		upright, err := s.Roles(s.Map).Upright()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: say whether it is a dog or a person, and map its joints (docs/rigs.md)", s.Name, err)
		}
		if s.For = Dogs; upright {
			s.For = Persons
		}
	}
	for _, t := range w.crowds { // hide crowds with other bodies
		if err := t.crowd.Set(nil, nil); err != nil {
			return nil, err
		}
	}
	w.skins, w.bodies, w.crowds = skins, nil, nil
	worn := make([]bool, len(skins))
	for i := range w.Frame.Casts {
		c := &w.Frame.Casts[i]
		k := w.skinOf(c.Skel)
		if k < 0 || worn[k] {
			continue
		}
		b, r, err := skins[k].on(c)
		if err != nil {
			return nil, err
		}
		worn[k] = true
		w.bodies = append(w.bodies, b)
		reports = append(reports, r)
	}
	for i, s := range skins {
		if !worn[i] {
			return nil, fmt.Errorf("%s is for a %s, and this scene has none", s.Name, s.For)
		}
	}
	return reports, nil
}

// skinOf returns the index of the skin for a skeleton, −1 if there is none.
func (w *Show) skinOf(sk *skel.Skeleton) int {
	who := Persons
	if skin.OnFours(sk) {
		who = Dogs
	}
	for i := len(w.skins) - 1; i >= 0; i-- {
		if s := &w.skins[i]; s.For == who || s.For == Anyone && s.Named(sk) {
			return i
		}
	}
	return -1
}

// named reports whether a skin has the joint names of a cast's skeleton.
func (w *Show) named(s *Skin) bool {
	return s.Map == nil && slices.ContainsFunc(w.Frame.Casts, func(c scenes.Cast) bool { return c.Roles != nil && s.Named(c.Skel) })
}

// newBody makes the body of a cast, from a skin if there is one.
func (w *Show) newBody(c *scenes.Cast) (b rigBody, err error) {
	if k := w.skinOf(c.Skel); k >= 0 {
		b, _, err = w.skins[k].on(c)
		return b, err
	}
	b.rig = rigOf(c.Skel)
	b.body, err = body.New(&b.rig)
	return b, err
}

// on makes the skin's body for motion of a skeleton. It keeps its proportions, with legs as long as the skeleton's:
// so it steps where the scene's agents do.
func (s *Skin) on(cast *scenes.Cast) (rigBody, *skin.Report, error) {
	sk := cast.Skel
	make := func() (*skin.Character, error) { return s.Character(sk, skin.CharacterOptions{Map: s.Map, Size: 1}) }
	if cast.Roles != nil && s.Map == nil && s.Named(sk) {
		make = func() (*skin.Character, error) { return s.CharacterByName(sk, *cast.Roles, 1) }
	}
	c, err := make()
	if err != nil {
		return rigBody{}, nil, err
	}
	return rigBody{rigOf(sk), c.Body, c.Bones}, c.Report, nil
}

package show

import (
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
)

// Wearer is whom a skin is for.
type Wearer string

// The wearers.
const (
	Anyone  Wearer = ""       // who has as many legs as the mesh
	Dogs    Wearer = "dog"    // on four legs
	Persons Wearer = "person" // on two
)

// Skin is a mesh to see in place of the bodies that are grown around skeletons.
type Skin struct {
	*skin.Skin
	For Wearer
	Map map[string]string // from joints of the wearer to the mesh's, beyond what names tell; may be nil
}

// Wear has everyone that a skin is for wear it, from the next Draw on; of several for
// the same, the last. It returns how those of the present frame came to fit. It is an
// error if a skin does not fit, or nobody is there to wear it.
func (w *Show) Wear(skins ...Skin) (reports []*skin.Report, err error) {
	for i := range skins {
		if err := skins[i].resolve(); err != nil {
			return nil, err
		}
	}
	for _, t := range w.crowds { // who was drawn in other bodies is gone
		if err := t.crowd.Set(nil, nil); err != nil {
			return nil, err
		}
	}
	w.skins, w.bodies, w.crowds = skins, nil, nil
	worn := make([]bool, len(skins))
	for i := range w.Frame.Casts {
		sk := w.Frame.Casts[i].Skel
		k := w.skinOf(sk)
		if k < 0 || worn[k] {
			continue
		}
		b, r, err := skins[k].Fit(sk, skins[k].Map)
		if err != nil {
			return nil, err
		}
		worn[k] = true
		w.bodies = append(w.bodies, wardrobe{rigOf(sk), b})
		reports = append(reports, r)
	}
	for i, s := range skins {
		if !worn[i] {
			return nil, fmt.Errorf("%s is for a %s, and nobody in this scene wears it", s.Name, s.For)
		}
	}
	return reports, nil
}

// resolve finds out whom the skin is for where nobody says.
func (s *Skin) resolve() error {
	if s.For != Anyone {
		return nil
	}
	upright, err := s.Upright()
	if err != nil {
		return err
	}
	if s.For = Dogs; upright {
		s.For = Persons
	}
	return nil
}

// skinOf returns the skin for a skeleton, −1 for none.
func (w *Show) skinOf(sk *skel.Skeleton) int {
	who := Persons
	if skin.OnFours(sk) {
		who = Dogs
	}
	for i := len(w.skins) - 1; i >= 0; i-- {
		if w.skins[i].For == who {
			return i
		}
	}
	return -1
}

// clad returns the body for a skeleton: of a skin where there is one for it.
func (w *Show) clad(sk *skel.Skeleton) (*body.Body, error) {
	if k := w.skinOf(sk); k >= 0 {
		b, _, err := w.skins[k].Fit(sk, w.skins[k].Map)
		return b, err
	}
	rig := rigOf(sk)
	return body.New(&rig)
}

package open_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/open"
)

func setup() open.Setup {
	s := open.Default("people")
	s.Agents, s.Styled, s.Terrain = 2, 2, "flat"
	return s
}

// People get the styles that there are.
func TestStyles(t *testing.T) {
	scene, _, err := open.Scene(setup(), open.Resources{Net: models.Open, Transfers: stylesgram.Open, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer scene.Close()
	if err := scene.Step(scenes.Input{}); err != nil {
		t.Fatal(err)
	}
	var f scenes.Frame
	scene.Frame(&f, 1)
	if !strings.Contains(strings.Join(f.HUD, " "), "drunk") {
		t.Errorf("the second of two wears no second style: %q", f.HUD)
	}
}

// Styles of another manifold are left out, and the player is told.
func TestStylesOfAnotherModel(t *testing.T) {
	var said bytes.Buffer
	_, _, err := open.Scene(setup(), open.Resources{Net: models.Open, Workers: 1, Log: slog.New(slog.NewTextHandler(&said, nil)),
		Transfers: func() (*manifold.StyleSet, error) { return other(t), nil }})
	if err == nil || !strings.Contains(err.Error(), "no style but") {
		t.Errorf("people in no style there is: %v", err)
	}
	if !strings.Contains(said.String(), "of another model") {
		t.Errorf("the player is told %q", said.String())
	}
}

// other returns the shipped styles as those of another network.
func other(t *testing.T) *manifold.StyleSet {
	t.Helper()
	ts, err := stylesgram.Open()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := ts.Encode(&b); err != nil {
		t.Fatal(err)
	}
	meta, arrays, err := netruntime.DecodeArrays(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range meta.Extra {
		if strings.HasPrefix(v, "sha256:") {
			meta.Extra[k] = "sha256:0"
		}
	}
	b.Reset()
	if err := netruntime.EncodeArrays(&b, meta, arrays, nil); err != nil {
		t.Fatal(err)
	}
	if ts, err = manifold.DecodeStyleSet(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return ts
}

// Every scene with a character opens its networks where Resources say.
func TestCharactersOpen(t *testing.T) {
	for _, scene := range []string{"person", "play", "crowd"} {
		s := open.Default(scene)
		s.Agents = min(s.Agents, 2)
		if s.Character = "hero"; scene == "crowd" {
			s.Character, s.Kinds = "fox", []string{"dogs"}
		}
		var opened []*netruntime.Net
		made, _, err := open.Scene(s, open.Resources{Net: models.Open, Character: models.OpenCharacter, Workers: 1,
			Open: func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
				opened = append(opened, n)
				return n.NewSession(o)
			}})
		if err != nil {
			t.Fatal(err)
		}
		must.Do(t, made.Close())
		for _, n := range must.Get(models.OpenCharacter(s.Character))(t).Nets() {
			if !slices.Contains(opened, n) {
				t.Errorf("%s: Resources.Open does not open %s", scene, n.Meta().Name)
			}
		}
	}
}

// Every scene with a character has its recordings searched where Resources say.
func TestCharactersSearch(t *testing.T) {
	for _, scene := range []string{"person", "play", "crowd"} {
		s := open.Default(scene)
		s.Agents = min(s.Agents, 2)
		if s.Character = "clips"; scene == "crowd" {
			s.Kinds = []string{"dogs"}
		}
		searched := 0
		made, _, err := open.Scene(s, open.Resources{Net: models.Open, Workers: 1,
			Character: func(string) (*matching.File, error) { return &matching.File{Database: testmatching.People(t)}, nil },
			Nearest: func(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
				searched++
				return nil, nil
			}})
		must.Do(t, err)
		must.Do(t, made.Close())
		if searched == 0 {
			t.Errorf("%s: Resources.Nearest is not asked", scene)
		}
	}
}

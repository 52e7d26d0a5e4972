package main

import (
	"slices"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/scenes/open"
)

// A crowd opens the networks of the kinds that come, and no others.
func TestKinds(t *testing.T) {
	setup := open.Default("crowd")
	setup.Agents, setup.Kinds = 2, []string{"lanes"}
	var opened []string
	s, _, err := open.Scene(setup, open.Resources{
		Net: func(name string) (*netruntime.Net, error) {
			opened = append(opened, name)
			return models.Open(name)
		},
		Styles: func() (*mar.Database, error) {
			t.Error("the styles were opened")
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if want := []string{"human", "human-footstep", "human-locomotion"}; !slices.Equal(opened, want) {
		t.Errorf("opened %v, want %v", opened, want)
	}
}

package main

import (
	"fmt"

	"mannequin/animsys/matching"
	"mannequin/models"
	"mannequin/offline/procgen/human"
)

// openCharacter opens a shipped character or the file of --character. Without one it makes a person by rules.
func openCharacter(file string) (*matching.File, error) {
	if file != "" {
		f, err := models.OpenCharacter(file)
		if err != nil {
			err = fmt.Errorf("--character %w: want a file of mannequin make, or a shipped character", err)
		}
		return f, err
	}
	takes, _, err := human.Generate(human.Options{Minutes: 1, Styles: []string{"neutral"}})
	if err != nil {
		return nil, err
	}
	var clips []matching.Clip
	for _, t := range takes {
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip})
	}
	db, err := matching.Build(takes[0].Clip.Skel, clips, matching.Options{})
	if err != nil {
		return nil, err
	}
	db.Name = "a person made by rules"
	return &matching.File{Database: db}, nil
}

package main

import (
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/internal/command"
	"mannequin/offline/character"
	"mannequin/scenes/show"
)

// openFor opens the file of a flag's value: FILE, dog=FILE or person=FILE.
func openFor[T any](flag, value string, open func(file string) (T, error)) (kind show.Wearer, v T, err error) {
	name, file, ok := strings.Cut(value, "=")
	if !ok {
		name, file = "", value
	}
	kind = show.Wearer(name)
	if file == "" || ok && kind != show.Dogs && kind != show.Persons {
		return "", v, command.Usagef("--%s %s: want FILE, dog=FILE or person=FILE", flag, value)
	}
	if v, err = open(file); err != nil {
		err = fmt.Errorf("--%s %w", flag, err)
	}
	return kind, v, err
}

// openSkins reads the skins and joint maps of the command line.
func openSkins(files, maps []string) ([]show.Skin, error) {
	if len(maps) > 0 && len(files) == 0 {
		return nil, command.Usagef("--skin-map %s needs a --skin", maps[0])
	}
	var skins []show.Skin
	for _, value := range files {
		kind, s, err := openFor("skin", value, character.Open)
		if err != nil {
			return nil, err
		}
		skins = append(skins, show.Skin{Skin: s, For: kind})
	}
	for _, value := range maps {
		kind, m, err := openFor("skin-map", value, skin.OpenMap)
		if err != nil {
			return nil, err
		}
		found := false
		for i := range skins {
			if kind == show.Anyone || skins[i].For == kind {
				skins[i].Map, found = m, true
			}
		}
		if !found {
			return nil, command.Usagef("--skin-map %s: no --skin %s=FILE is given", value, kind)
		}
	}
	return skins, nil
}

// wear sets the skins and prints how well they fit.
func wear(v *show.Show, skins []show.Skin, stderr io.Writer) error {
	if len(skins) == 0 {
		return nil
	}
	reports, err := v.Wear(skins...)
	if err != nil {
		return err
	}
	for _, r := range reports {
		fmt.Fprintf(stderr, "demo: %v\n", r)
	}
	return nil
}

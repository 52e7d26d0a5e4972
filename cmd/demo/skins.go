package main

import (
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/internal/command"
	"mannequin/scenes/show"
)

// wearer splits a flag's value: FILE, dog=FILE or person=FILE.
func wearer(flag, value string) (kind show.Wearer, file string, err error) {
	name, file, ok := strings.Cut(value, "=")
	if !ok {
		name, file = "", value
	}
	kind = show.Wearer(name)
	if file == "" || ok && kind != show.Dogs && kind != show.Persons {
		return "", "", command.Usagef("--%s %s: want FILE, dog=FILE or person=FILE", flag, value)
	}
	return kind, file, nil
}

// openSkins reads the skins and joint maps of the command line.
func openSkins(files, maps []string) ([]show.Skin, error) {
	if len(maps) > 0 && len(files) == 0 {
		return nil, command.Usagef("--skin-map %s needs a --skin", maps[0])
	}
	var skins []show.Skin
	for _, value := range files {
		kind, file, err := wearer("skin", value)
		if err != nil {
			return nil, err
		}
		s, err := skin.Open(file)
		if err != nil {
			return nil, fmt.Errorf("--skin %w", err)
		}
		skins = append(skins, show.Skin{Skin: s, For: kind})
	}
	for _, value := range maps {
		kind, file, err := wearer("skin-map", value)
		if err != nil {
			return nil, err
		}
		m, err := skin.OpenMap(file)
		if err != nil {
			return nil, fmt.Errorf("--skin-map %w", err)
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

package main

import (
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/internal/command"
	"mannequin/scenes/show"
)

// wearer splits a flag's value, a file or who= and a file.
func wearer(flag, value string) (who show.Wearer, file string, err error) {
	name, file, ok := strings.Cut(value, "=")
	if !ok {
		name, file = "", value
	}
	who = show.Wearer(name)
	if file == "" || ok && who != show.Dogs && who != show.Persons {
		return "", "", command.Usagef("--%s %s: want FILE, dog=FILE or person=FILE", flag, value)
	}
	return who, file, nil
}

// openSkins reads the skins of the command line, and what the maps say of them.
func openSkins(files, maps []string) ([]show.Skin, error) {
	if len(maps) > 0 && len(files) == 0 {
		return nil, command.Usagef("--skin-map %s is for a --skin, and none is given", maps[0])
	}
	var skins []show.Skin
	for _, value := range files {
		who, file, err := wearer("skin", value)
		if err != nil {
			return nil, err
		}
		s, err := skin.Open(file)
		if err != nil {
			return nil, fmt.Errorf("--skin %w", err)
		}
		skins = append(skins, show.Skin{Skin: s, For: who})
	}
	for _, value := range maps {
		who, file, err := wearer("skin-map", value)
		if err != nil {
			return nil, err
		}
		m, err := skin.OpenMap(file)
		if err != nil {
			return nil, fmt.Errorf("--skin-map %w", err)
		}
		found := false
		for i := range skins {
			if who == show.Anyone || skins[i].For == who {
				skins[i].Map, found = m, true
			}
		}
		if !found {
			return nil, command.Usagef("--skin-map %s: no --skin %s=FILE is given", value, who)
		}
	}
	return skins, nil
}

// wear puts the skins on, and tells how they fit.
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

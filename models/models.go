// Package models opens trained networks: the shipped ones by name, others by the path of their
// file.
package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"mannequin/animsys/matching"
	"mannequin/internal/closest"
	"mannequin/models/dog"
	dogfree "mannequin/models/dog-free"
	dogfreestride2 "mannequin/models/dog-free-stride2"
	dogfreestride4 "mannequin/models/dog-free-stride4"
	dogstride2 "mannequin/models/dog-stride2"
	dogstride4 "mannequin/models/dog-stride4"
	"mannequin/models/fox"
	"mannequin/models/hero"
	"mannequin/models/horse"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humankeypose "mannequin/models/human-keypose"
	humankick "mannequin/models/human-kick"
	humanlatent "mannequin/models/human-latent"
	humanlocomotion "mannequin/models/human-locomotion"
	humannext "mannequin/models/human-next"
	humanpunch "mannequin/models/human-punch"
	humanstrnn "mannequin/models/human-strnn"
	"mannequin/models/spider"
	"mannequin/netruntime"
)

// shipped lists the embedded models. Each has a package of its own, so that a game links only the
// models that it needs.
var shipped = []struct {
	name string
	open func() (*netruntime.Net, error)
}{
	{"dog", dog.Open},
	{"dog-free", dogfree.Open},
	{"dog-free-stride2", dogfreestride2.Open},
	{"dog-free-stride4", dogfreestride4.Open},
	{"dog-stride2", dogstride2.Open},
	{"dog-stride4", dogstride4.Open},
	{"human", human.Open},
	{"human-footstep", humanfootstep.Open},
	{"human-keypose", humankeypose.Open},
	{"human-kick", humankick.Open},
	{"human-latent", humanlatent.Open},
	{"human-locomotion", humanlocomotion.Open},
	{"human-next", humannext.Open},
	{"human-punch", humanpunch.Open},
	{"human-strnn", humanstrnn.Open},
}

// characters lists the embedded characters of mannequin make.
var characters = []struct {
	name string
	open func() (*matching.File, error)
}{
	{"fox", fox.Open},
	{"hero", hero.Open},
	{"horse", horse.Open},
	{"spider", spider.Open},
}

// Characters returns the shipped characters' names.
func Characters() []string {
	var names []string
	for _, c := range characters {
		names = append(names, c.name)
	}
	return names
}

// OpenCharacter returns the shipped character called nameOrPath, or reads the file of mannequin make at that path.
func OpenCharacter(nameOrPath string) (*matching.File, error) {
	for _, c := range characters {
		if c.name == nameOrPath {
			return c.open()
		}
	}
	f, err := matching.OpenFile(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) {
		err = unknown("character", nameOrPath, Characters())
	}
	return f, err
}

// unknown is the error of a name that is neither shipped nor a file.
func unknown(what, name string, shipped []string) error {
	hint := closest.Hint(name, shipped)
	if hint == "" {
		hint = closest.FileHint(name)
	}
	return fmt.Errorf("no %s %q: there is no such file, and shipped are %s%s", what, name, strings.Join(shipped, ", "), hint)
}

// Names returns the shipped models' names.
func Names() []string {
	var names []string
	for _, m := range shipped {
		names = append(names, m.name)
	}
	return names
}

// Open returns the shipped model called nameOrPath, or reads the model file at that path.
func Open(nameOrPath string) (*netruntime.Net, error) {
	for _, m := range shipped {
		if m.name == nameOrPath {
			return m.open()
		}
	}
	net, err := netruntime.Open(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) {
		err = unknown("model", nameOrPath, Names())
	}
	return net, err
}

// OpenNets returns the name and all networks of a shipped model or character, or of the file of one.
func OpenNets(nameOrPath string) (name string, nets []*netruntime.Net, err error) {
	net, err := Open(nameOrPath)
	if err == nil {
		return cmp.Or(net.Meta().Name, nameOrPath), []*netruntime.Net{net}, nil
	}
	f, other := OpenCharacter(nameOrPath)
	if u := (*netruntime.UnsupportedError)(nil); errors.As(err, &u) && u.Got == matching.Arch {
		err = other // the file is a character's
	}
	if other != nil {
		return "", nil, err
	}
	if nets = f.Nets(); len(nets) == 0 {
		return "", nil, fmt.Errorf("%s has no networks: it plays recordings", nameOrPath)
	}
	return cmp.Or(f.Character().Name, nameOrPath), nets, nil
}

// OpenAs opens a network and returns what make makes of it, such as mann.NewModel.
func OpenAs[M any](nameOrPath string, make func(*netruntime.Net) (M, error)) (m M, err error) {
	net, err := Open(nameOrPath)
	if err != nil {
		return m, err
	}
	return make(net)
}

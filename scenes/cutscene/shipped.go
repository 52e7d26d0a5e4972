package cutscene

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mannequin/scenes/cutscene/script"
)

//go:embed scripts/*.toml
var scripts embed.FS

// Shipped returns the names of the embedded scripts.
func Shipped() []string {
	entries, _ := scripts.ReadDir("scripts") // it is embedded
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// Open reads the shipped script called nameOrPath, or the script file at that path.
func Open(nameOrPath string) (*script.Script, error) {
	name := path.Join("scripts", nameOrPath+".toml")
	if data, err := scripts.ReadFile(name); err == nil {
		return script.Read(name, data)
	}
	s, err := script.Open(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("script %w, and no shipped script has that name: want one of %s", err, strings.Join(Shipped(), ", "))
	}
	return s, err
}

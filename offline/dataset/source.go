package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
)

// SourceFile is the name of the file beside the recordings that describes them. It is optional.
const SourceFile = "dataset.toml"

// maxSource is its largest size in bytes.
const maxSource = 1 << 20

// Source describes a folder of recordings. Models repeat its name, data and licence.
type Source struct {
	Name    string   `toml:"name"`     // of a model trained on it
	Data    string   `toml:"data"`     // what the recordings are and whose, as a noun phrase
	License string   `toml:"licence"`  // of the recordings and of models trained on them
	Limits  string   `toml:"limits"`   // what a user of such a model should know; may be empty
	HeldOut []string `toml:"held_out"` // recordings to hold back from training, without .bvh
	Repeat  int      `toml:"repeat"`   // visits per epoch of a trot or canter row; 0: as usual
}

// ReadSource reads dir's SourceFile, and returns nil if there is none.
func ReadSource(dir string) (*Source, error) {
	path := filepath.Join(dir, SourceFile)
	b, err := boundedfile.Read(path, maxSource)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	s, err := parseSource(path, b)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return s, nil
}

// parseSource decodes the source file called name. Only limits, held_out and repeat are optional.
func parseSource(name string, text []byte) (*Source, error) {
	s := new(Source)
	meta, err := boundedtoml.Decode(name, text, s)
	if err != nil {
		return nil, err
	}
	if k := meta.Undecoded(); len(k) > 0 {
		return nil, fmt.Errorf("%s: unknown key %.60q: want name, data, licence, limits, held_out, repeat", name, k[0].String())
	}
	for _, f := range []struct{ key, value string }{{"name", s.Name}, {"data", s.Data}, {"licence", s.License}} {
		if strings.TrimSpace(f.value) == "" {
			return nil, fmt.Errorf("%s: %s is missing", name, f.key)
		}
	}
	if s.Repeat < 0 || s.Repeat > 1000 {
		return nil, fmt.Errorf("%s: repeat is %d, want 1 to 1000, or 0 for as usual", name, s.Repeat)
	}
	return s, nil
}

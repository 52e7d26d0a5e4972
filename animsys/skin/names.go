package skin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"

	"mannequin/internal/boundedfile"
)

// Limits of a map's text. The TOML decoder's time grows much faster than the nesting depth.
const (
	maxMap  = 1 << 15 // bytes
	maxDeep = 64      // brackets in total, and dots in a line
)

// OpenMap reads a map from joints of a skeleton to joints of a file: TOML lines such as Hips =
// "pelvis". Errors name the file and the line.
func OpenMap(path string) (map[string]string, error) {
	text, err := boundedfile.Read(path, maxMap)
	if err != nil {
		return nil, err
	}
	return ReadMap(path, text)
}

// ReadMap reads a map from the text of the file called name; see OpenMap.
func ReadMap(name string, text []byte) (map[string]string, error) {
	if len(text) > maxMap {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", name, len(text), maxMap)
	}
	if n := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{")); n > maxDeep {
		return nil, fmt.Errorf("%s: %d opening brackets: want lines such as Hips = \"pelvis\"", name, n)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if n := bytes.Count(line, []byte(".")); n > maxDeep {
			return nil, fmt.Errorf("%s:%d: %d dots: want lines such as Hips = \"pelvis\"", name, i+1, n)
		}
	}
	out := map[string]string{}
	_, err := toml.Decode(string(text), &out)
	var bad toml.ParseError
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%s:%d: %.200s", name, bad.Position.Line, bad.Message)
	case err != nil:
		return nil, fmt.Errorf("%s: %.200s: want lines such as Hips = \"pelvis\"", name, err)
	}
	return out, nil
}

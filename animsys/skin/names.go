package skin

import (
	"fmt"

	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
)

// maxMap is the largest size of a map's text in bytes.
const maxMap = 1 << 15

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
	out := map[string]string{}
	if _, err := boundedtoml.Decode(name, text, &out); err != nil {
		return nil, fmt.Errorf("%w: want lines such as Hips = \"pelvis\"", err)
	}
	return out, nil
}

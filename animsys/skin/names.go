package skin

import (
	"fmt"

	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
)

// maxMap is the largest size of a map's text in bytes.
const maxMap = 1 << 15

// OpenMap reads a map from joints of a skeleton to joints of a file: TOML lines such as Hips =
// "pelvis", alone or in the table [joints] of a retargeting profile, whose other keys count for
// motions only. Errors name the file and the line.
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
	var p struct {
		Name, About, Up string
		MetresPerUnit   float64           `toml:"metres_per_unit"`
		RestFrames      int               `toml:"rest_frames"`
		TurnOnly        []string          `toml:"turn_only"`
		Collapse        []string          `toml:"collapse"`
		Joints, Axes    map[string]string // tables
	}
	var table map[string]any
	if err := boundedtoml.Decode(name, text, &table); err != nil {
		return nil, err
	}
	if _, ok := table["joints"].(map[string]any); ok {
		err := boundedtoml.Decode(name, text, &p)
		return p.Joints, err
	}
	out := map[string]string{}
	if err := boundedtoml.Decode(name, text, &out); err != nil {
		return nil, fmt.Errorf("%w: want lines such as Hips = \"pelvis\", or the table [joints] of a profile", err)
	}
	return out, nil
}

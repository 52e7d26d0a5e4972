package mocap

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/internal/boundedfile"
)

// Format is a file format of recordings.
type Format uint8

// The formats that Open reads. An ASF is the skeleton of AMC files and has no motion.
const (
	FormatBVH Format = iota
	FormatAMC
	FormatH36M
	FormatASF
	FormatGLTF
)

var formatNames = [...]string{"BVH motion", "AMC motion", "Human3.6M exponential maps", "ASF skeleton", "glTF animation"}

// String returns the format's name and what such a file holds.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// FormatOf returns the format of a file by its content, then by its name: a text that begins with
// HIERARCHY is a BVH, a file that begins with glTF is a glTF, otherwise the extension .bvh, .amc, .txt,
// .asf, .glb or .gltf decides. A file with another
// extension is Human3.6M's if its first line has commas, an AMC if it begins with a flag or a
// number, and a BVH otherwise. data may be a file's first bytes, or nil to go by the name alone.
func FormatOf(name string, data []byte) Format {
	if bytes.HasPrefix(data, []byte("glTF")) {
		return FormatGLTF
	}
	p := newParser(name, data)
	if first, _ := p.token(); strings.EqualFold(first, "HIERARCHY") {
		return FormatBVH
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".bvh":
		return FormatBVH
	case ".amc":
		return FormatAMC
	case ".txt":
		return FormatH36M
	case ".asf":
		return FormatASF
	case ".glb", ".gltf":
		return FormatGLTF
	}
	if !p.nextLine() {
		return FormatBVH
	}
	line := p.data[p.pos:p.eol]
	word, _ := p.word()
	switch {
	case bytes.IndexByte(line, ',') >= 0:
		return FormatH36M
	case isFrameNumber(word) || word[0] == ':':
		return FormatAMC
	}
	return FormatBVH
}

// OpenOptions holds what a file does not say. Zero is right for CMU's and HDM05's, and for a glTF file
// with one animation.
type OpenOptions struct {
	ASF       string  // path of the skeleton that an AMC moves; empty: the one that FindASF finds
	AMCFPS    float64 // frames per second of an AMC; 0: AMCRate
	Animation string  // name of the animation of a glTF; empty: the only one
}

// Open reads the recording at path in any format (see FormatOf).
func Open(path string, opt OpenOptions) (*Recording, error) {
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	switch FormatOf(path, data) {
	case FormatGLTF:
		return openGLTF(path, opt.Animation)
	case FormatAMC:
		return openAMC(path, data, opt)
	case FormatH36M:
		return ReadH36M(path, data)
	case FormatASF:
		return nil, fmt.Errorf("%s: a skeleton without motion: name the AMC file that moves it", path)
	}
	return ReadBVH(path, data)
}

// openAMC finds and reads the skeleton of an AMC file, and then the motion.
func openAMC(path string, data []byte, opt OpenOptions) (_ *Recording, err error) {
	asf := opt.ASF
	if asf == "" {
		if asf, err = FindASF(path); err != nil {
			return nil, err
		}
	}
	s, err := OpenASF(asf)
	if err != nil {
		return nil, err
	}
	return s.ReadAMC(path, data, cmp.Or(opt.AMCFPS, AMCRate))
}

// openGLTF reads an animation of a glTF file.
func openGLTF(path, name string) (*Recording, error) {
	all, err := skin.OpenMotions(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	found := -1
	for i := range all {
		if names[i] = all[i].Name; name == names[i] || name == "" && len(all) == 1 {
			found = i
		}
	}
	switch {
	case found < 0 && name == "":
		return nil, fmt.Errorf("%s: it has %d animations: choose one of %s", path, len(all), list(names))
	case found < 0:
		return nil, fmt.Errorf("%s: it has no animation %q: it has %s", path, name, list(names))
	}
	b := usual(all[found].Clip)
	b.Format, b.FrameTime = FormatGLTF, 1/b.Clip.FPS
	return b, nil
}

// list joins names, some of many.
func list(names []string) string {
	const most = 40
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}

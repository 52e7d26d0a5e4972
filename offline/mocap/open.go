package mocap

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/internal/boundedfile"
	"mannequin/offline/fbx"
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
	FormatFBX
)

var formatNames = [...]string{"BVH motion", "AMC motion", "Human3.6M exponential maps", "ASF skeleton", "glTF animation", "FBX animation"}

// String returns the format's name and what such a file holds.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// FormatOf returns the format of a file by its content, then by its name: a text that begins with
// HIERARCHY is a BVH, a file that begins as glTF or FBX files do is one, otherwise the extension .bvh,
// .amc, .txt, .asf, .glb, .gltf, .vrm, .vrma or .fbx decides. A file with another extension is Human3.6M's if its
// first line has commas, an AMC if it begins with a flag or a number, and a BVH otherwise. data may be a file's first bytes, or nil to go by the name alone.
func FormatOf(name string, data []byte) Format {
	if bytes.HasPrefix(data, []byte("glTF")) {
		return FormatGLTF
	}
	if fbx.IsFBX(data) {
		return FormatFBX
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
	case ".glb", ".gltf", ".vrm", ".vrma":
		return FormatGLTF
	case ".fbx":
		return FormatFBX
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

// OpenOptions holds what a file does not say. Zero is right for CMU's and HDM05's, and for a glTF or FBX
// file with one animation.
type OpenOptions struct {
	ASF       string  // path of the skeleton that an AMC moves; empty: the one that FindASF finds
	AMCFPS    float64 // frames per second of an AMC; 0: AMCRate
	Animation string  // name of the animation of a glTF or FBX, with or without its armature's and a |; empty: the only one
}

// Open reads the recording at path in any format (see FormatOf).
func Open(path string, opt OpenOptions) (*Recording, error) {
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	if what, advice := Foreign(data); what != "" {
		return nil, fmt.Errorf("%s: is %s, which is not read: %s", path, what, cmp.Or(advice, "export it as FBX, glTF or BVH"))
	}
	switch FormatOf(path, data) {
	case FormatGLTF:
		return openGLTF(path, opt.Animation)
	case FormatFBX:
		all, err := fbx.Read(path, data)
		return choose(path, FormatFBX, opt.Animation, all, err, func(m *fbx.Motion) (string, *skel.Clip) { return m.Name, m.Clip })
	case FormatAMC:
		return openAMC(path, data, opt)
	case FormatH36M:
		return ReadH36M(path, data)
	case FormatASF:
		return nil, fmt.Errorf("%s: a skeleton without motion: name the AMC file that moves it", path)
	}
	return ReadBVH(path, data)
}

// openGLTF reads an animation of a glTF file.
func openGLTF(path, animation string) (*Recording, error) {
	all, err := skin.OpenMotions(path)
	var of *skin.Motion
	b, err := choose(path, FormatGLTF, animation, all, err, func(m *skin.Motion) (string, *skel.Clip) { return m.Name, m.Clip })
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Clip == b.Clip {
			of = &all[i]
		}
	}
	b.Rest, b.Parts = of.Rest, of.Parts
	for _, n := range of.Notes {
		b.Notes = append(b.Notes, path+": "+n)
	}
	return b, nil
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

// choose returns one of the animations of a file.
func choose[M any](path string, format Format, name string, all []M, err error, of func(*M) (string, *skel.Clip)) (*Recording, error) {
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	found := (*skel.Clip)(nil)
	for i := range all {
		is, clip := of(&all[i])
		names[i] = is
		switch {
		case name == is, name == "" && len(all) == 1:
			found = clip
		case found == nil && name != "" && strings.HasSuffix(is, "|"+name): // Blender writes Armature|Walk
			found = clip
		}
	}
	switch {
	case found == nil && name == "":
		return nil, fmt.Errorf("%s: it has %d animations: choose one of %s", path, len(all), list(names))
	case found == nil:
		return nil, fmt.Errorf("%s: it has no animation %q: it has %s", path, name, list(names))
	}
	b := usual(found)
	b.Format, b.FrameTime = format, 1/b.Clip.FPS
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

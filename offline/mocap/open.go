package mocap

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
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

// OpenOptions holds what a file does not say, or says wrongly. Zero is right for most files.
type OpenOptions struct {
	ASF       string  // path of the skeleton that an AMC moves; empty: the one that FindASF finds
	FrameRate float64 // frames per second, whatever the file says; 0: as it says, an AMC AMCRate
	Animation string  // name of the animation of a glTF or FBX, with or without its armature's and a |; empty: the only one
	Up        string  // the file's vertical axis, y or z: z is turned to y; empty: axes stay as they are
	Root      string  // name of the root joint of the character to take from a file of several; empty: all
	// Salvage keeps the whole frames of a damaged BVH, AMC or TXT file: cut off, with more or fewer
	// frames or values than it says, with words that are no numbers. Recording.Notes says what is lost.
	Salvage bool
}

// Validate reports the first option that is out of range.
func (o *OpenOptions) Validate() error {
	switch {
	case o.FrameRate != 0 && !(o.FrameRate >= 1/float64(maxFrameTime) && o.FrameRate <= 1/minFrameTime):
		return fmt.Errorf("mocap: FrameRate is %g, want 1/%g to %g", o.FrameRate, float64(maxFrameTime), 1/minFrameTime)
	case o.Up != "" && o.Up != "y" && o.Up != "z":
		return fmt.Errorf("mocap: Up is %.20q, want \"y\" or \"z\"", o.Up)
	}
	return nil
}

// Open reads the recording at path in any format (see FormatOf).
func Open(path string, opt OpenOptions) (*Recording, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	if what, advice := Foreign(data); what != "" {
		return nil, fmt.Errorf("%s: is %s, which is not read: %s", path, what, cmp.Or(advice, "export it as FBX, glTF or BVH"))
	}
	b, err := read(path, data, opt)
	if err != nil {
		return nil, err
	}
	if opt.Root != "" {
		if b, err = chooseRoot(path, b, opt.Root); err != nil {
			return nil, err
		}
	}
	switch {
	case opt.FrameRate == 0:
		b.doubtRate(path)
	case b.Format != FormatAMC: // that has it
		b.FrameTime = 1 / opt.FrameRate
		c := *b.Clip
		b.Clip, c.FPS = &c, opt.FrameRate
	}
	if opt.Up != "" {
		b.Up = opt.Up
	}
	if opt.Up == "z" {
		b.Clip, b.Up = turnUp(b.Clip), "y"
	}
	return b, nil
}

// turnUp returns a clip with z up as one with y up.
func turnUp(c *skel.Clip) *skel.Clip {
	turn := m3.AxisAngle(m3.V(1, 0, 0), -math.Pi/2)
	s := *c.Skel
	s.Offsets = slices.Clone(s.Offsets)
	out := &skel.Clip{Skel: &s, FPS: c.FPS, Frames: c.Frames, Pos: slices.Clone(c.Pos), Rot: slices.Clone(c.Rot)}
	n := s.Len()
	for j, p := range s.Parents {
		if p >= 0 {
			continue
		}
		s.Offsets[j] = turn.Rotate(s.Offsets[j])
		for i := j; i < len(out.Pos); i += n {
			out.Pos[i], out.Rot[i] = turn.Rotate(out.Pos[i]), turn.Mul(out.Rot[i])
		}
	}
	return out
}

func read(path string, data []byte, opt OpenOptions) (*Recording, error) {
	switch FormatOf(path, data) {
	case FormatGLTF:
		return openGLTF(path, opt.Animation)
	case FormatFBX:
		all, err := fbx.Read(path, data)
		return choose(path, FormatFBX, opt.Animation, all, err, func(m *fbx.Motion) (string, *skel.Clip) { return m.Name, m.Clip })
	case FormatAMC:
		return openAMC(path, data, opt)
	case FormatH36M:
		return readH36M(path, data, opt.Salvage)
	case FormatASF:
		return nil, fmt.Errorf("%s: a skeleton without motion: name the AMC file that moves it", path)
	}
	return readBVH(path, data, opt)
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
	return s.readAMC(path, data, cmp.Or(opt.FrameRate, AMCRate), opt.Salvage)
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
	b.Format, b.FrameTime, b.Up = format, 1/b.Clip.FPS, "y"
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

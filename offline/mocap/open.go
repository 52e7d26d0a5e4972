package mocap

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
	"mannequin/internal/closest"
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
	Animation string  // name of the animation of a glTF or FBX, with or without its armature's and a |, or its number from 1; empty: the only one
	Up        string  // the file's vertical axis, one of Ups: it is turned to y; empty: axes stay as they are
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
	case o.Up != "" && !slices.Contains(Ups, o.Up):
		return fmt.Errorf("mocap: Up is %.20q, want one of %q", o.Up, Ups)
	}
	return nil
}

// Open reads the recording at path in any format (see FormatOf). path may end in # and the name of an
// animation, which comes before OpenOptions.Animation, as in actions.glb#Wave.
func Open(path string, opt OpenOptions) (*Recording, error) {
	path, data, opt, err := load(path, opt)
	if err != nil {
		return nil, err
	}
	b, err := read(path, data, opt)
	if err != nil {
		return nil, err
	}
	return b.as(path, opt)
}

// load reads the file at path, which may have the name of an animation after it, and refuses those of other kinds.
func load(path string, opt OpenOptions) (string, []byte, OpenOptions, error) {
	if err := opt.Validate(); err != nil {
		return path, nil, opt, err
	}
	file, name := SplitName(path)
	if name != "" {
		opt.Animation = name
	}
	data, err := boundedfile.Read(file, maxFileSize)
	if err != nil {
		return path, nil, opt, err
	}
	if what, advice := Foreign(data); what != "" {
		return path, nil, opt, fmt.Errorf("%s: is %s, which is not read: %s", file, what, cmp.Or(advice, "export it as FBX, glTF or BVH"))
	}
	return file, data, opt, nil
}

// SplitName splits FILE#NAME into the file and a name in it. A path that is a file as it is has none.
func SplitName(path string) (file, name string) {
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	if file, name, ok := strings.Cut(path, "#"); ok {
		if _, err := os.Stat(file); err == nil {
			return file, name
		}
	}
	return path, ""
}

// as applies the options to a recording that was read from path.
func (b *Recording) as(path string, opt OpenOptions) (_ *Recording, err error) {
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
	b.TurnUp()
	return b, nil
}

// Ups are the names of axes that may point up, likely ones first.
var Ups = []string{"y", "z", "x", "-z", "-y", "-x"}

// UpAxis returns an axis by its name among Ups, and the turn that brings it to y: about x, but for x itself. ok is false for
// other names.
func UpAxis(name string) (axis m3.Vec3, turn m3.Quat, ok bool) {
	x, z := m3.V(1, 0, 0), m3.V(0, 0, 1)
	switch name {
	case "y":
		return m3.Up, m3.Ident, true
	case "z":
		return z, m3.AxisAngle(x, -math.Pi/2), true
	case "x":
		return x, m3.AxisAngle(z, math.Pi/2), true
	case "-z":
		return z.Neg(), m3.AxisAngle(x, math.Pi/2), true
	case "-y":
		return m3.Up.Neg(), m3.AxisAngle(x, math.Pi), true
	case "-x":
		return x.Neg(), m3.AxisAngle(z, -math.Pi/2), true
	}
	return m3.Vec3{}, m3.Ident, false
}

// TurnUp turns a recording whose axis Up points up to one with y up. It changes nothing if that is y, or not known.
func (b *Recording) TurnUp() {
	_, turn, ok := UpAxis(b.Up)
	if !ok || b.Up == "y" {
		return
	}
	s := *b.Clip.Skel
	s.Offsets = slices.Clone(s.Offsets)
	out := &skel.Clip{Skel: &s, FPS: b.Clip.FPS, Frames: b.Clip.Frames, Pos: slices.Clone(b.Clip.Pos), Rot: slices.Clone(b.Clip.Rot)}
	n := s.Len()
	rest := b.LocalRest()
	if rest == nil { // a BVH's joints are turned by nothing at rest
		rest = slices.Repeat([]m3.Quat{m3.Ident}, n)
	}
	for j, p := range s.Parents {
		if p >= 0 {
			continue
		}
		s.Offsets[j], rest[j] = turn.Rotate(s.Offsets[j]), turn.Mul(rest[j])
		for i := j; i < len(out.Pos); i += n {
			out.Pos[i], out.Rot[i] = turn.Rotate(out.Pos[i]), turn.Mul(out.Rot[i])
		}
	}
	b.Clip, b.Up = out, "y"
	b.setRest(rest)
}

// setRest sets the pose at rest by local rotations; nil is none.
func (b *Recording) setRest(rot []m3.Quat) {
	if b.Rest = nil; rot != nil {
		b.Rest = make([]m3.Xform, len(rot))
		b.Clip.Skel.LocalToModel(b.Rest, b.Clip.Skel.Offsets, rot)
	}
}

// LocalRest returns the local rotations of the joints at rest, nil if the file does not say how they stand.
func (b *Recording) LocalRest() []m3.Quat {
	if len(b.Rest) == 0 || len(b.Rest) != b.Clip.Skel.Len() {
		return nil
	}
	out := make([]m3.Quat, len(b.Rest))
	for j, p := range b.Clip.Skel.Parents {
		if out[j] = b.Rest[j].Rot; p >= 0 {
			out[j] = b.Rest[p].Rot.Conj().Mul(out[j]).Normalize()
		}
	}
	return out
}

func read(path string, data []byte, opt OpenOptions) (*Recording, error) {
	switch FormatOf(path, data) {
	case FormatGLTF, FormatFBX:
		format, all, err := animations(path, data)
		if err != nil {
			return nil, err
		}
		a, err := choose(path, opt.Animation, all)
		if err != nil {
			return nil, err
		}
		return a.recording(format), nil
	case FormatAMC:
		return openAMC(path, data, opt)
	case FormatH36M:
		return readH36M(path, data, opt.Salvage)
	case FormatASF:
		return nil, fmt.Errorf("%s: a skeleton without motion: name the AMC file that moves it", path)
	}
	return readBVH(path, data, opt)
}

// Animations returns the names of the animations of a glTF or FBX file, as OpenOptions.Animation takes them,
// none for a file without.
func Animations(path string) ([]string, error) {
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	_, all, err := animations(path, data)
	if err != nil {
		if noAnimations(err) {
			err = nil
		}
		return nil, err
	}
	return selectors(namesOf(all)), nil
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

// animation is one of a file.
type animation struct {
	name  string
	clip  *skel.Clip
	rest  []m3.Xform
	parts map[string]string
	notes []string
}

// recording returns the animation as a recording.
func (a *animation) recording(format Format) *Recording {
	b := usual(a.clip)
	b.Format, b.FrameTime, b.Notes = format, 1/b.Clip.FPS, slices.Clip(a.notes)
	b.Rest, b.Parts = a.rest, a.parts
	return b
}

// choose returns one of the animations of a file.
func choose(path, name string, all []animation) (*animation, error) {
	i, also, err := chooseName(path, name, namesOf(all))
	if err != nil {
		return nil, err
	}
	a := all[i]
	if len(also) > 0 {
		a.notes = append(slices.Clip(a.notes), fmt.Sprintf("%s: %d animations are called %s: took the first; --animation %s takes another", path, 1+len(also), name, strings.Join(also, " or ")))
	}
	return &a, nil
}

// chooseName returns the index of the animation called name, with or without its armature's name and a |, or
// numbered name from 1, and the numbers of others of that name. An empty name is the only one.
func chooseName(path, name string, names []string) (i int, also []string, err error) {
	if name == "" {
		if len(names) == 1 {
			return 0, nil, nil
		}
		return 0, nil, fmt.Errorf("%s: it has %d animations: choose one of %s with --animation, or as %s#NAME", path, len(names), list(selectors(names)), filepath.Base(path))
	}
	var found []int
	for _, is := range []func(s string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.HasSuffix(s, "|"+name) }, // Blender writes Armature|Walk
	} {
		for k, s := range names {
			if is(s) {
				found = append(found, k)
			}
		}
		if len(found) > 0 {
			for _, k := range found[1:] {
				also = append(also, strconv.Itoa(k+1))
			}
			return found[0], also, nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(names) {
		return n - 1, nil, nil
	}
	return 0, nil, fmt.Errorf("%s: it has no animation %q: it has %s%s", path, name, list(selectors(names)), closest.Hint(name, names))
}

// selectors returns what chooses each of the animations: its name, or its number if it has none or another
// has it too.
func selectors(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = n; n == "" || slices.Index(names, n) != i {
			out[i] = strconv.Itoa(i + 1)
		}
	}
	return out
}

// list joins names, some of many.
func list(names []string) string {
	const most = 40
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}

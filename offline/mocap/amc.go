package mocap

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// AMCRate is the rate of CMU's and HDM05's AMC files, frames per second. The files do not say it.
const AMCRate = 120

// ErrNoASF means that it is not clear which ASF file is an AMC file's skeleton.
var ErrNoASF = errors.New("no skeleton")

// FindASF returns the path of the skeleton of the AMC file at path, from the same folder. It is the
// ASF file of the same name, or of the longest part of the name before an underscore (CMU's
// 35_01.amc moves 35.asf), or else the only ASF file there. Otherwise the error is ErrNoASF.
func FindASF(path string) (string, error) {
	dir := filepath.Dir(path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	byStem := map[string]string{}
	var found []string
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); strings.EqualFold(ext, ".asf") {
			byStem[strings.ToLower(strings.TrimSuffix(f.Name(), ext))] = f.Name()
			found = append(found, f.Name())
		}
	}
	stem := strings.ToLower(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	for cut := len(stem); cut > 0; cut = strings.LastIndexByte(stem[:cut], '_') {
		if f := byStem[stem[:cut]]; f != "" {
			return filepath.Join(dir, f), nil
		}
	}
	if len(found) == 1 {
		return filepath.Join(dir, found[0]), nil
	}
	first, _, _ := strings.Cut(stem, "_")
	return "", fmt.Errorf("%s: %w: %d ASF files in its folder, none of them called %s.asf: name the right one", path, ErrNoASF, len(found), first)
}

// ReadAMC parses the text of an AMC file that moves the skeleton s at fps
// frames per second; name is for messages. Lengths are in the skeleton's unit. Angles
// are in the unit that a flag :DEGREES or :RADIANS names, or else in the skeleton's.
//
// It returns a *SyntaxError that names the line for
//
//   - a bone that the skeleton lacks or that a frame has twice;
//   - more or fewer values than the bone has degrees of freedom;
//   - frames that do not count upwards by one, and a file without frames;
//   - a last frame that was cut off in a :FULLY-SPECIFIED file;
//   - a number that is not finite or beyond ±1e9.
//
// A bone that a frame does not name is at rest in it, and Recording.Notes says so.
func (s *ASF) ReadAMC(name string, data []byte, fps float64) (*Recording, error) {
	return s.readAMC(name, data, fps, false)
}

func (s *ASF) readAMC(name string, data []byte, fps float64, salvage bool) (*Recording, error) {
	if !(fps >= 1/float64(maxFrameTime) && fps <= 1/minFrameTime) {
		return nil, fmt.Errorf("%s: %g frames per second: expected a rate between 1/%g and %g", name, fps, float64(maxFrameTime), 1/minFrameTime)
	}
	r := amcReader{parser: newParser(name, data), s: s, half: 0.5, salvage: salvage, seen: make([]int, len(s.bones)), gaps: make([]gap, len(s.bones))}
	if s.degrees {
		r.half = math.Pi / 360
	}
	if err := r.header(); err != nil {
		return nil, err
	}
	frames := r.count()
	if err := r.checkMemory(r.pos, int64(frames), s.Skel.Len(), s.size); err != nil {
		return nil, err
	}
	r.clip = skel.NewClip(s.Skel, fps, frames)
	if err := r.frames(); err != nil {
		return nil, err
	}
	if len(r.lost) > 0 {
		if r.clip.Frames == 0 {
			return nil, r.lost[0]
		}
		r.notes = append([]string{lostNote(r.clip.Frames, r.lost)}, r.notes...)
	}
	b := &Recording{Format: FormatAMC, Clip: r.clip, FrameTime: 1 / fps, Notes: r.notes}
	for _, list := range s.channels {
		b.Channels = append(b.Channels, append([]Channel(nil), list...))
	}
	return b, nil
}

type amcReader struct {
	*parser
	s       *ASF
	clip    *skel.Clip
	half    float64 // half an angle's unit in radians
	full    bool    // the file says that every frame names every bone
	salvage bool    // leave out frames that cannot be read
	lost    []error // why, a frame each
	seen    []int   // per bone, the last frame that names it, counted from 1
	gaps    []gap   // per bone
	vals    [len(dofNames)]float64
}

// gap counts the frames that do not name a bone.
type gap struct{ frames, first, at int }

// header takes everything before the first frame.
func (r *amcReader) header() error {
	for r.nextLine() {
		w, at := r.word()
		if w[0] != ':' {
			if !isFrameNumber(w) {
				return r.fail(at, "expected a flag such as :DEGREES or the number of the first frame, found %s", quoteWord(w))
			}
			r.pos, r.eol = at, at
			return nil
		}
		switch strings.ToUpper(string(w)) {
		case ":FULLY-SPECIFIED":
			r.full = true
		case ":DEGREES":
			r.half = math.Pi / 360
		case ":RADIANS":
			r.half = 0.5
		}
	}
	return r.fail(r.pos, "expected the number of the first frame, found the end of the file")
}

// count returns the number of frames from pos on.
func (r *amcReader) count() int {
	pos, eol := r.pos, r.eol
	n := 0
	for r.nextLine() {
		if c := r.data[r.pos] - '0'; c > 9 {
			continue
		}
		if w, _ := r.word(); isFrameNumber(w) {
			n++
		}
	}
	r.pos, r.eol = pos, eol
	return n
}

func isFrameNumber(w []byte) bool {
	return len(w) > 0 && !slices.ContainsFunc(w, func(c byte) bool { return c-'0' > 9 })
}

func (r *amcReader) frames() error {
	f, at, named, before := -1, 0, 0, 0 // this frame, and how many bones it and the one before name
	var last int64
	var bad error // of this frame, which is left out
	n := r.s.Skel.Len()
	// end ends frame f, or leaves it out.
	end := func() {
		if bad == nil {
			r.close(f, at, named)
			return
		}
		r.lost, bad = append(r.lost, bad), nil
		copy(r.clip.Pos[f*n:], r.s.Skel.Offsets)
		for i := range n {
			r.clip.Rot[f*n+i] = m3.Ident
		}
		for i := range r.seen {
			if r.seen[i] == f+1 {
				r.seen[i] = 0
			}
		}
		f, named = f-1, before
	}
	for r.nextLine() {
		w, wordAt := r.word()
		if !isFrameNumber(w) {
			if bad != nil {
				r.pos = r.eol
				continue
			}
			if err := r.bone(w, wordAt, f); err != nil {
				if !r.salvage {
					return err
				}
				bad = err
			}
			named++
			continue
		}
		if f >= 0 {
			end()
		}
		v, err := strconv.ParseInt(string(w), 10, 64)
		if errors.Is(err, strconv.ErrRange) || (f >= 0 && v != last+1 && !r.salvage) {
			return r.fail(wordAt, "expected the number of frame %d, frames count upwards by one, found %s", last+1, quoteWord(w))
		}
		if f >= 0 && v != last+1 {
			r.lost = append(r.lost, r.fail(wordAt, "frame %s follows frame %d", quoteWord(w), last))
		}
		if err := r.endLine("the number of a frame"); err != nil {
			if !r.salvage {
				return err
			}
			bad = err
		}
		f, last, at, before, named = f+1, v, wordAt, named, 0
	}
	if r.full && f > 0 && named < before && bad == nil {
		err := r.fail(len(r.data), "the file ends after %d bones of frame %d, of %d in the frame before: it was cut off", named, last, before)
		if !r.salvage {
			return err
		}
		bad = err
	}
	end()
	r.clip.Frames = f + 1
	r.clip.Pos, r.clip.Rot = r.clip.Pos[:(f+1)*n], r.clip.Rot[:(f+1)*n]
	r.noteGaps()
	return nil
}

// bone takes the values of the bone called name in frame f.
func (r *amcReader) bone(name []byte, at, f int) error {
	i, ok := r.s.index[string(name)]
	if !ok && strings.EqualFold(string(name), asfRoot) {
		i, ok = 0, true
	}
	if !ok {
		return r.fail(at, "expected a bone of %s or the number of a frame, found %s", r.s.name, quoteWord(name))
	}
	b := r.s.bones[i]
	if r.seen[i] == f+1 {
		return r.fail(at, "bone %s is in the frame twice", quote(b.name))
	}
	r.seen[i] = f + 1
	for k, d := range b.dofs {
		w, valueAt := r.word()
		v, n := scanNumber(w)
		if n == 0 || n < len(w) || !(math.Abs(v) <= maxValue) {
			r.pos = valueAt
			if len(w) == 0 {
				return r.fail(valueAt, "bone %s has %s in %s: expected %d values, found %d", quote(b.name), b.describe(), r.s.name, len(b.dofs), k)
			}
			_, err := r.lineNumber(dofNames[d] + " of bone " + quote(b.name))
			return err
		}
		r.vals[k] = v
	}
	if w, extra := r.word(); len(w) > 0 {
		return r.fail(extra, "bone %s has %s in %s: expected %d values, found %s after them", quote(b.name), b.describe(), r.s.name, len(b.dofs), quoteWord(w))
	}
	return r.pose(b, at, f)
}

// pose sets b's joint in frame f to L = C·M·C⁻¹. C turns the bone's axes into the
// world's, and M is the motion. Joints are not turned at rest, so L is the local rotation.
func (r *amcReader) pose(b *asfBone, at, f int) error {
	pos, rot := r.clip.Frame(f)
	q := b.axes
	var move [3]float64
	moves := false
	for k := len(b.dofs) - 1; k >= 0; k-- {
		switch d := b.dofs[k]; {
		case d.rotation():
			// The first one turns first, about fixed axes.
			s, c := math.Sincos(r.vals[k] * r.half)
			q = q.turn(Channel(d).Axis(), s, c)
		case d == stretch:
			for _, j := range b.ends {
				if !moveBy(&pos[j], scale3(b.direction, r.vals[k])) {
					return r.fail(at, "bone %s is beyond ±%g long", quote(b.name), float64(maxValue))
				}
			}
		default:
			move[d], moves = r.vals[k], true
		}
	}
	q = q.mul(b.axes.conj())
	rot[b.joint] = q.quat()
	if !moves {
		return nil
	}
	if b.parent != nil {
		move = b.axes.rotate(move)
	}
	if !moveBy(&pos[b.joint], move) {
		return r.fail(at, "bone %s is moved beyond ±%g", quote(b.name), float64(maxValue))
	}
	return nil
}

func scale3(v [3]float64, k float64) [3]float64 { return [3]float64{v[0] * k, v[1] * k, v[2] * k} }

// moveBy adds d to p and reports whether it is still within ±maxValue.
func moveBy(p *m3.Vec3, d [3]float64) bool {
	*p = m3.V(float32(float64(p.X)+d[0]), float32(float64(p.Y)+d[1]), float32(float64(p.Z)+d[2]))
	return max(m3.Abs(p.X), m3.Abs(p.Y), m3.Abs(p.Z)) <= maxValue
}

// close ends frame f, which begins at offset at and names the given number of bones.
func (r *amcReader) close(f, at, named int) {
	if named == len(r.seen) {
		return
	}
	for i, last := range r.seen {
		if last == f+1 || len(r.s.bones[i].dofs) == 0 {
			continue
		}
		if r.gaps[i].frames == 0 {
			r.gaps[i].first, r.gaps[i].at = f, at
		}
		r.gaps[i].frames++
	}
}

// noteGaps adds a note for each bone that some frames do not name.
func (r *amcReader) noteGaps() {
	for i, g := range r.gaps {
		if g.frames > 0 && len(r.notes) < maxNotes {
			r.notes = append(r.notes, r.fail(g.at, "bone %s is not in %d of %d frames and at rest there", quote(r.s.bones[i].name), g.frames, r.clip.Frames).Error())
		}
	}
}

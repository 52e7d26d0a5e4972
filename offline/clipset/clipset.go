// Package clipset reads a folder of clips as what a controller plays: all on one skeleton, the character's own, of a
// usual size, facing +Z, on a floor at height 0, with motion over the ground, and with the action of each frame.
//
//   - [Open] reads files of all formats: what legs, spine and neck are follows from names and shape
//   - [Set.Leaps] cuts jumps out of recordings, before the others
//   - [Set.Mirror] adds the mirror image of each clip
//   - [Set.Bend] adds curves and other speeds to packs of loops
//   - [Set.Steps] adds walks backward and aside and turns on the spot, after Bend
//   - [Set.Stand] adds poses that stand to actions that only go
//   - [Set.Database] makes a database for motion matching
//   - [Set.Clusters] groups poses of clips whose names say no action
//   - [Set.HoldOut] chooses clips that networks are not trained on
package clipset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/ik"
	"mannequin/offline/label"
	"mannequin/offline/mocap"
)

// FPS is the frame rate of all clips, frames per second.
const FPS = 60

// Set is clips of one character.
type Set struct {
	Skel  *skel.Skeleton // the character's joints from the hips on, with the world's axes at rest
	Roles ik.Roles
	Kind  anatomy.Kind
	Clips []Clip
	Notes []string // what was found, mended or left out

	// Size is the metres that a unit of the set's lengths is. All sets are as large as the generators' own bodies, so
	// that the constants of controllers and of the ground solver are right: the hips of people stand 0.95 m high,
	// those of others 0.47. A character of nearly that size is not scaled. A character of its true size is that many times
	// larger: see retarget.Character.Scale.
	Size float32

	first     string // file
	stance    *label.Stance
	bent      bool         // see Bend
	symmetric *skel.Mirror // nil if the skeleton has no mirror image
	leg       float64      // height of the hips in standing
	moments   []Moment     // that neither names nor motion tell
	named     []Cluster    // of the labels, without moments
	middles   [][]float32  // (named)
}

// Clip is a recording, or an animation of a file.
type Clip struct {
	Name    string
	File    string
	Motion  *skel.Clip
	Loop    bool
	InPlace bool     // its motion over the ground was found from its feet
	Actions []string // per frame, see label.Stance

	label string // of the user; see OpenLabels
	of    string // the clip of which it is a part, by the user's label
	parts string // all of them, as in the label
	made  bool   // by Bend, Steps or Mirror
	take  int    // clips that are made of one recording have the same
}

// Options say what a folder's files do not.
type Options struct {
	mocap.OpenOptions
	Only, Skip []string          // patterns of clips to take and to leave out; nil is all and none
	Map        map[string]string // joints of the uniform skeleton → joints of the files, see anatomy.Rig
	Labels     Labels            // see OpenLabels
	Unit       float64           // metres of the files' unit of length; 0 guesses by the size
	Progress   func(done, n int) // called after each file that was read; may be nil
}

// Open reads the clips of a folder and the folders in it, or of one file.
func Open(path string, opt Options) (*Set, error) {
	files, err := find(path)
	var short, others []string
	if err != nil {
		return nil, err
	}
	s := &Set{}
	var of *rig
	for _, p := range slices.Concat(opt.Only, opt.Skip) {
		if _, err := filepath.Match(p, ""); err != nil {
			return nil, fmt.Errorf("the pattern %q of clips: a [ without its ], or a \\ at the end", p)
		}
	}
	for i, file := range files {
		if matches(opt.Skip, filepath.Base(file)) { // it need not be sound
			continue
		}
		names, all, err := mocap.OpenAll(file, opt.OpenOptions)
		if err != nil {
			return nil, err
		}
		for k, b := range all {
			b, still := s.oneBody(file, b)
			r := source{path: file, name: nameOf(file, names[k], len(names)), recording: b}
			if !r.wanted(opt.Only, opt.Skip) {
				continue
			}
			if still {
				others = append(others, r.name)
				continue
			}
			if b.Clip.Frames == 0 || b.Clip.Seconds() < shortest {
				short = append(short, r.name)
				continue
			}
			if err := b.CheckRate(); err != nil {
				return nil, err
			}
			if of == nil {
				if of, err = newRig(b, opt); err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				s.Skel, s.Roles, s.Kind, s.first = of.skel, of.roles, of.body.Kind, file
				s.Notes = append(s.Notes, of.notes...)
			}
			if missing := of.fits(b); missing != "" {
				return nil, fmt.Errorf("%s: it has no joint %q: the clips are of two skeletons, the first is that of %s; choose those of one with --only or --skip", file, missing, s.first)
			}
			c := of.clip(r)
			c.take = len(s.Clips)
			s.Clips = append(s.Clips, c)
		}
		if opt.Progress != nil {
			opt.Progress(i+1, len(files))
		}
	}
	switch {
	case len(s.Clips) > 0:
	case len(short) > 0:
		return nil, fmt.Errorf("%s: all clips are shorter than %g s: %s", path, shortest, few(short))
	default:
		return nil, fmt.Errorf("%s: no clips: want BVH, AMC, glTF or FBX files with animations", path)
	}
	if len(short) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d clips are shorter than %g s and are left out: %s", len(short), shortest, few(short)))
	}
	if len(others) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d clips move another character only, and are left out: %s", len(others), few(others)))
	}
	s.unique()
	all := len(opt.Only)+len(opt.Skip) == 0
	if err := s.relabel(opt.Labels.Clips, all); err != nil {
		return nil, err
	}
	if err := s.ground(); err != nil {
		return nil, err
	}
	if err := s.label(); err != nil {
		return nil, err
	}
	s.untold()
	return s, s.name(opt.Labels.Clusters, all)
}

// oneBody returns the first of several characters of a recording, and whether it stands still in all frames while another
// moves: animations of a file with several characters are often of one of them each.
func (s *Set) oneBody(file string, b *mocap.Recording) (one *mocap.Recording, still bool) {
	roots := b.Bodies()
	if len(roots) < 2 {
		return b, false
	}
	names := make([]string, len(roots))
	for i, root := range roots {
		names[i] = b.Clip.Skel.Names[root]
	}
	if note := fmt.Sprintf("%s has %d characters, %s: the clips are those of %s; --root takes another", filepath.Base(file), len(roots), strings.Join(names, ", "), names[0]); !slices.Contains(s.Notes, note) {
		s.Notes = append(s.Notes, note)
	}
	one = b.Only(roots[0])
	return one, !moves(one.Clip) && moves(b.Clip)
}

// moves reports whether a joint of a clip turns or changes its place.
func moves(c *skel.Clip) bool {
	n := c.Skel.Len()
	for i := n; i < n*c.Frames; i++ {
		if c.Pos[i].Dist(c.Pos[i%n]) > 1e-6*(1+c.Pos[i%n].Len()) || c.Rot[i].Angle(c.Rot[i%n]) > 1e-4 {
			return true
		}
	}
	return false
}

// shortest is the least time of a clip, s.
const shortest = 0.1

// source is a recording that becomes a clip.
type source struct {
	path, name string
	recording  *mocap.Recording
}

// nameOf returns the name of a clip: that of its animation, without its armature's, or of its file if that says more.
func nameOf(file, animation string, of int) string {
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if _, after, ok := strings.Cut(animation, "|"); ok {
		animation = after
	}
	if animation == "" || of == 1 && label.Named(animation) == "" {
		return base
	}
	return animation
}

// find returns the files with motion in a folder, sorted.
func find(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(p)) {
		case ".bvh", ".amc", ".glb", ".gltf", ".vrm", ".fbx":
			if !d.IsDir() {
				files = append(files, p)
			}
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func (r *source) wanted(only, skip []string) bool {
	file := filepath.Base(r.path)
	return (len(only) == 0 || matches(only, r.name, file)) && !matches(skip, r.name, file)
}

// matches reports whether one of the names matches one of the patterns.
func matches(patterns []string, names ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(n string) bool { ok, _ := filepath.Match(p, n); return ok })
	})
}

// Actions returns how many seconds show each action, the most frequent first.
func (s *Set) Actions() (names []string, seconds map[string]float64) {
	seconds = map[string]float64{}
	for _, c := range s.Clips {
		for _, a := range c.Actions {
			if _, ok := seconds[a]; !ok {
				names = append(names, a)
			}
			seconds[a] += 1.0 / FPS
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(seconds[b], seconds[a]), cmp.Compare(a, b)) })
	return names, seconds
}

// Mirror adds the mirror image of each clip. It reports whether the skeleton has one.
func (s *Set) Mirror() bool {
	if s.symmetric == nil {
		return false
	}
	for _, c := range slices.Clone(s.Clips) {
		m := c.Motion.Mirrored(s.symmetric)
		m.Skel = s.Skel // lengths of both sides are those of the set
		c.Name, c.Motion, c.made = c.Name+" mirrored", m, true
		s.Clips = append(s.Clips, c)
	}
	return true
}

// Symmetry returns how the skeleton maps onto its mirror image; nil if it has none.
func (s *Set) Symmetry() *skel.Mirror { return s.symmetric }

// ErrNoMotion says that no clip moves over the ground: there is nothing to be steered.
var ErrNoMotion = errors.New("no clip walks: a character that is steered wants clips of walking or running, and of standing")

// Asked returns the clips that a control.Goal can ask for: all but those of poses, such as the skeleton's own.
func (s *Set) Asked() (clips []Clip) {
	for _, c := range s.Clips {
		if slices.ContainsFunc(c.Actions, func(a string) bool { return a != label.Pose }) {
			clips = append(clips, c)
		}
	}
	return clips
}

// lasting are actions that go on as long as they are asked for. A clip of another action, if it is no loop, plays once.
var lasting = []string{label.Idle, label.Move, label.Sit, label.Lie, label.Stand, label.Crouch, "crawl", "swim", "fly", "climb", "ride"}

// Lasting returns the actions of clips that go on as long as they are asked for, besides idle and move.
func (s *Set) Lasting() (out []string) {
	names, _ := s.Actions()
	for _, a := range lasting {
		if a != label.Idle && a != label.Move && slices.Contains(names, a) {
			out = append(out, a)
		}
	}
	return out
}

// brief are actions that end, even if they end as they began.
var brief = []string{"attack", "block", "hit", "roll", "death", "gesture"}

// once reports whether a clip is an action from its first frame to its last, and whether its last pose is kept: it lies
// there, and stood before.
func (s *Set) once(c *Clip) (once, holds bool) {
	a := c.Actions[0]
	ends := !c.Loop || slices.Contains(brief, a) && !label.Says(c.Name, label.Idle) && !label.Says(c.Name, label.Move)
	if !ends || c.Motion.Seconds() > label.OneThing || slices.Contains(lasting, a) || slices.ContainsFunc(c.Actions, func(b string) bool { return b != a }) {
		return false, false
	}
	from, to := c.Motion.Pos[0].Y, c.Motion.Pos[(c.Motion.Frames-1)*s.Skel.Len()].Y
	return true, a == "death" || to < 0.5*from
}

// Database makes a database for motion matching of the clips that goals ask for. The tags are the actions.
func (s *Set) Database() (*matching.Database, error) {
	names, seconds := s.Actions()
	if seconds[label.Move] < 0.5 {
		return nil, ErrNoMotion
	}
	if len(names) > 64 {
		return nil, fmt.Errorf("clips show %d actions, at most 64 are allowed", len(names))
	}
	slices.Sort(names)
	var walk matching.Tags
	if len(s.Roles.Legs) == 2 {
		names, walk = append(names, matching.WalkTag), 1<<len(names)
	}
	var clips []matching.Clip
	for _, c := range s.Asked() {
		m := matching.Clip{Name: c.Name, Motion: c.Motion, Loop: c.Loop}
		if m.Once, m.Holds = s.once(&c); m.Once {
			m.Loop = false
		}
		for _, a := range c.Actions {
			m.Tags = append(m.Tags, 1<<slices.Index(names, a))
		}
		if walk != 0 {
			for f, walks := range s.stance.Walks(c.Motion) {
				if walks && c.Actions[f] == label.Move {
					m.Tags[f] |= walk
				}
			}
		}
		clips = append(clips, m)
	}
	weights := matching.DefaultWeights()
	if s.bent {
		// Between loops there is nothing recorded: where to go counts more than how the pose goes on.
		weights.Place, weights.Facing = bentPlace, bentFacing
	}
	return matching.Build(s.Skel, clips, matching.Options{Roles: &s.Roles, Tags: names, Weights: weights})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// quantile returns a value of v below which a share of them lie.
func quantile(v []float64, share float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[int(share*float64(len(v)-1))]
}

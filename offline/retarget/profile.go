package retarget

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"mannequin/animsys/skel"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
	"mannequin/offline/mocap"
)

// maxProfile is the largest size of a profile's text in bytes.
const maxProfile = 1 << 15

// Profile maps a family of files' joints to the target's, the uniform skeleton. Names are those of
// package mocap: an End Site has its parent's, with Site appended. #12 is the joint with index 12. A
// profile without a name corrects a guess: it may have a few joints only, and empty ones for none.
type Profile struct {
	Name  string `toml:"name,omitempty"`  // of the profile
	About string `toml:"about,omitempty"` // what it is for; may be empty

	// MetresPerUnit is the length of the file's unit. It is guessed from the skeleton's size
	// (mocap.Summarize) if it is 0, or makes legs less than half or more than twice the target's.
	// Only the report uses it: motions are scaled by the length of the legs.
	MetresPerUnit float64 `toml:"metres_per_unit,omitzero"`
	// RestFrames is the number of frames at the start that may show the rest pose, added by
	// the tool that made the file. Those whose hips are not turned are left out.
	RestFrames int    `toml:"rest_frames,omitzero"`
	Up         string `toml:"up,omitempty"` // the file's vertical axis, one of mocap.Ups; empty: found from the motion

	// Joints maps each joint of the target to its source, a joint of the file.
	Joints map[string]string `toml:"joints"`
	// TurnOnly lists joints of the target that take over the rotation of their source and not
	// its position: it sits elsewhere in the body.
	TurnOnly []string `toml:"turn_only,omitempty"`
	// Collapse lists joints whose children move to their position: bones that the target lacks.
	Collapse []string `toml:"collapse,omitempty"`
	// Axes gives, for joints of the target, the source joint's axes that point left and up in a
	// T-pose, palms down, as in "z -x". Other joints' frames fit the rest pose. Without any axes, frames
	// are found from the rest pose or the motion.
	Axes map[string]string `toml:"axes,omitempty"`
}

// required lists the joints that every profile needs, for the scale and the ground.
var required = []string{"Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"}

// trunk lists the joints of the spine. One of them is required.
var trunk = []string{"LowerBack", "Spine", "Spine1"}

// OpenProfile reads the TOML file at path: a profile with a name, or the map of skin.OpenMap, whose joints
// come before those of a guess. Its errors name the file, and the line or the key.
func OpenProfile(path string) (*Profile, error) {
	b, err := boundedfile.Read(path, maxProfile)
	if err != nil {
		return nil, err
	}
	return ReadProfile(path, b)
}

// ReadProfile reads a profile from the text of the file called name: see OpenProfile.
func ReadProfile(name string, text []byte) (*Profile, error) {
	if len(text) > maxProfile {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", name, len(text), maxProfile)
	}
	var p Profile
	if flat := joinMap(name, text); flat != nil {
		p.Joints = flat
	} else if err := boundedtoml.Decode(name, text, &p); err != nil {
		return nil, err
	}
	err := p.Validate()
	if p.Name == "" { // it corrects a guess
		whole := p
		whole.Name = name
		err = whole.check(false)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &p, nil
}

// Validate reports the first key that is missing or out of range.
func (p *Profile) Validate() error { return p.check(true) }

// check is Validate; if whole is false, joints may be missing or empty.
func (p *Profile) check(whole bool) error {
	switch {
	case strings.TrimSpace(p.Name) == "":
		return errors.New("name is missing")
	case !(p.MetresPerUnit >= 0) || p.MetresPerUnit > 1e6 || math.IsNaN(p.MetresPerUnit):
		return fmt.Errorf("metres_per_unit is %g, want a positive number, or none for a guess", p.MetresPerUnit)
	case p.RestFrames < 0 || p.RestFrames > 1000:
		return fmt.Errorf("rest_frames is %d, want 0 to 1000", p.RestFrames)
	case p.Up != "" && !slices.Contains(mocap.Ups, p.Up):
		return fmt.Errorf("up is %.20q, want one of %q", p.Up, mocap.Ups)
	case len(p.Joints) > skel.MaxJoints:
		return fmt.Errorf("joints has %d entries, at most %d are allowed", len(p.Joints), skel.MaxJoints)
	}
	for _, r := range required {
		if p.Joints[r] == "" && whole {
			return fmt.Errorf("joints.%s is missing: the hips, both legs and a joint of the spine are needed", r)
		}
	}
	if whole && !slices.ContainsFunc(trunk, func(t string) bool { return p.Joints[t] != "" }) {
		return fmt.Errorf("joints.%s is missing, and so are its like: one joint of %s is needed", trunk[1], strings.Join(trunk, ", "))
	}
	places := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(p.Joints)) {
		v := p.Joints[k]
		if v == "" && !whole {
			continue
		}
		if v == "" {
			return fmt.Errorf("joints.%.60s is empty: leave the line out", k)
		}
		if slices.Contains(p.TurnOnly, k) {
			continue
		}
		if other, ok := places[v]; ok {
			return fmt.Errorf("joints.%.60s and joints.%.60s are both %.60q: only one can have its position, list the other in turn_only", other, k, v)
		}
		places[v] = k
	}
	for _, k := range p.TurnOnly {
		if p.Joints[k] == "" {
			return fmt.Errorf("turn_only has %.60q, which joints does not", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.Axes)) {
		if p.Joints[k] == "" {
			return fmt.Errorf("axes.%.60s: joints has no such line", k)
		}
		if _, err := parseAxes(p.Axes[k]); err != nil {
			return fmt.Errorf("axes.%.60s: %w", k, err)
		}
	}
	return nil
}

// Write writes p as the TOML that ReadProfile reads.
func (p *Profile) Write(w io.Writer) error {
	e := toml.NewEncoder(w)
	e.Indent = ""
	return e.Encode(p)
}

//go:embed profiles/*.toml
var profileFS embed.FS

// Profiles returns the built-in profiles, by name. The caller owns them.
func Profiles() []*Profile {
	entries, err := profileFS.ReadDir("profiles")
	if err != nil {
		panic("retarget: " + err.Error()) // a mistake in this package
	}
	var all []*Profile
	for _, e := range entries {
		text, err := profileFS.ReadFile("profiles/" + e.Name())
		if err != nil {
			panic("retarget: " + err.Error())
		}
		p, err := ReadProfile(e.Name(), text)
		if err != nil {
			panic("retarget: " + err.Error())
		}
		all = append(all, p)
	}
	return all
}

// ProfileNames returns the names of the built-in profiles.
func ProfileNames() []string { return slices.Clone(profileNames()) }

// profileNames are read once, because every command with a flag of a profile asks for them.
var profileNames = sync.OnceValue(func() (names []string) {
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
})

// Named returns the built-in profile called name, or nil.
func Named(name string) *Profile {
	for _, p := range Profiles() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Detect returns the built-in profile for s: the one that explains the most of the file's body, of those that
// s lacks at most a few joints of, whose axes agree with its bones, and above whose chest no joint is left
// before the arms. It returns nil if there is none.
func Detect(s *skel.Skeleton) *Profile {
	var best *Profile
	var most fit
	for _, p := range Profiles() {
		if f, ok := p.fits(s); ok && (best == nil || f.better(most)) {
			best, most = p, f
		}
	}
	return best
}

// fit is how much of a body a profile explains: the joints but fingers whose positions are taken over, all that it
// finds, and those that the file lacks.
type fit struct{ placed, found, lacks int }

func (f fit) better(g fit) bool {
	return cmp.Or(f.placed-g.placed, f.found-g.found, g.lacks-f.lacks) > 0
}

// mostMissing is the share of a profile's joints that a file may lack: a seventh.
const mostMissing = 7

// fits reports whether s has all joints of p but a few, in frames that agree with p's axes, and how much of
// s that explains.
func (p *Profile) fits(s *skel.Skeleton) (f fit, ok bool) {
	for _, name := range p.Joints {
		if s.Index(name) < 0 {
			f.lacks++
		}
	}
	if f.found = len(p.Joints) - f.lacks; f.lacks > len(p.Joints)/mostMissing {
		return f, false
	}
	b, err := bind(p, s, Human())
	if err != nil {
		return f, false
	}
	for j, place := range b.place {
		if place && !strings.Contains(b.target.Names[j], "HandIndex1") { // any finger will do
			f.placed++
		}
	}
	return f, b.axesAgree() && b.armsAtChest()
}

// suits reports whether the hips of s sit where p's body has them. Names alone may agree with another body, whose
// pelvis is not to be pulled to a place that it does not have.
func (p *Profile) suits(s *skel.Skeleton) bool {
	b, err := bind(p, s, Human())
	return err != nil || !b.otherHips()
}

// otherHips reports whether hips take their place from a pelvis that is built otherwise than the target's. Only legs
// that hang on the hips, or on joints at their place, show it: what is between may be turned at rest.
func (b *binding) otherHips() bool {
	hips := b.target.Index("Hips")
	for _, name := range []string{"LeftUpLeg", "RightUpLeg"} {
		j := b.from[b.target.Index(name)]
		if j < 0 || b.source.Parents[j] < 0 || b.at[b.source.Parents[j]].Dist(b.at[b.from[hips]])*b.size() > 1e-3 {
			return false
		}
	}
	return !b.otherTrunk() && b.elsewhere("Hips")
}

// armsAtChest reports whether the source's arms meet at the joint that p takes for the chest, or below it.
// If they meet above, the file's trunk has more joints than p knows.
func (b *binding) armsAtChest() bool {
	above := func(name string) (up []int) { // from the joint itself to the root
		if t := b.target.Index(name); t >= 0 {
			for j := b.from[t]; j >= 0; j = int(b.source.Parents[j]) {
				up = append(up, j)
			}
		}
		return up
	}
	left, right, chest := above("LeftArm"), above("RightArm"), above("Spine1")
	if len(chest) == 0 {
		return true
	}
	for _, j := range left {
		if slices.Contains(right, j) {
			for j = int(b.source.Parents[j]); j >= 0; j = int(b.source.Parents[j]) {
				if j == chest[0] {
					return false
				}
			}
			return true
		}
	}
	return true
}

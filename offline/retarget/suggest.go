package retarget

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Suggestion is a guess at the profile of an unknown skeleton.
type Suggestion struct {
	Profile *Profile // incomplete if Missing names a required joint
	Found   []Pair   // what was matched, in the order of the uniform skeleton
	Missing []string // joints of the uniform skeleton without a match
	Unused  []string // joints of the file that are not used, without End Sites
	Err     error    // why Profile cannot be used as it is; nil if it can
}

// Pair is one match.
type Pair struct{ Joint, Source string }

// Suggest guesses a profile called name for a clip of an unknown skeleton, as anatomy.Find does: by
// the words and sides in the joints' names, and where these do not tell, by the tree, the
// symmetry and the ground. A motion of an animal is refused: Err has the reason.
func Suggest(name string, c *skel.Clip) *Suggestion { return guess(name, c, nil) }

// guess is Suggest with joints that the user gives: ours = the file's.
func guess(name string, c *skel.Clip, as map[string]string) *Suggestion {
	body := anatomy.OfClip(c, as)
	p := &Profile{Name: name, About: fmt.Sprintf("guessed from %d joints", c.Skel.Len()), Joints: map[string]string{}}
	joints := anatomy.AsNamed(c.Skel.Names, body.Uniform())
	out := suggest(p, c, joints)
	if len(as) == 0 && !anatomy.Sided(c.Skel.Names) {
		out = turnSides(out, c, joints)
	}
	if err := body.NoPerson(); err != nil && as["Hips"] == "" {
		out.Err = &noPersonError{err}
	}
	return out
}

// turnSides exchanges the sides of a suggestion whose joints are guessed, if it has them the wrong way round.
func turnSides(out *Suggestion, c *skel.Clip, joints map[string]int) *Suggestion {
	p := out.Profile
	if out.Err != nil || !backward(p, c) {
		return out
	}
	return suggest(&Profile{Name: p.Name, About: p.About, Joints: map[string]string{}}, c, anatomy.OtherSides(joints))
}

// backward reports whether a profile whose sides are guessed takes the left side for the right one: by its sides, the person
// of the motion has toes and knees that point to the back.
func backward(p *Profile, c *skel.Clip) bool {
	b, err := bind(p, c.Skel, Human())
	if err != nil {
		return false
	}
	w := &work{binding: b, job: &Retargeter{Profile: p}, world: m3.Ident}
	if _, err := w.takeFrames(c); err != nil {
		return false
	}
	return w.isMirrored()
}

// noPersonError is why a motion is not that of a person.
type noPersonError struct{ error }

func (e *noPersonError) Unwrap() error { return e.error }

// OfParts returns a profile called name for a clip of which it is known what its joints are: parts maps
// joints of the uniform skeleton to joints of the clip's.
func OfParts(name string, c *skel.Clip, parts map[string]string) *Suggestion {
	joints := map[string]int{}
	for joint, source := range parts {
		if j := c.Skel.Index(source); j >= 0 {
			joints[joint] = j
		}
	}
	return suggest(&Profile{Name: name, About: "the bones that the file names", Joints: map[string]string{}}, c, joints)
}

// suggest fills a profile with joints of the uniform skeleton and those of c that they are.
func suggest(p *Profile, c *skel.Clip, joints map[string]int) *Suggestion {
	out := &Suggestion{Profile: p}
	used := map[int]bool{}
	for _, joint := range Human().Names {
		switch j, ok := joints[joint]; {
		case ok:
			p.Joints[joint], used[j] = anatomy.NameOf(c.Skel.Names, j), true
			out.Found = append(out.Found, Pair{joint, p.Joints[joint]})
		case !strings.HasSuffix(joint, "Site"):
			out.Missing = append(out.Missing, joint)
		}
	}
	for j, n := range c.Skel.Names {
		if !used[j] && !c.Skel.EndSite[j] {
			out.Unused = append(out.Unused, n)
		}
	}
	if out.Err = p.Validate(); out.Err != nil {
		return out
	}
	b, err := bind(p, c.Skel, Human())
	if err != nil {
		out.Err = err
		return out
	}
	for _, j := range []string{"Hips", "LeftShoulder", "LeftHandIndex1", "RightShoulder", "RightHandIndex1"} {
		if b.elsewhere(j) {
			p.TurnOnly = append(p.TurnOnly, j)
		}
	}
	_, out.Err = bind(p, c.Skel, Human())
	return out
}

// elsewhere reports whether a joint sits in another place of the body than the uniform skeleton's:
// hips at another height, shoulders away from the chest's joint, fingers that begin elsewhere.
func (b *binding) elsewhere(name string) bool {
	j := b.target.Index(name)
	if b.from[j] < 0 {
		return false
	}
	if strings.HasSuffix(name, "Shoulder") {
		return !b.pivots(j)
	}
	l, r := b.target.Index("LeftUpLeg"), b.target.Index("RightUpLeg")
	if name != "Hips" {
		l, r = int(b.target.Parents[j]), int(b.target.Parents[j])
	}
	if b.from[l] < 0 {
		return true
	}
	ours := b.to[j].Sub(b.to[l].Lerp(b.to[r], 0.5))
	theirs := b.at[b.from[j]].Sub(b.at[b.from[l]].Lerp(b.at[b.from[r]], 0.5)).Scale(b.size())
	if name == "Hips" {
		if k := b.trunkTop(); k >= 0 { // above the legs in one, and below them in the other
			up := b.to[k].Sub(b.to[j]).Normalize(m3.Up)
			upThere := b.at[b.from[k]].Sub(b.at[b.from[j]]).Normalize(m3.Up)
			if m3.Abs(ours.Dot(up)-theirs.Dot(upThere)) > 0.08 {
				return true
			}
		}
	}
	return m3.Abs(theirs.Len()-ours.Len()) > 0.04
}

// trunkTop returns the joint of the target at the top of the trunk that the source has too, or −1.
func (b *binding) trunkTop() int {
	for _, n := range []string{"Neck1", "Head", "Neck", "Spine1", "Spine"} {
		if j := b.target.Index(n); j >= 0 && b.from[j] >= 0 {
			return j
		}
	}
	return -1
}

// Write writes the suggestion as a profile to edit, with the missing joints in comments.
func (s *Suggestion) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %d of %d joints of the uniform skeleton were found.\n", len(s.Found), len(s.Found)+len(s.Missing))
	list(b, "# not found: ", s.Missing)
	list(b, "# not used: ", s.Unused)
	if s.Err != nil {
		fmt.Fprintf(b, "# it cannot be used as it is: %s\n", strings.ReplaceAll(s.Err.Error(), "\n", " "))
	}
	if err := s.Profile.Write(b); err != nil {
		return err
	}
	return b.Flush()
}

func list(w io.Writer, head string, names []string) {
	const most = 60
	line := head
	for i, n := range names {
		// Control characters would end or garble the comment.
		n = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '\ufffd' {
				return '?'
			}
			return r
		}, n)
		if i == most {
			line += fmt.Sprintf(" and %d more", len(names)-most)
			break
		}
		if len(line)+len(n) > 90 {
			fmt.Fprintln(w, strings.TrimSpace(line))
			line = "#   "
		}
		line += n
		if i+1 < len(names) {
			line += ", "
		}
	}
	if len(names) > 0 {
		fmt.Fprintln(w, strings.TrimSpace(line))
	}
}

// String lists the matched and the unmatched joints.
func (s *Suggestion) String() string {
	var b strings.Builder
	for _, p := range s.Found {
		line := fmt.Sprintf("%-16s %s", p.Joint, p.Source)
		if a := s.Profile.Axes[p.Joint]; a != "" {
			line = fmt.Sprintf("%-40s axes %s", line, a)
		}
		fmt.Fprintln(&b, line)
	}
	list(&b, "not found: ", s.Missing)
	list(&b, "not used: ", s.Unused)
	return b.String()
}

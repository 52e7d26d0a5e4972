package clipset

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mannequin/animsys/skel"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
	"mannequin/internal/closest"
	"mannequin/offline/label"
)

// What labels say beside names of actions.
const (
	Auto = "auto" // posture and motion tell the action of each frame
	Skip = "skip" // the clip is left out
)

// maxLabels bounds the size of a label file.
const maxLabels = 1 << 20

// Labels are actions that a user gives, by the names of clips and of clusters.
type Labels struct{ Clips, Clusters map[string]string }

// OpenLabels reads a file of WriteLabels: the table clips, of clips' names and their actions, and the table clusters, if it has
// one.
func OpenLabels(path string) (Labels, error) {
	text, err := boundedfile.Read(path, maxLabels)
	if err != nil {
		return Labels{}, err
	}
	return ReadLabels(path, text)
}

// ReadLabels reads labels from the text of the file called name; see OpenLabels.
func ReadLabels(name string, text []byte) (Labels, error) {
	var file struct {
		Clips    map[string]string `toml:"clips"`
		Clusters map[string]string `toml:"clusters"`
	}
	if err := boundedtoml.Decode(name, text, &file); err != nil {
		return Labels{}, err
	}
	if file.Clips == nil {
		return Labels{}, fmt.Errorf("%s: it has no table [clips]", name)
	}
	return Labels(file), nil
}

// WriteLabels writes the actions of all clips, to be edited.
func (s *Set) WriteLabels(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# What clips show. Change what is wrong, and run mannequin make with --labels and this file.\n")
	fmt.Fprintf(&b, "# Actions such as idle, move, jump, sit, lie, stand and crouch, or any other, are what a goal asks for. %q finds the action of\n# each frame by posture and motion, %q leaves a clip out. Seconds after an action, such as\n# \"auto 0-12.5, 20-31\", take these parts only.\n\n[clips]\n", Auto, Skip)
	of := ""
	for _, c := range s.Clips {
		if c.of == "" {
			fmt.Fprintf(&b, "%s = %q # %.1f s: %s\n", quote(c.Name), c.labelled(), c.Motion.Seconds(), strings.Join(c.Shows(), ", "))
		} else if c.of != of { // a line for all its parts
			fmt.Fprintf(&b, "%s = %q\n", quote(c.of), c.label+" "+c.parts)
		}
		of = c.of
	}
	if all := s.Clusters(); len(all) > 0 {
		fmt.Fprintf(&b, "\n# Poses of clips whose names say no action: each line is a row at the end of the picture, named by the moment in its middle. An\n# action here is that of all its moments, %q keeps those that were found.\n\n[clusters]\n", Auto)
		for i, c := range all {
			shows, clips := s.Shows(&c)
			fmt.Fprintf(&b, "%s = %q # row %d, of %d clips: %s\n", quote(c.Name), c.Action, i+1, clips, strings.Join(shows, ", "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quote returns a name as a TOML key.
func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// labelled returns the label that gives a clip its actions.
func (c *Clip) labelled() string {
	if c.label != "" {
		return c.label
	}
	if slices.ContainsFunc(c.Actions, func(a string) bool { return a != c.Actions[0] }) {
		return Auto
	}
	return c.Actions[0]
}

// Shows returns the actions of a clip with their seconds, the most frequent first.
func (c *Clip) Shows() (out []string) {
	one := Set{Clips: []Clip{*c}}
	names, seconds := one.Actions()
	for _, n := range names {
		out = append(out, fmt.Sprintf("%s %.1f s", n, seconds[n]))
	}
	return out
}

// plain returns a name without what cannot be printed.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}

// unique makes the names of clips plain and different: by their files, and then by numbers.
func (s *Set) unique() {
	taken := map[string]bool{}
	for i := range s.Clips {
		c := &s.Clips[i]
		c.Name = plain(c.Name)
		name := c.Name
		if taken[name] {
			name = plain(filepath.Base(c.File)) + "#" + c.Name
		}
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s %d", c.Name, n)
		}
		c.Name, taken[name] = name, true
	}
}

// relabel takes over labels of the user. It leaves out clips, and refuses names that no clip has, if all are there.
func (s *Set) relabel(labels map[string]string, all bool) error {
	var names []string
	for _, c := range s.Clips {
		names = append(names, c.Name)
	}
	for _, n := range sortedKeys(labels) {
		if all && !slices.Contains(names, n) {
			return fmt.Errorf("labels: there is no clip %q%s", n, closest.Hint(n, names))
		}
	}
	parsed := map[string]clipLabel{}
	for _, n := range sortedKeys(labels) {
		l, err := parseLabel(labels[n])
		if err != nil {
			return fmt.Errorf("labels: clip %q: %w", n, err)
		}
		if err := sound("clip", n, l.action); err != nil {
			return err
		}
		parsed[n] = l
	}
	var kept []Clip
	for _, c := range s.Clips {
		l := parsed[c.Name]
		if l.action == Skip {
			continue
		}
		if c.label = l.action; l.parts == nil {
			kept = append(kept, c)
		}
		for _, p := range l.parts {
			part, err := c.part(p[0], p[1])
			if err != nil {
				return fmt.Errorf("labels: %w", err)
			}
			part.of, part.parts = c.Name, l.text
			kept = append(kept, part)
		}
	}
	s.Clips = kept
	s.unique()
	if len(s.Clips) == 0 {
		return fmt.Errorf("labels: all clips are left out")
	}
	return nil
}

// clipLabel is what a label says of a clip: an action, and which parts of it are taken, in seconds; none is all.
type clipLabel struct {
	action string
	parts  [][2]float64
	text   string // of the parts
}

// parseLabel reads a label such as "auto", or "auto 0-12.5, 20-31".
func parseLabel(text string) (l clipLabel, err error) {
	action, rest, some := strings.Cut(strings.TrimSpace(text), " ")
	if l.action, l.text = action, strings.TrimSpace(rest); !some {
		return l, nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		from, to, ok := strings.Cut(strings.TrimSpace(part), "-")
		a, bad := strconv.ParseFloat(from, 64)
		b, worse := strconv.ParseFloat(to, 64)
		if !ok || bad != nil || worse != nil || !(a >= 0 && b > a && b < 1e6) {
			return l, fmt.Errorf("after its action are the seconds %q: want parts such as 0-12.5, 20-31", rest)
		}
		l.parts = append(l.parts, [2]float64{a, b})
	}
	return l, nil
}

// part returns the frames of a clip between two times, s.
func (c *Clip) part(from, to float64) (Clip, error) {
	first, end := int(from*FPS+0.5), int(min(to*FPS+0.5, float64(c.Motion.Frames)))
	if end-first < int(shortest*FPS) {
		return Clip{}, fmt.Errorf("clip %q has %.1f s: from %g s to %g s it has less than %g s", c.Name, c.Motion.Seconds(), from, to, shortest)
	}
	out := c.section(fmt.Sprintf("%s from %.2f s", c.Name, from), first, end)
	m := *out.Motion // what follows changes it
	m.Pos, m.Rot = slices.Clone(m.Pos), slices.Clone(m.Rot)
	out.Motion = &m
	return out, nil
}

// sound returns an error if an action of a clip or a cluster is none.
func sound(what, name, is string) error {
	switch {
	case is == Auto || is == Skip || label.Known(is):
	case is == "":
		return fmt.Errorf("labels: the action of %s %q is empty: want one such as idle or move, %q or %q", what, name, Auto, Skip)
	case label.Named(is) != "" && label.Named(is) != is:
		return fmt.Errorf("labels: %s %q has the action %q; did you mean %q?", what, name, is, label.Named(is))
	}
	return nil
}

// label finds the actions of all clips.
func (s *Set) label() error {
	var moving []*skel.Clip
	for _, c := range s.Clips {
		moving = append(moving, c.Motion)
	}
	stance, err := label.NewStance(moving, s.Roles)
	if err != nil {
		return err
	}
	s.stance = stance
	for i := range s.Clips {
		c := &s.Clips[i]
		switch c.label {
		case "":
			c.Actions = stance.Actions(c.Motion, label.Named(c.Name))
		case Auto:
			c.Actions = stance.Actions(c.Motion, "")
		default:
			c.Actions = slices.Repeat([]string{c.label}, c.Motion.Frames)
		}
	}
	return nil
}

package matching

import (
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// WalkTag is the tag of frames in which a body on two legs walks and does not jog. Goals cannot ask for it: an agent that goes ahead or backward at
// a walking speed is shown only these frames.
const WalkTag = "walk"

// Action returns the action that asks for the frames with a tag: one of control's of that name, or one of the character's
// own. It reports whether there are such frames; streams ignore other actions.
func (c *Character) Action(tag string) (a control.Action, ok bool) {
	i := slices.IndexFunc(c.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
	if i < 0 || c.Tags[i] == WalkTag {
		return control.Idle, false
	}
	if a, err := control.ParseAction(tag); err == nil {
		return a, c.found>>i&1 != 0
	}
	return control.Own + control.Action(i), c.found>>i&1 != 0
}

// pace returns the speed of a body that should go at a speed, m/s, in frames with the tags of an action: no clip may be faster. Who
// crawls goes as fast as the slowest crawl at least, or would not go.
func (c *Character) pace(speed float32, must Tags) float32 {
	if must == 0 {
		return m3.Clamp(speed, 0, c.fastest[maxTags])
	}
	i := must.First()
	if speed > 0 {
		speed = max(speed, c.slowest[i])
	}
	return m3.Clamp(speed, 0, c.fastest[i])
}

// shows returns 1 if frames with some tags show an action, otherwise 0. Those without one of the actions that are asked for
// show idle if the body neither goes nor turns, otherwise move.
func (s *steering) shows(row int, tags Tags, a control.Action) float32 {
	c := s.character
	if c == nil {
		return 0
	}
	is := false
	switch must, _ := c.wants(a); {
	case must != 0:
		is = tags&must == must
	case tags&c.acts == 0:
		if is = s.goes(row); a != control.Move {
			is = !is && a == control.Idle
		}
	}
	if is {
		return 1
	}
	return 0
}

// Wanted returns what a search looks for that may find a frame with some tags.
func (c *Character) Wanted(tags Tags) (must, never Tags) {
	if must = tags & c.acts; must == 0 {
		return tags & (c.idle | c.walk), c.acts
	}
	return must, 0
}

// wants returns the tags of an action.
func (c *Character) wants(a control.Action) (must, never Tags) {
	if i := a.Tag(); i >= 0 && c.found&^c.walk>>i&1 != 0 {
		return 1 << i, 0
	}
	if a == control.Idle || a == control.Move || int(a) >= len(c.actions) || c.actions[a] == 0 {
		return 0, c.acts
	}
	return c.actions[a], 0
}

// name finds the tags that goals ask for by their names.
func (c *Character) name() {
	for i, name := range c.Tags {
		if a, err := control.ParseAction(name); err == nil {
			c.actions[a] = 1 << i & c.found
		}
	}
	c.acts = c.actTags()
	c.walk = 0
	if i := slices.Index(c.Tags, WalkTag); i >= 0 {
		c.walk = 1 << i & c.found
	}
}

// actTags returns the tags that have to be asked for: all but idle, move and WalkTag.
func (c *Character) actTags() (acts Tags) {
	for i, name := range c.Tags {
		if name != control.Idle.String() && name != control.Move.String() && name != WalkTag {
			acts |= 1 << i
		}
	}
	return acts
}

// slow finds the slowest clip that goes, for each tag that is on a whole clip.
func (d *Database) slow() {
	for _, c := range d.clips {
		all, way := d.tags[c.first], float32(0)
		for f := c.first; f < c.end; f++ {
			all &= d.tags[f]
			way += m3.V(d.moves[f].X, 0, d.moves[f].Z).Len()
		}
		speed := way * TickRate / float32(c.end-c.first)
		for i := range d.Tags {
			if v := &d.slowest[i]; all>>i&1 != 0 && !c.once && speed > slowest && (*v == 0 || speed < *v) {
				*v = speed
			}
		}
	}
}

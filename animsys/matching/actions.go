package matching

import (
	"math/bits"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Action returns the action that asks for the frames with a tag: one of control's of that name, or one of the database's
// own. It reports whether a search finds such frames; streams ignore other actions.
func (d *Database) Action(tag string) (a control.Action, ok bool) {
	i := slices.IndexFunc(d.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
	if i < 0 {
		return control.Idle, false
	}
	if a, err := control.ParseAction(tag); err == nil {
		return a, d.found>>i&1 != 0
	}
	return control.Own + control.Action(i), d.found>>i&1 != 0
}

// pace returns the speed of a body that should go at a speed, m/s, in frames with the tags of an action: no clip may be faster. Who
// crawls goes as fast as the slowest crawl at least, or would not go.
func (d *Database) pace(speed float32, must Tags) float32 {
	if must == 0 {
		return m3.Clamp(speed, 0, d.fastest[maxTags])
	}
	i := bits.TrailingZeros64(uint64(must))
	if speed > 0 {
		speed = max(speed, d.slowest[i])
	}
	return m3.Clamp(speed, 0, d.fastest[i])
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

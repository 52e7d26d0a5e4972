package registration

import (
	"regexp"
	"strings"
)

// Label describes a recording, by its name or by a table.
type Label struct {
	Action, Style, Content string
	Number                 string // which take of these; may be empty
	Cyclic                 Cyclic
}

var (
	// xiaName: style_CC_TTT, the recordings of Xia et al. 2015.
	xiaName = regexp.MustCompile(`^([A-Za-z][A-Za-z-]*)_(0[1-9]|1[0-9]|2[0-8])_([0-9]{3})$`)
	// bandaiName: dataset-N_CONTENT_STYLE_NNN, the recordings of Bandai Namco Research.
	bandaiName = regexp.MustCompile(`^dataset-[0-9]_([a-z0-9-]+)_([a-z0-9-]+)_([0-9]{3})$`)
)

// xiaActions are the actions of Xia et al. 2015 by the first content of each. Every transition is
// an action of its own: walk to run and run to jump have no common timeline.
var xiaActions = []struct {
	first, action string
}{{"24", "transition-"}, {"22", "kick"}, {"18", "punch"}, {"16", "jump"}, {"13", "run"}, {"01", "walk"}}

// ParseName reads the label off the name of a recording, without folder and extension, in one of
// two families: style_CC_TTT as in Xia et al. 2015, where CC is the content (01–12 walk, 13–15 run,
// 16–17 jump, 18–21 punch, 22–23 kick, 24–28 transitions, each an action of its own), and
// dataset-N_CONTENT_STYLE_NNN as in Bandai Namco Research's, with the content as the action. It
// reports whether the name is of one of them.
func ParseName(name string) (Label, bool) {
	if m := xiaName.FindStringSubmatch(name); m != nil {
		l := Label{Style: m[1], Content: m[2], Number: m[3]}
		for _, a := range xiaActions {
			if l.Content >= a.first {
				if l.Action = a.action; strings.HasSuffix(a.action, "-") {
					l.Action += l.Content
				}
				break
			}
		}
		l.Cyclic = known(l.Action)
		return l, true
	}
	if m := bandaiName.FindStringSubmatch(name); m != nil {
		return Label{Action: m[1], Content: m[1], Style: m[2], Number: m[3], Cyclic: known(m[1])}, true
	}
	return Label{}, false
}

// known returns whether an action repeats, by its name.
func known(action string) Cyclic {
	for _, gait := range []string{"walk", "run", "dash"} {
		if action == gait || strings.HasPrefix(action, gait+"-") {
			return Repeats
		}
	}
	if strings.HasPrefix(action, "dance") {
		return Unknown
	}
	return Once
}

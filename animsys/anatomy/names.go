// Package anatomy reads which part of a body each joint plays from the names of any tool.
package anatomy

import (
	"slices"
	"strings"
	"unicode"
)

// part is a part of the body in a joint's name.
type part int

const (
	unknown part = iota
	hipsPart
	spinePart
	neckPart
	headPart
	tailPart
	legUpper
	legLower
	legAny // Leg: the lower one beside an UpLeg, the upper one beside a Shin
	hipPart
	foot
	toe
	collar
	shoulder // the collar beside an Arm, the upper arm beside a Collar
	armUpper
	armLower
	hand
	fingerIndex
	fingerAny
)

// words that name parts. The first one in a name decides: longer and more special ones come first.
var words = []struct {
	part  part
	words []string
}{
	{fingerIndex, []string{"index"}},
	{unknown, []string{"thumb", "pinky", "little", "ring", "metacarpal", "carpal", "smalltoe", "bigtoe"}},
	{fingerAny, []string{"finger", "middle", "mid"}},
	{legUpper, []string{"upleg", "upperleg", "legupper", "thigh", "femur"}},
	{legLower, []string{"lowerleg", "lowleg", "loleg", "leglower", "shin", "calf", "tibia", "knee"}},
	{toe, []string{"toe", "ball", "forefoot"}},
	{foot, []string{"foot", "ankle", "talus"}},
	{armLower, []string{"forearm", "lowerarm", "lowarm", "loarm", "armlower", "elbow", "radius"}},
	{armUpper, []string{"upperarm", "uparm", "armupper", "humerus", "shldr"}},
	{collar, []string{"collar", "clavicle", "clav", "scapula"}},
	{shoulder, []string{"shoulder"}},
	{hand, []string{"hand", "wrist"}},
	{tailPart, []string{"tail"}},
	{headPart, []string{"head"}},
	{neckPart, []string{"neck"}},
	{spinePart, []string{"spine", "chest", "abdomen", "torso", "thorax", "back", "waist", "belly"}},
	{hipsPart, []string{"hips", "pelvis"}},
	{hipPart, []string{"hip"}},
	{legAny, []string{"leg"}},
	{armUpper, []string{"arm"}},
}

// helpers are words of joints that move nothing of a body, or only its skin.
var helpers = []string{"twist", "ik", "pole", "target", "roll", "rigmesh", "nub", "eye", "jaw", "tongue", "breast", "helper", "ctrl", "joint", "site", "end", "weapon", "prop", "buttock"}

// reading is what a name tells.
type reading struct {
	part part
	side string // "Left", "Right" or empty
}

// readNames reads the names of joints, without words that most begin with (mixamorig:, DEF-).
func readNames(names []string) []reading {
	tokens := make([][]string, len(names))
	for i, n := range names {
		tokens[i] = tokenise(n)
	}
	for {
		count := map[string]int{}
		for _, t := range tokens {
			if len(t) > 1 {
				count[t[0]]++
			}
		}
		prefix := ""
		for w, n := range count {
			if n > len(names)*2/3 && w != "left" && w != "right" && w != "l" && w != "r" {
				prefix = w
			}
		}
		if prefix == "" {
			break
		}
		for i, t := range tokens {
			if len(t) > 1 && t[0] == prefix {
				tokens[i] = t[1:]
			}
		}
	}
	out := make([]reading, len(names))
	for i, t := range tokens {
		// Some exporters put __NAME between a joint and its parent.
		if cut, ok := strings.CutPrefix(names[i], "__"); !ok || !slices.Contains(names, cut) {
			out[i] = read(t)
		}
	}
	return out
}

// tokenise splits a name at separators, digits and changes of case, and makes it lower case:
// LHipJoint is l hip joint, upper_arm.L upper arm l.
func tokenise(name string) []string {
	if i := strings.LastIndexAny(name, ":|"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), nil
		}
	}
	r := []rune(name)
	for i, c := range r {
		switch {
		case !unicode.IsLetter(c):
			flush()
			continue
		case unicode.IsUpper(c) && i > 0 && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])):
			flush()
		}
		word = append(word, c)
	}
	flush()
	return out
}

// read returns side and part by a name's words.
func read(tokens []string) reading {
	var out reading
	var rest []string
	for _, t := range tokens {
		switch {
		case slices.Contains(helpers, t):
			return reading{}
		case t == "left" || t == "l":
			out.side = "Left"
		case t == "right" || t == "r":
			out.side = "Right"
		default:
			rest = append(rest, t)
		}
	}
	text := strings.Join(rest, "")
	out.part = partOf(text)
	if out.side != "" {
		return out
	}
	// Sides that are written together: leftarm, lfemur.
	for _, s := range []struct{ prefix, side string }{{"left", "Left"}, {"right", "Right"}, {"l", "Left"}, {"r", "Right"}} {
		cut, ok := strings.CutPrefix(text, s.prefix)
		if !ok || len(cut) < 3 || slices.Contains(helpers, cut) {
			continue
		}
		if p := partOf(cut); p >= legUpper && startsWord(cut) {
			return reading{p, s.side}
		}
	}
	return out
}

// startsWord reports whether text begins with a word that names a part, so that what is before it
// may be a side: lfemur, and not lowerback.
func startsWord(text string) bool {
	for _, w := range words {
		for _, v := range w.words {
			if strings.HasPrefix(text, v) {
				return true
			}
		}
	}
	return false
}

func partOf(text string) part {
	for _, w := range words {
		for _, v := range w.words {
			if strings.Contains(text, v) {
				return w.part
			}
		}
	}
	return unknown
}

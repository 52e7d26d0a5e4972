// Package anatomy reads which part of a body each joint plays from the names of any tool.
package anatomy

import (
	"slices"
	"strconv"
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
	wing
	ear
	nose
	fin
)

// words that name parts. The first one in a name decides: longer and more special ones come first.
var words = []struct {
	part  part
	words []string
}{
	{fingerIndex, []string{"index"}},
	{unknown, []string{"thumb", "pinky", "little", "ring", "metacarpal", "carpal", "smalltoe", "bigtoe"}},
	{wing, []string{"wing", "feather"}},
	{fingerAny, []string{"finger", "middle", "mid", "digit"}},
	{legUpper, []string{"upleg", "upperleg", "legupper", "thigh", "femur"}},
	{legLower, []string{"lowerleg", "lowleg", "loleg", "leglower", "shin", "calf", "tibia", "knee"}},
	{toe, []string{"toe", "ball", "forefoot", "hoof"}},
	{foot, []string{"foot", "ankle", "talus", "feet", "paw", "hock", "horselink"}},
	{armLower, []string{"forearm", "lowerarm", "lowarm", "loarm", "armlower", "elbow", "radius"}},
	{armUpper, []string{"upperarm", "uparm", "armupper", "humerus", "shldr"}},
	{collar, []string{"collar", "clavicle", "clav", "scapula"}},
	{shoulder, []string{"shoulder"}},
	{hand, []string{"hand", "wrist", "palm", "fist"}},
	{tailPart, []string{"tail"}},
	{headPart, []string{"head", "skull"}},
	{neckPart, []string{"neck"}},
	{fin, []string{"flipper", "pectoral", "fin"}},
	{nose, []string{"proboscis", "trunknose"}},
	{ear, []string{"ear", "antenna", "horn"}},
	{spinePart, []string{"spine", "chest", "abdomen", "torso", "thorax", "back", "waist", "belly"}},
	{hipsPart, []string{"hips", "pelvis"}},
	{hipPart, []string{"hip"}},
	{legAny, []string{"leg"}},
	{armUpper, []string{"arm"}},
}

// helpers are words of joints that move nothing of a body, or only its skin.
var helpers = []string{"twist", "ik", "pole", "target", "roll", "rigmesh", "nub", "helper", "ctrl", "site", "end", "leaf", "pt",
	"eye", "eyebrow", "brow", "jaw", "mouth", "lip", "tongue", "teeth", "breast", "bust", "buttock", "hair",
	"skirt", "cloth", "cape", "sleeve", "hat", "weapon", "gun", "sword", "shield", "prop", "slot", "socket", "attach"}

// fillers are words that say nothing of a part.
var fillers = []string{"joint", "jnt", "bone", "def"}

// regions are words that tell legs of one side apart, in the order from the head to the tail.
var regions = map[string]string{"front": "front", "fore": "front", "mid": "mid", "back": "back", "hind": "back", "rear": "back"}

// reading is what a name tells.
type reading struct {
	part   part
	side   string // "Left", "Right" or empty
	region string // of a limb: front, mid, back, or two of them joined; or empty
}

// readNames reads the names of joints, without words that most begin with (mixamorig:, DEF-), and helpers' words that most
// have (_ctrl).
func readNames(names []string) []reading {
	tokens := make([][]string, len(names))
	common := commonHelpers(names)
	for i, n := range names {
		tokens[i] = slices.DeleteFunc(tokenise(plain(n)), func(t string) bool { return slices.Contains(common, t) })
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
	has := func(of byte) bool {
		return slices.ContainsFunc(names, func(n string) bool { return vertebra(n) == of })
	}
	spine := has('L') && has('T') // L1 and R1 are legs on two sides
	for i, t := range tokens {
		if spine && vertebra(names[i]) != 0 {
			out[i].part = spinePart
			continue
		}
		// Some exporters put __NAME between a joint and its parent.
		if cut, ok := strings.CutPrefix(names[i], "__"); !ok || !slices.Contains(names, cut) {
			out[i] = read(t)
		}
	}
	return out
}

// vertebra returns L for a name such as L5, of a vertebra of the loins, T for one such as T12, of the chest, and 0 for
// others.
func vertebra(name string) byte {
	if i := strings.LastIndexAny(name, ":|"); i >= 0 {
		name = name[i+1:]
	}
	if len(name) < 2 {
		return 0
	}
	if n, err := strconv.Atoi(name[1:]); err == nil && n >= 1 && (name[0] == 'L' && n <= 5 || name[0] == 'T' && n <= 12) {
		return name[0]
	}
	return 0
}

// Named reports whether at least one joint's name says that the joint belongs to an arm, a leg or a wing.
func Named(names []string) bool {
	return slices.ContainsFunc(readNames(names), func(r reading) bool { return r.part.ofLimb() })
}

// Sided reports whether the names of joints tell the left side from the right one: at least three joints of each say so.
func Sided(names []string) bool {
	count := map[string]int{}
	for _, r := range readNames(names) {
		count[r.side]++
	}
	return min(count["Left"], count["Right"]) >= 3
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
	var rest, where []string
	for i, t := range tokens {
		switch {
		case slices.Contains(helpers, t) || t == "joint" && i > 0 && strings.HasSuffix(tokens[i-1], "hip"):
			return reading{}
		case t == "left" || t == "l":
			out.side = "Left"
		case t == "right" || t == "r":
			out.side = "Right"
		case (slices.Contains(fillers, t) || slices.Contains(groupWords, t)) && len(tokens) > 1:
		case regions[t] != "":
			where = append(where, t)
		case splitRegion(t) > 0:
			where, rest = append(where, t[:splitRegion(t)]), append(rest, t[splitRegion(t):])
		default:
			rest = append(rest, t)
		}
	}
	text := strings.Join(rest, "")
	out.part = partOf(text)
	ofArm := out.part.ofLimb() && !slices.Contains(where, "mid") && !slices.Contains(where, "fore") // ForeArm is no fore arm
	if len(where) > 0 && (out.part.ofLeg() || ofArm) {
		for _, w := range where {
			out.region += regions[w]
		}
	} else if len(where) > 0 { // not of a limb: Back is a spine, MidHand a finger
		text = strings.Join(slices.DeleteFunc(slices.Clone(tokens), func(t string) bool {
			return t == "left" || t == "l" || t == "right" || t == "r" || slices.Contains(fillers, t)
		}), "")
		out.part = partOf(text)
	}
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
			return reading{p, s.side, out.region}
		}
	}
	return out
}

// splitRegion returns the length of a word such as front at the start of t, if the word of a leg comes
// after it: frontleg. It is 0 otherwise.
func splitRegion(t string) int {
	for _, w := range []string{"front", "fore", "back", "hind", "rear"} {
		if rest, ok := strings.CutPrefix(t, w); ok && startsWord(rest) && partOf(rest).ofLeg() {
			return len(w)
		}
	}
	return 0
}

// ofLimb reports whether a part belongs to a leg or an arm, which may be one of several on a side.
func (p part) ofLimb() bool {
	return p >= legUpper && p <= toe || p == collar || p == shoulder || p == armUpper || p == armLower || p == hand || p == wing
}

func (p part) ofLeg() bool { return p >= legUpper && p <= toe }

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

// japanese are the words of MMD's and other Japanese rigs, longer ones first.
var japanese = []struct{ word, means string }{
	{"つま先", "toe"}, {"爪先", "toe"}, {"足首", "ankle"}, {"手首", "wrist"}, {"上半身", "spine"}, {"下半身", "pelvis"}, {"センター", "root"},
	{"グルーブ", "root"}, {"全ての親", "root"}, {"操作中心", "root"}, {"ひざ", "knee"}, {"膝", "knee"}, {"ひじ", "elbow"}, {"肘", "elbow"},
	{"親指", "thumb"}, {"人指", "index"}, {"人差指", "index"}, {"中指", "middle"}, {"薬指", "ring"}, {"小指", "little"},
	{"捩", "twist"}, {"捻", "twist"}, {"ＩＫ", "ik"}, {"先", "end"}, {"スカート", "skirt"}, {"髪", "hair"}, {"目", "eye"}, {"舌", "tongue"},
	{"あご", "jaw"}, {"顎", "jaw"}, {"しっぽ", "tail"}, {"尻尾", "tail"}, {"羽", "wing"}, {"翼", "wing"}, {"耳", "ear"}, {"左", "left"}, {"右", "right"},
	{"太もも", "thigh"}, {"腰", "root"}, {"肩", "collar"}, {"腕", "upperarm"}, {"手", "hand"}, {"足", "thigh"}, {"首", "neck"}, {"頭", "head"},
	{"胸", "chest"}, {"乳", "breast"}, {"指", "finger"},
}

// plain returns a name with Japanese words and the escapes of FBX exporters (FBXASC046 for a dot)
// replaced.
func plain(name string) string {
	for i := strings.Index(name, "FBXASC"); i >= 0; i = strings.Index(name, "FBXASC") {
		code := min(i+9, len(name))
		n, err := strconv.Atoi(name[i+6 : code])
		if err != nil || n > 126 || n < 32 {
			n = '.'
		}
		name = name[:i] + string(rune(n)) + name[code:]
	}
	if strings.IndexFunc(name, func(r rune) bool { return r > 0x3000 }) < 0 {
		return name
	}
	// Words that MMD's writers put behind a copy of a joint: D for the copy with the skin, EX.
	name = strings.NewReplacer("キャンセル", " helper ", "補助", " helper ", "EX", " toe ").Replace(name)
	for _, w := range japanese {
		name = strings.ReplaceAll(name, w.word, " "+w.means+" ")
	}
	return name
}

// commonHelpers returns the words of helpers that most names have: they say nothing there.
func commonHelpers(names []string) (out []string) {
	count := map[string]int{}
	for _, n := range names {
		t := tokenise(plain(n))
		slices.Sort(t)
		for _, w := range slices.Compact(t) {
			count[w]++
		}
	}
	for _, w := range helpers {
		if 3*count[w] > 2*len(names) {
			out = append(out, w)
		}
	}
	return out
}

// isHelper reports whether a name is of a joint that moves nothing of a body. common are words that say nothing.
func isHelper(name string, common []string) bool {
	return slices.ContainsFunc(tokenise(plain(name)), func(t string) bool {
		return slices.Contains(helpers, t) && !slices.Contains(common, t) && t != "end" && t != "nub" && t != "site" && t != "leaf"
	})
}

// isFace reports whether a name is of a part of the face.
func isFace(name string) bool {
	return slices.ContainsFunc(tokenise(plain(name)), func(t string) bool {
		return slices.Contains([]string{"eye", "eyes", "eyebrow", "brow", "jaw", "mouth", "nose", "lip", "tongue", "teeth"}, t)
	})
}

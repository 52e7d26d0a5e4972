package label

import (
	"slices"
	"strings"
	"unicode"
)

// words are what words in clips' names say. Of several in a name the first of this list counts: Jump_Attack attacks.
var words = []struct{ action, words string }{
	{Pose, "pose tpose apose bind reference ref"},
	{"death", "death die dies dying dead killed"},
	{"block", "block blocking parry"},
	{"attack", "attack attacking bite punch punching kick kicking headbutt slash stab swing shoot shooting aim throw cast casting spellcast spellcasting sword spell combat melee ranged bow"},
	{"hit", "hit hitreact hitrecieve hurt damage stagger knockback flinch react recieve receive"},
	{"eat", "eat eating drink drinking graze grazing"},
	{"roll", "roll rolling dodge dodging dash"},
	{"swim", "swim swimming"},
	{"fly", "fly flying flap glide hover"},
	{"climb", "climb climbing ladder hang hanging vault"},
	{"dance", "dance dancing"},
	{"ride", "ride riding drive driving"},
	{"carry", "carry carrying push pushing pull pulling lift pickup pick interact use open"},
	{"gesture", "wave waving clap clapping cheer cheering victory yes no point pointing salute talk talking bye byebye greet greeting call calling respond guide nod shrug"},
	{Jump, "jump jumping jumps jumped leap hop hopping fall falling land landing"},
	{Crouch, "crouch crouching crouched crouchwalk sneak sneaking sneaky"},
	{"crawl", "crawl crawling prone"},
	{Sit, "sit sitting sits seated"},
	{Lie, "lie lying lies lay laying sleep sleeping rest"},
	{Stand, "rear rearing"},
	{Move, "walk walking walks run running runs jog jogging sprint sprinting trot trotting canter gallop galloping strafe strafing pace locomotion move moving turn turns pivot forward backward start stop"},
	{Idle, "idle idles idling stand standing breathe breathing wait waiting look looking survey"},
}

// Named returns the action that a clip's name says: Walk_Fwd, SitDown, mixamo.com|Run, 03-jump.fbx. "" is none.
func Named(clip string) string {
	in := split(clip)
	for _, a := range words {
		if says(in, a.words) {
			return a.action
		}
	}
	return ""
}

// Says reports whether a clip's name has a word of an action, whatever else it says: Running_Shoot says move.
func Says(clip, action string) bool {
	in := split(clip)
	for _, a := range words {
		if a.action == action {
			return says(in, a.words)
		}
	}
	return false
}

// Known reports whether an action is one that names of clips say: stand is, though a clip that is called so is idle.
func Known(action string) bool {
	for _, a := range words {
		if a.action == action {
			return true
		}
	}
	return false
}

// says reports whether one of the words is in a name.
func says(name []string, words string) bool {
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return slices.Contains(name, w) })
}

// split returns the words of a name in lower case. They end at other characters than letters, and before a capital
// letter after a small one.
func split(name string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	small := false
	for _, r := range name {
		if !unicode.IsLetter(r) || small && unicode.IsUpper(r) {
			end()
		}
		if small = unicode.IsLower(r); unicode.IsLetter(r) {
			word = append(word, r)
		}
	}
	end()
	return out
}

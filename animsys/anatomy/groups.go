package anatomy

import (
	"slices"
	"strings"
	"unicode"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// groupWords are words that programs and exporters add to a joint's name for a node that stands between joints:
// LeftArm_grp, LeftArm_offset, LeftArm_$AssimpFbx$_PreRotation.
var groupWords = []string{"grp", "group", "null", "offset", "offs", "ofs", "con", "cons", "constraint", "space", "zero", "sdk", "xform", "auto", "drv",
	"driver", "driven", "buffer", "orient", "pad", "srt", "trs", "pivot", "inverse", "assimp", "fbx", "pre", "post", "rotation", "translation",
	"scaling", "scale", "ctrl", "ctl", "control", "parent", "geometric", "helper", "end", "nub", "leaf", "node"}

// called is what a joint's name says, without what tells it from nodes that belong to it.
type called struct {
	name  string // words and numbers
	group bool   // some words of the name are of groups
}

// calledAs reads a name.
func calledAs(name string) called {
	name = plain(name)
	if i := strings.LastIndexAny(name, ":|"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	var out called
	var kept []string
	digits := ""
	word := func(w string) {
		for _, t := range tokenise(w) {
			switch {
			case slices.Contains(groupWords, t):
				out.group = true
			case !slices.Contains(fillers, t):
				kept = append(kept, t)
			}
		}
	}
	for name != "" {
		i := strings.IndexFunc(name, unicode.IsDigit)
		if i < 0 {
			i = len(name)
		}
		word(name[:i])
		name = name[i:]
		if i = strings.IndexFunc(name, func(r rune) bool { return !unicode.IsDigit(r) }); i < 0 {
			i = len(name)
		}
		if digits, name = name[:i], name[i:]; digits != "" {
			kept = append(kept, digits)
		}
	}
	out.name = strings.Join(kept, " ")
	return out
}

// numbered splits the number off a name that a reader or a program has added to that of another: Arm_2, Arm.001.
func numbered(name string) (first string, sign byte) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i < 2 || i == len(name) || name[i-1] != '_' && name[i-1] != '.' {
		return name, 0
	}
	return name[:i-1], name[i-1]
}

// calls returns what the joints are called. The copies of a name, with a number, are called as the first; Arm_2 is one, and
// Arm_2 beside Arm_1 is not. Of a trunk, Spine.001 is a joint of its own.
func (f *finder) calls() []called {
	has := map[string]bool{}
	for _, n := range f.s.Names {
		has[n] = true
	}
	out := make([]called, f.n)
	for j, n := range f.s.Names {
		if first, sign := numbered(n); sign == '_' && has[first] && !has[first+"_1"] || sign == '.' && has[first] && f.read[j].part.ofLimb() {
			n = first
		}
		out[j] = calledAs(n)
	}
	return out
}

// fold takes groups out of the tree: nodes that stand between a joint and the joints above or below it, and are called as it
// is. The joint gets what hangs below it on its groups.
func (f *finder) fold(still []bool) {
	names := f.calls()
	live := make([]int, f.n) // children
	for j, p := range f.parent {
		if p >= 0 && !f.dead[j] {
			live[p]++
		}
	}
	given := mapped(f.as)
	runs := make([][]int, f.n) // joints below one another that are called as the first of them
	head := make([]int, f.n)
	for j, p := range f.parent {
		head[j] = j
		if p >= 0 && !f.dead[j] && !f.s.EndSite[j] && !slices.Contains(given, j) && !slices.Contains(given, p) {
			h := head[p]
			if run := runs[h]; run[len(run)-1] == p && names[j].name == names[h].name {
				head[j] = h
			}
		}
		runs[head[j]] = append(runs[head[j]], j)
	}
	is := make([]int, f.n)           // which of a run is the joint
	own := false                     // f.moves is a copy
	lower, upper, longest := 0, 0, 0 // how often it is the last one, and the first
	for h, run := range runs {
		if !slices.ContainsFunc(run, func(j int) bool { return f.read[j].part != unknown }) {
			runs[h] = nil // names that say nothing may all be the same
			continue
		}
		if len(run) < 2 {
			continue
		}
		switch is[h] = f.joint(run, names, live, still); {
		case is[h] < 0:
			continue
		case is[h] == 0:
			upper++
		case is[h] == len(run)-1:
			lower++
		}
		longest = max(longest, len(run))
	}
	for h, run := range runs {
		k := is[h]
		if k == untold && len(run) <= longest { // as elsewhere in the file
			switch {
			case lower > upper:
				k = len(run) - 1
			case upper > lower:
				k = 0
			}
		}
		if len(run) < 2 || k < 0 {
			continue
		}
		above := f.parent[run[0]]
		for i, j := range run {
			if i == k || i > k && live[j] == 0 {
				continue // the end of the joint's bone is no group
			}
			f.dead[j], f.groups[j] = true, run[k]
			if f.moves != nil && f.moves[j].Any {
				if !own { // the caller's stay
					f.moves, own = slices.Clone(f.moves), true
				}
				f.moves[run[k]].Add(f.moves[j].Lo)
				f.moves[run[k]].Add(f.moves[j].Hi)
			}
			for c, p := range f.parent {
				switch {
				case p != j || slices.Contains(run, c):
				case i > k:
					f.parent[c] = run[k]
				default:
					f.parent[c] = above
				}
			}
		}
		for _, j := range run[:k+1] {
			f.parent[j] = above
		}
		for _, j := range run[k+1:] {
			f.parent[j] = run[k]
		}
	}
}

// What joint returns besides an index.
const (
	untold = -1 // nothing tells
	joints = -2 // they are joints of their own
)

// joint returns which node of a run is the joint, as an index into run: the one that turns in the motion, or that moves the
// mesh, or whose name has no word of groups; and of nodes that are called the same, by their places.
func (f *finder) joint(run []int, names []called, live []int, still []bool) int {
	left := make([]int, len(run))
	for i := range left {
		left[i] = i
	}
	several := false
	for i, is := range []func(j int) bool{
		func(j int) bool { return still != nil && !still[j] },
		func(j int) bool { return f.moves != nil && f.moves[j].Any },
		func(j int) bool { return !names[j].group },
	} {
		var some []int
		for _, i := range left {
			if is(run[i]) {
				some = append(some, i)
			}
		}
		if len(some) > 0 {
			left = some
		}
		if len(left) == 1 {
			return left[0]
		}
		several = several || i < 2 && len(some) > 1
	}
	first, last := left[0], left[len(left)-1]
	near := func(a, b int) bool { return f.at[a].Dist(f.at[b]) < 1e-5*f.size }
	if p := f.parent[run[first]]; live[run[first]] == 1 && (near(run[first], run[last]) || p >= 0 && f.read[run[first]].part.ofLimb() && near(run[first], p)) {
		return last
	}
	if names[run[first]].group {
		return last
	}
	if several {
		return joints
	}
	return untold
}

// Groups returns for each joint of a clip the one that it is a group of, or itself: a node such as LeftArm_offset, called as
// the joint below or above it, that does not turn as the joint does. nil: the skeleton is invalid.
func Groups(c *skel.Clip) []int {
	if c == nil || c.Skel == nil || c.Skel.Validate() != nil {
		return nil
	}
	rest := c.Skel.Rest()
	at := make([]m3.Vec3, len(rest))
	for j := range at {
		at[j] = rest[j].Pos
	}
	return newFinder(Rig{Skel: c.Skel, At: at, Still: Still(c)}, at, readNames(c.Skel.Names), nil).groups
}

// Still reports of each joint whether it never turns or moves on its parent in a clip; nil if the clip has one pose, or its
// skeleton is invalid.
func Still(c *skel.Clip) []bool {
	if c == nil || c.Skel == nil || c.Skel.Validate() != nil {
		return nil
	}
	n := c.Skel.Len()
	frames := min(c.Frames, len(c.Pos)/n, len(c.Rot)/n)
	out, any := make([]bool, n), false
	var size float32
	for _, o := range c.Skel.Offsets {
		size = max(size, o.Len())
	}
	for j := range out {
		out[j] = true
		for i := 1; i < frames && out[j]; i++ {
			a, b := c.Rot[j], c.Rot[i*n+j]
			out[j] = m3.Abs(a.Dot(b)) > 1-1e-5 && c.Pos[j].Dist(c.Pos[i*n+j]) < 1e-3*size
		}
		any = any || !out[j]
	}
	if !any {
		return nil
	}
	return out
}

package mocap

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
)

// Roots returns the root joints that have joints below them: one for each character, as a rule.
func (b *Recording) Roots() []int {
	var out []int
	s := b.Clip.Skel
	for j, p := range s.Parents {
		if p < 0 && j+1 < s.Len() && s.Parents[j+1] == int16(j) {
			out = append(out, j)
		}
	}
	return out
}

// Size returns the number of joints of a root joint and below it.
func (b *Recording) Size(root int) int {
	s := b.Clip.Skel
	end := root + 1
	for end < s.Len() && s.Parents[end] >= 0 {
		end++
	}
	return end - root
}

// leastBody is the least number of joints of a body with legs.
const leastBody = 6

// Bodies returns the root joints of the characters that stand on legs, as far as their joints show. Of a recording with a
// single root that is nil.
func (b *Recording) Bodies() []int {
	roots := b.Roots()
	if len(roots) < 2 {
		return nil
	}
	return slices.DeleteFunc(roots, func(root int) bool {
		if b.Size(root) < leastBody {
			return true
		}
		body := anatomy.OfClip(b.Only(root).Clip, nil)
		return body.Hips < 0 || len(body.Legs) == 0
	})
}

// Only returns the recording of one root joint and the joints below it. Joints whose names another
// character has too are called again what the file calls them.
func (b *Recording) Only(root int) *Recording {
	s := b.Clip.Skel
	end := root + b.Size(root)
	out := *b
	sk := &skel.Skeleton{Parents: make([]int16, end-root), Offsets: s.Offsets[root:end:end], EndSite: s.EndSite[root:end:end]}
	for j := range sk.Parents {
		sk.Parents[j] = max(s.Parents[root+j]-int16(root), -1)
	}
	out.plain = nil
	if b.plain != nil {
		out.plain = b.plain[root:end:end]
	}
	taken := map[string]bool{}
	for j, name := range s.Names[root:end] {
		if out.plain != nil && !taken[out.plain[j]] {
			name = out.plain[j]
		}
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		sk.Names = append(sk.Names, name)
	}
	out.Clip = &skel.Clip{Skel: sk, FPS: b.Clip.FPS, Frames: b.Clip.Frames}
	for f := range b.Clip.Frames {
		pos, rot := b.Clip.Frame(f)
		out.Clip.Pos, out.Clip.Rot = append(out.Clip.Pos, pos[root:end]...), append(out.Clip.Rot, rot[root:end]...)
	}
	if b.Channels != nil {
		out.Channels = b.Channels[root:end:end]
	}
	if b.Rest != nil {
		out.Rest = b.Rest[root:end:end]
	}
	return &out
}

// rootNames lists the names of root joints, for messages.
func rootNames(s *skel.Skeleton, roots []int) string {
	names := make([]string, len(roots))
	for i, j := range roots {
		names[i] = s.Names[j]
	}
	return list(names)
}

// chooseRoot returns the character of b whose root joint has the given name.
func chooseRoot(path string, b *Recording, name string) (*Recording, error) {
	roots := b.Roots()
	for _, j := range roots {
		if b.Clip.Skel.Names[j] == name {
			return b.Only(j), nil
		}
	}
	for _, j := range roots {
		if strings.EqualFold(b.Clip.Skel.Names[j], name) {
			return b.Only(j), nil
		}
	}
	return nil, fmt.Errorf("%s: it has no root joint %q: it has %s", path, name, rootNames(b.Clip.Skel, roots))
}

package skin

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"mannequin/internal/boundedfile"
)

// AddOptions says how AddMotions writes.
type AddOptions struct {
	Replace bool // a motion takes the place of the file's animation of its name, which is an error otherwise
}

// AddReport is what AddMotions has done.
type AddReport struct {
	Animations []string `json:"animations"`         // names of the motions that were added
	Replaced   []string `json:"replaced,omitempty"` // those of them that replaced an animation
	Joints     int      `json:"joints"`             // nodes that they move
	Missing    []string `json:"missing,omitempty"`  // joints of the motions that the file does not have
	Files      []string `json:"files"`              // paths written
	Notes      []string `json:"notes,omitempty"`    // warnings
}

// AddMotions adds motions to the .glb or .gltf at path as animations of its own nodes, and writes the
// result as out: a .glb, which contains everything, or beside a .gltf another .gltf with the keys in a
// .bin of its own. Everything else in the file stays as it is, other animations too.
//
// A motion is in metres, +Y up, on joints with the names that the file's have in OpenMotions or
// Skin.Joints. Its frames become keys: in the other program each joint has the place and rotation that
// the clip gives it, wherever the nodes above stand and whatever their scale. Nodes that no joint moves
// keep their own transforms, and scales stay. A joint that keeps its rotation has one key, one that
// keeps its place in its parent none or one. Keys are linear.
//
// Joints that the file lacks are reported; it is an error if it lacks all. Nothing is written after an
// error. Errors in the file are *Error.
func AddMotions(path, out string, motions []Motion, opt AddOptions) (*AddReport, error) {
	data, beside, err := boundedfile.ReadWithFolder(path, MaxFile)
	if err != nil {
		return nil, err
	}
	defer beside.Close()
	a, err := newAdder(path, data, beside)
	if err != nil {
		return nil, err
	}
	if err := a.motions(motions, opt); err != nil {
		return nil, err
	}
	if a.report.Files, err = a.write(path, out); err != nil {
		return nil, err
	}
	return &a.report, nil
}

// AppendMotions is AddMotions for the contents of a .glb or .gltf called name, and returns a GLB. The
// files that it references must stay where they are, beside it.
func AppendMotions(name string, data []byte, motions []Motion, opt AddOptions) ([]byte, *AddReport, error) {
	a, err := newAdder(name, data, nil)
	if err != nil {
		return nil, nil, err
	}
	return a.packed(motions, opt, false)
}

// PackMotions is AddMotions for the .glb or .gltf at path whose result is a GLB in memory: it contains the files
// that the file references.
func PackMotions(path string, motions []Motion, opt AddOptions) ([]byte, *AddReport, error) {
	data, beside, err := boundedfile.ReadWithFolder(path, MaxFile)
	if err != nil {
		return nil, nil, err
	}
	defer beside.Close()
	a, err := newAdder(path, data, beside)
	if err != nil {
		return nil, nil, err
	}
	return a.packed(motions, opt, true)
}

// packed returns the file with motions as a GLB.
func (a *adder) packed(motions []Motion, opt AddOptions, pack bool) ([]byte, *AddReport, error) {
	if err := a.motions(motions, opt); err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	if err := a.glb(&out, pack); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), &a.report, nil
}

// adder adds animations to a file.
type adder struct {
	*file
	*tree
	patch  patch
	top    map[string]span // members of the document
	glbIn  bool
	chunks []byte // of a GLB, after the two that are known
	report AddReport

	bin                      []byte   // keys
	keyViews                 []span   // of animations, in bin
	views                    [][]byte // new items of the document's lists
	accessors, animations    [][]byte
	members                  []string     // lists that the document does not have
	firstView, firstAccessor int          // indices of new ones
	moved                    map[int]bool // nodes
}

func newAdder(name string, data []byte, beside *os.Root) (*adder, error) {
	f, err := nodesOf(name, data, beside)
	if err != nil {
		return nil, err
	}
	t, err := f.newTree()
	if err != nil {
		return nil, err
	}
	a := &adder{file: f, tree: t, top: map[string]span{}, patch: patch{text: withoutMark(data)}, moved: map[int]bool{}}
	if a.glbIn = bytes.HasPrefix(data, []byte("glTF")); a.glbIn {
		a.patch.text, a.chunks = splitChunks(data)
	}
	for _, m := range a.patch.members(a.patch.root()) {
		if _, twice := a.top[m.name]; twice {
			return nil, f.errorf(m.name, "is there twice")
		}
		a.top[m.name] = m.value
	}
	// The library takes a member of any case; then the text has another list than the document.
	d := &f.doc
	for _, l := range []struct {
		what string
		n    int
	}{{"accessors", len(d.Accessors)}, {"animations", len(d.Animations)}, {"bufferViews", len(d.BufferViews)},
		{"buffers", len(d.Buffers)}, {"images", len(d.Images)}, {"nodes", len(d.Nodes)}} {
		if got := len(a.items(l.what)); got != l.n {
			return nil, f.errorf(l.what, "there are %d in the text and %d for a reader that ignores case", got, l.n)
		}
	}
	if i := slices.Index(f.doc.Animations, nil); i >= 0 {
		return nil, f.errorf(fmt.Sprintf("animations[%d]", i), "is null")
	}
	a.firstView, a.firstAccessor = len(f.doc.BufferViews), len(f.doc.Accessors)
	return a, nil
}

// items returns the items of a list of the document.
func (a *adder) items(name string) []span {
	s, ok := a.top[name]
	if !ok {
		return nil
	}
	return a.patch.items(s)
}

// motions adds the keys of all motions.
func (a *adder) motions(all []Motion, opt AddOptions) error {
	if len(all) == 0 {
		return fmt.Errorf("skin: there is no motion to add")
	}
	missing, added, transforms := map[string]bool{}, map[string]bool{}, 0
	for i := range all {
		m := &all[i]
		if err := checkMotion(m); err != nil {
			return err
		}
		if transforms += m.Clip.Frames * max(len(a.order), m.Clip.Skel.Len()); transforms > MaxTransforms {
			return a.errorf("nodes", "%d frames of motion %.60q are too many for its %d nodes: at most %d transforms are written",
				m.Clip.Frames, m.Name, len(a.order), MaxTransforms)
		}
		nodes, lacks, err := a.match(m)
		if err != nil {
			return err
		}
		for _, j := range lacks {
			if !missing[j] {
				a.report.Missing = append(a.report.Missing, j)
			}
			missing[j] = true
		}
		if added[m.Name] {
			return fmt.Errorf("skin: two motions are called %.60q", m.Name)
		}
		added[m.Name] = true
		tracks, err := a.tracks(m, nodes)
		if err != nil {
			return err
		}
		if err := a.animation(m, tracks, opt); err != nil {
			return err
		}
	}
	a.report.Joints = len(a.moved)
	return nil
}

// checkMotion refuses motions that no file can hold.
func checkMotion(m *Motion) error {
	c := m.Clip
	if c == nil || c.Skel == nil {
		return fmt.Errorf("skin: motion %.60q has no clip", m.Name)
	}
	if err := c.Skel.Validate(); err != nil {
		return err
	}
	n := c.Skel.Len()
	switch {
	case c.Frames < 1 || c.Frames > MaxKeys:
		return fmt.Errorf("skin: motion %.60q has %d frames, want 1 to %d", m.Name, c.Frames, MaxKeys)
	case len(c.Pos) != n*c.Frames || len(c.Rot) != n*c.Frames:
		return fmt.Errorf("skin: motion %.60q has %d places and %d rotations for %d frames of %d joints", m.Name, len(c.Pos), len(c.Rot), c.Frames, n)
	case !(c.FPS > 0) || float64(c.Frames-1)/c.FPS > MaxSeconds:
		return fmt.Errorf("skin: motion %.60q takes %d frames at %g per second, at most %d s are written", m.Name, c.Frames, c.FPS, MaxSeconds)
	case float32(float64(c.Frames-1)/c.FPS) == float32(float64(c.Frames-2)/c.FPS):
		return fmt.Errorf("skin: motion %.60q has %g frames per second for %d frames: their times are equal in 32 bits", m.Name, c.FPS, c.Frames)
	}
	for k, q := range c.Rot {
		if v := c.Pos[k]; !v.Finite() || !q.Finite() || max(abs(v.X), abs(v.Y), abs(v.Z)) > 1e6 || q.Dot(q) < 1e-6 {
			return fmt.Errorf("skin: motion %.60q: joint %s of frame %d is not finite or far too large", m.Name, c.Skel.Names[k%n], k/n)
		}
	}
	return nil
}

func abs(x float32) float32 { return max(x, -x) }

// match returns the node of each joint of a motion, −1 for none, and the joints without one.
func (a *adder) match(m *Motion) (nodes []int, missing []string, err error) {
	named := a.named()
	nodes = slices.Repeat([]int{-1}, m.Clip.Skel.Len())
	seen, any := map[int]string{}, false
	for j, name := range m.Clip.Skel.Names {
		if m.Clip.Skel.EndSite[j] {
			continue
		}
		n, ok := named[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		if seen[n] != "" {
			return nil, nil, fmt.Errorf("skin: motion %.60q has two joints for nodes[%d] of %s: %s and %s", m.Name, n, a.name, seen[n], name)
		}
		nodes[j], seen[n], any = n, name, true
	}
	if !any {
		return nil, nil, a.errorf("nodes", "none has the name of a joint of motion %.60q: %.200s", m.Name, strings.Join(m.Clip.Skel.Names, ", "))
	}
	return nodes, missing, nil
}

// named returns the file's joints by their names in OpenMotions, and its other nodes by names that
// are unique.
func (a *adder) named() map[string]int {
	out, times := map[string]int{}, map[string]int{}
	for _, n := range a.order {
		name := boundedfile.Printable(a.doc.Nodes[n].Name)
		out[name] = n
		times[name]++
	}
	for name, k := range times {
		if k > 1 || name == "" {
			delete(out, name)
		}
	}
	nodes, names := a.joints()
	for j, n := range nodes {
		out[names[j]] = n
	}
	return out
}

// joints returns the nodes of the file's joints and their names, as OpenMotions finds them. A file
// without skins and animations has none.
func (a *adder) joints() (nodes []int, names []string) {
	r, _ := a.file.rig(a.tree) // it may not like how joints stand, which is no matter here
	if r.sk == nil {
		return nil, nil
	}
	return r.nodes, r.sk.Names
}

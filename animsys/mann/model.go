package mann

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Model is a mode-adaptive network ready to drive characters. It is immutable.
type Model struct {
	//NET
	Layout *feature.MANN
	Skel   *skel.Skeleton // joints in the layout's order; metres

	rest   []float32               // bone block of an input row that characters begin from
	action [control.NumActions]int // column of each action, −1 where the layout lacks it
	aims   [][]int                 // per joint the children with a bone of some length
}

// SchemaError says that a model file does not hold what this package can
// drive: its differences, one per line of thought.
type SchemaError struct {
	Model string
	Diff  []string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("mann: model %q does not fit: %s", e.Model, strings.Join(e.Diff, "; "))
}

// Keys of the model file's metadata that this package reads.
const (
	KeySchema     = "schema"      // JSON of feature.MANN
	KeySchemaHash = "schema_hash" // feature.MANN.Hash
	KeySkeleton   = "skeleton"    // JSON: names, parents, offsets in metres, end_sites
	KeyRestPose   = "rest_pose"   // JSON: the bone block of an input row; optional
)

type skeletonJSON struct {
	Names    []string     `json:"names"`
	Parents  []int16      `json:"parents"`
	Offsets  [][3]float32 `json:"offsets"`
	EndSites []bool       `json:"end_sites"`
}

// Describe returns the metadata from which NewModel rebuilds layout and
// skeleton. rest, the bones that a character begins from as they stand in an
// input row, may be nil: then it begins from the mean pose of the training
// data.
func Describe(layout *feature.MANN, sk *skel.Skeleton, rest []float32) (map[string]string, error) {
	offsets := make([][3]float32, sk.Len())
	for i, o := range sk.Offsets {
		offsets[i] = [3]float32{o.X, o.Y, o.Z}
	}
	out := map[string]string{KeySchemaHash: layout.Hash()}
	values := map[string]any{
		KeySchema:   layout,
		KeySkeleton: skeletonJSON{sk.Names, sk.Parents, offsets, sk.EndSite},
	}
	if rest != nil {
		values[KeyRestPose] = rest
	}
	for key, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("mann: %s: %w", key, err)
		}
		out[key] = string(b)
	}
	return out, nil
}

// parsed is what the metadata says.
type parsed struct {
	layout *feature.MANN
	skel   *skel.Skeleton
	rest   []float32
}

// parse reads the metadata that Describe wrote. inputs, outputs and gating are
// the network's own, name is for messages, mean is the network's mean input.
func parse(name string, meta map[string]string, inputs, outputs int, gating []int, mean []float32) (*parsed, error) {
	e := &SchemaError{Model: name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	var layout feature.MANN
	var sj skeletonJSON
	if err := json.Unmarshal([]byte(meta[KeySchema]), &layout); err != nil {
		differ("metadata %q is not a layout: %v", KeySchema, err)
	} else if err := layout.Validate(); err != nil {
		differ("metadata %q: %v", KeySchema, err)
	}
	if err := json.Unmarshal([]byte(meta[KeySkeleton]), &sj); err != nil {
		differ("metadata %q is not a skeleton: %v", KeySkeleton, err)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	if h := layout.Hash(); h != meta[KeySchemaHash] {
		differ("its schema hash is %q, this program reads its schema as %q", meta[KeySchemaHash], h)
	}
	if inputs != layout.Inputs() {
		differ("its network takes %d inputs, its schema has %d", inputs, layout.Inputs())
	}
	if outputs != layout.Outputs() {
		differ("its network gives %d outputs, its schema has %d", outputs, layout.Outputs())
	}
	if want := layout.Gating(); !slices.Equal(gating, want) {
		differ("its gating network reads columns %v, its schema says %v", gating, want)
	}
	sk := &skel.Skeleton{Names: sj.Names, Parents: sj.Parents, EndSite: sj.EndSites}
	for _, o := range sj.Offsets {
		sk.Offsets = append(sk.Offsets, m3.V(o[0], o[1], o[2]))
	}
	if err := sk.Validate(); err != nil {
		differ("%v", err)
	} else {
		for i := range max(len(sk.Names), len(layout.Joints)) {
			a, b := "none", "none"
			if i < len(sk.Names) {
				a = sk.Names[i]
			}
			if i < len(layout.Joints) {
				b = layout.Joints[i]
			}
			if a != b {
				differ("joint %d is %s in its skeleton and %s in its schema", i, a, b)
			}
		}
		if slices.Contains(sk.Parents[1:], -1) {
			differ("its skeleton has more than one root")
		}
	}
	for _, a := range []control.Action{control.Idle, control.Move} {
		if !slices.Contains(layout.Actions, a.String()) {
			differ("its actions %v lack %q", layout.Actions, a)
		}
	}
	var rest []float32
	if text, ok := meta[KeyRestPose]; ok {
		if err := json.Unmarshal([]byte(text), &rest); err != nil {
			differ("metadata %q is not a pose: %v", KeyRestPose, err)
		} else if n := len(layout.Joints) * feature.BoneChannels; len(rest) != n {
			differ("metadata %q has %d values, its schema has %d", KeyRestPose, len(rest), n)
		}
	} else if len(mean) == layout.Inputs() {
		rest = slices.Clone(mean[layout.InBone(0):])
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	return &parsed{&layout, sk, rest}, nil
}

// newModel derives what the controller looks up in every tick.
func newModel(p *parsed) *Model {
	m := &Model{Layout: p.layout, Skel: p.skel, rest: p.rest, aims: make([][]int, p.skel.Len())}
	for a := range m.action {
		m.action[a] = slices.Index(p.layout.Actions, control.Action(a).String())
	}
	for j, parent := range p.skel.Parents {
		if parent >= 0 && p.skel.Offsets[j].Len() > 1e-4 {
			m.aims[parent] = append(m.aims[parent], j)
		}
	}
	return m
}

// Can reports whether the model knows the action.
func (m *Model) Can(a control.Action) bool { return a < control.NumActions && m.action[a] >= 0 }

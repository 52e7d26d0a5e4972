package mann

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Model is a mode-adaptive network ready to drive characters. It is immutable.
type Model struct {
	Net    *netruntime.Net
	Layout *feature.MANN
	Skel   *skel.Skeleton // joints in the layout's order; metres

	rest    []float32               // pose block of an input row in which agents begin
	action  [control.NumActions]int // column of each action, −1 without one
	aims    [][]int                 // per joint: the children with a bone of some length
	bone    []m3.Vec3               // per joint: its offset's direction
	ends    []int                   // per joint: one past its last descendant
	leg     []int                   // per joint: the tip of the leg that it belongs to, −1 without a leg or phases
	neck    int                     // the joint from which the head's bones turn
	head    int
	nose    int       // −1 for a skeleton without the dog recordings' neck, head and nose
	reach   float32   // length of all bones, m
	fastest float32   // bound on the speed asked for, m/s
	low     []float32 // least value of an input in range; none without normalisation
	high    []float32 // greatest value
}

// KeyRestPose is the extra metadata key of the pose in which agents begin: a JSON list, the pose
// block of an input row. It is optional.
const KeyRestPose = "rest_pose"

// Describe writes the metadata that NewModel reads into meta: layout, skeleton, gating columns and
// the pose in which agents begin. rest is the bone block of an input row; nil means the mean pose
// of the training data.
func Describe(meta *netruntime.Meta, layout *feature.MANN, sk *skel.Skeleton, rest []float32) error {
	schema, err := json.Marshal(layout)
	if err != nil {
		return fmt.Errorf("mann: layout: %w", err)
	}
	skeleton, err := json.Marshal(sk)
	if err != nil {
		return fmt.Errorf("mann: skeleton: %w", err)
	}
	meta.Schema, meta.SchemaHash, meta.Skeleton, meta.GatingColumns = string(schema), layout.Hash(), string(skeleton), layout.Gating()
	if rest != nil {
		pose, err := json.Marshal(rest)
		if err != nil {
			return fmt.Errorf("mann: rest pose: %w", err)
		}
		if meta.Extra == nil {
			meta.Extra = map[string]string{}
		}
		meta.Extra[KeyRestPose] = string(pose)
	}
	return nil
}

var (
	errZeroModel      = errors.New("mann: the zero Model has no network: make one with NewModel")
	errZeroController = errors.New("mann: the zero Controller has no agents: make one with Model.NewController")
)

// NewModel returns the network as a model of characters. A *feature.SchemaError lists all differences
// between metadata, shapes and this package.
func NewModel(net *netruntime.Net) (*Model, error) {
	if len(net.Tensors()) == 0 {
		return nil, errors.New("mann: a network without weights: read one with netruntime.Open")
	}
	stat := func(name string) []float32 {
		t, _ := net.Tensor(name)
		return t.Data
	}
	mean := stat("x_mean")
	meta := net.Meta()
	m, err := parse(&meta, net.Inputs(), net.Outputs(), mean)
	if err != nil {
		return nil, err
	}
	m.Net = net
	m.bound(mean, stat("x_std"))
	return m, nil
}

// parse reads the metadata that Describe writes. inputs and outputs are the network's own, mean is
// its mean input row.
func parse(meta *netruntime.Meta, inputs, outputs int, mean []float32) (*Model, error) {
	e := &feature.SchemaError{Package: "mann", Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	layout, sk := new(feature.MANN), new(skel.Skeleton)
	if err := json.Unmarshal([]byte(meta.Schema), layout); err != nil {
		differ("its schema is not a layout: %v", err)
	} else if err := layout.Validate(); err != nil {
		differ("its schema is not of a mode-adaptive network: %v", err)
	}
	if err := json.Unmarshal([]byte(meta.Skeleton), sk); err != nil {
		differ("its skeleton cannot be read: %v", err)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	if h := layout.Hash(); h != meta.SchemaHash {
		differ("its schema hash is %q, this program reads its schema as %q", meta.SchemaHash, h)
	}
	if inputs != layout.Inputs() {
		differ("its network has %d inputs, its schema %d", inputs, layout.Inputs())
	}
	if outputs != layout.Outputs() {
		differ("its network has %d outputs, its schema %d", outputs, layout.Outputs())
	}
	if want := layout.Gating(); !slices.Equal(meta.GatingColumns, want) {
		differ("its gating network reads columns %v, its schema says %v", meta.GatingColumns, want)
	}
	for _, a := range []control.Action{control.Idle, control.Move} {
		if !slices.Contains(layout.Actions, a.String()) {
			differ("its actions %v lack %q", layout.Actions, a)
		}
	}
	checkSkeleton(sk, layout, differ)
	var rest []float32
	if text, ok := meta.Extra[KeyRestPose]; ok {
		if err := json.Unmarshal([]byte(text), &rest); err != nil {
			differ("its rest pose cannot be read: %v", err)
		}
	} else if len(mean) == layout.Inputs() {
		rest = slices.Clone(mean[layout.InBone(0):])
	}
	if n := layout.PoseLen(); len(rest) != n {
		differ("its rest pose has %d values, its schema %d", len(rest), n)
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	return newModel(layout, sk, rest), nil
}

// checkSkeleton reports how sk differs from a skeleton of the layout's joints.
func checkSkeleton(sk *skel.Skeleton, layout *feature.MANN, differ func(string, ...any)) {
	if err := sk.Validate(); err != nil {
		differ("%v", err)
		return
	}
	name := func(s []string, i int) string {
		if i < len(s) {
			return s[i]
		}
		return "none"
	}
	for i := range max(len(sk.Names), len(layout.Joints)) {
		if a, b := name(sk.Names, i), name(layout.Joints, i); a != b {
			differ("joint %d is %s in its skeleton and %s in its schema", i, a, b)
		}
	}
	if slices.Contains(sk.Parents[1:], -1) {
		differ("its skeleton has more than one root")
	}
}

// newModel derives the tables that the controller reads in every tick.
func newModel(layout *feature.MANN, sk *skel.Skeleton, rest []float32) *Model {
	m := &Model{fastest: 20, Layout: layout, Skel: sk, rest: rest, aims: make([][]int, sk.Len())}
	for a := range m.action {
		m.action[a] = slices.Index(layout.Actions, control.Action(a).String())
	}
	for j, parent := range sk.Parents {
		m.bone = append(m.bone, sk.Offsets[j].Normalize(m3.Up))
		if parent >= 0 {
			m.reach += sk.Offsets[j].Len()
		}
		if parent >= 0 && sk.Offsets[j].Len() > 1e-4 {
			m.aims[parent] = append(m.aims[parent], j)
		}
	}
	m.neck, m.head, m.nose = sk.Index("Neck"), sk.Index("Head"), sk.Index("HeadSite")
	if min(m.neck, m.head) < 0 {
		m.nose = -1
	}
	m.ends, m.leg = make([]int, sk.Len()), make([]int, sk.Len())
	children := make([]int, sk.Len())
	for j, parent := range sk.Parents {
		m.leg[j] = -1
		if parent >= 0 {
			children[parent]++
		}
		for a := j; a >= 0; a = int(sk.Parents[a]) {
			m.ends[a] = j + 1
		}
	}
	if phaseLen(layout) > 0 {
		for tip, name := range layout.Tips {
			for j := sk.Index(name); sk.Parents[j] >= 0 && children[j] < 2; j = int(sk.Parents[j]) {
				m.leg[j] = tip
			}
		}
	}
	return m
}

// name returns the name in the model file.
func (m *Model) name() string {
	if m.Net == nil {
		return ""
	}
	return m.Net.Meta().Name
}

// Can reports whether the model has the action.
func (m *Model) Can(a control.Action) bool { return a < control.NumActions && m.action[a] >= 0 }

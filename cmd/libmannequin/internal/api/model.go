package api

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// Kinds of models.
const (
	KindNetwork   = 1
	KindCharacter = 2
)

// Model is a network or a character, read from a file. Only its table of joint masks changes later.
type Model struct {
	Kind          int32
	Name, License string
	Skel          *skel.Skeleton
	Legs          int
	TopSpeed      float32             // m/s
	bones         *skel.Skeleton      // with the sizes that the host gets
	own           *retarget.Character // of a character whose size is not the usual one, otherwise nil
	network       *mann.Model
	character     *matching.File
	masksMutex    sync.Mutex
	masks         map[maskKey]*layer.Mask
}

// CreateModel reads the bytes of a file, which it does not keep.
func CreateModel(file []byte) (ID, error) {
	m, err := readModel(append([]byte(nil), file...)) // networks may keep theirs
	if err != nil {
		return ID{}, coded(File, err)
	}
	return models.add(m)
}

func readModel(file []byte) (*Model, error) {
	f, err := matching.DecodeFile(file)
	if other := (*netruntime.UnsupportedError)(nil); errors.As(err, &other) {
		return readNetwork(file)
	}
	if err != nil {
		return nil, err
	}
	c := f.Character()
	if c == nil {
		return nil, errors.New("the character has neither recordings nor networks")
	}
	m := &Model{Kind: KindCharacter, Name: c.Name, License: c.License, Skel: c.Skel, Legs: len(c.Roles.Legs), TopSpeed: c.TopSpeed(), bones: c.Skel, character: f}
	if c.Size != 0 && c.Size != 1 {
		if m.own, err = c.Sized(); err != nil {
			return nil, err
		}
		m.bones = m.own.Skel
	}
	return m, nil
}

func readNetwork(file []byte) (*Model, error) {
	net, err := netruntime.Decode(file)
	if err != nil {
		return nil, err
	}
	meta := net.Meta()
	n, err := mann.NewModel(net)
	if err != nil {
		return nil, fmt.Errorf("the network %q is not for quadrupeds, and this library plays no others: %w", meta.Name, err)
	}
	roles, err := ik.DogRoles(n.Skel.Names)
	if err != nil {
		return nil, err
	}
	return &Model{Kind: KindNetwork, Name: meta.Name, License: meta.License, Skel: n.Skel, Legs: len(roles.Legs), bones: n.Skel, network: n}, nil
}

// ModelOf returns the model of an id.
func ModelOf(id ID) (*Model, error) { return models.get(id) }

// DestroyModel forgets a model.
func DestroyModel(id ID) error {
	_, err := models.remove(id)
	return err
}

// text returns an error if a text of the host is not UTF-8.
func text(what, s string) error {
	if !utf8.ValidString(s) {
		return Errorf(Argument, "%s %q is not UTF-8", what, s)
	}
	return nil
}

// FindJoint returns the index of a joint.
func (m *Model) FindJoint(name string) (int, error) {
	if err := text("the joint's name", name); err != nil {
		return 0, err
	}
	i := m.Skel.Index(name)
	if i < 0 {
		return 0, Errorf(Argument, "%s has no joint %q: it has %s", m.Name, name, strings.Join(m.Skel.Names, " "))
	}
	return i, nil
}

// Joint is a joint of a model.
type Joint struct {
	Name   string
	Parent int
	Offset m3.Vec3
}

// Joint returns a joint, with its offset in a space.
func (m *Model) Joint(i int, in Space) (Joint, error) {
	a, err := in.axes()
	if err != nil {
		return Joint{}, err
	}
	if i < 0 || i >= m.Skel.Len() {
		return Joint{}, Errorf(Argument, "the joint is %d: the model has the joints 0 to %d", i, m.Skel.Len()-1)
	}
	return Joint{m.Skel.Names[i], int(m.Skel.Parents[i]), a.point(m.bones.Offsets[i])}, nil
}

// FindAction returns the action of a name that the model knows.
func (m *Model) FindAction(name string) (control.Action, error) {
	if err := text("the action's name", name); err != nil {
		return 0, err
	}
	if m.character != nil {
		c := m.character.Character()
		if a, ok := c.Action(name); ok {
			return a, nil
		}
		return 0, Errorf(Argument, "%s has no action %q: it has %s", m.Name, name, strings.Join(c.Tags, " "))
	}
	a, err := control.ParseAction(name)
	if err == nil && !m.network.Can(a) {
		err = Errorf(Argument, "%s has no action %q", m.Name, name)
	}
	return a, coded(Argument, err)
}

// stream returns a generator of the model's agents. strides are networks with steps of 2 and 4 ticks.
func (m *Model) stream(capacity, workers int, strides []*mann.Model) (generator.Generator[control.Goal], error) {
	if m.character != nil {
		return m.character.NewStream(matching.StreamOptions{Capacity: capacity, Workers: workers})
	}
	return m.network.NewController(mann.ControllerOptions{Capacity: capacity, Workers: workers, LOD: strides})
}

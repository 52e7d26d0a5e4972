package matching

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/internal/statehash"
	"mannequin/netruntime"
)

// Adaptive is a mode-adaptive network (Zhang, Starke, Komura and Saito 2018; see package mann) that has learned the motion of
// a database: of its recordings, and of what motion matching makes of them. It is immutable and can be shared by streams.
// mannequin make --train trains one.
type Adaptive struct {
	Character
	model      *mann.Model
	idle, move int   // columns of the layout's actions
	columns    []int // (tags) the same; −1: the network does not know it
	sum        uint64
}

// NewAdaptive returns what a network has learned of a database.
func NewAdaptive(d *Database, m *mann.Model) (*Adaptive, error) {
	if d.Skel == nil {
		return nil, errZero
	}
	a := &Adaptive{Character: d.Character, model: m}
	if err := a.finish(); err != nil {
		return nil, err
	}
	return a, nil
}

// finish checks the network.
func (a *Adaptive) finish() error {
	m := a.model
	if m == nil || m.Skel == nil || m.Net == nil {
		return errors.New("matching: the mode-adaptive network is missing")
	}
	if step := m.Layout.Step(); step != 1 {
		return fmt.Errorf("matching: the mode-adaptive network steps %d ticks at a time: want 1", step)
	}
	// Its names of joints differ from the character's where two of these are the same.
	if !slices.Equal(m.Skel.Parents, a.Skel.Parents) || !slices.Equal(m.Skel.Offsets, a.Skel.Offsets) {
		return errors.New("matching: the mode-adaptive network is of another skeleton than the character")
	}
	column := func(name string) int { return slices.Index(m.Layout.Actions, name) }
	a.idle, a.move, a.columns = column(control.Idle.String()), column(control.Move.String()), nil
	for _, t := range a.Tags {
		a.columns = append(a.columns, column(t))
	}
	sum, err := m.Net.Checksum()
	if err != nil {
		return fmt.Errorf("matching: %w", err)
	}
	h := statehash.New.Uint(a.Skel.Fingerprint())
	for _, c := range []byte(sum) {
		h = h.Int(int(c))
	}
	a.sum = uint64(h)
	return nil
}

// Model returns the network.
func (a *Adaptive) Model() *mann.Model { return a.model }

// Bytes returns the memory of the network's weights in float32.
func (a *Adaptive) Bytes() int {
	if a.model == nil {
		return 0
	}
	return 4 * a.model.Net.Parameters()
}

// Fingerprint returns a checksum: equal ones have the same.
func (a *Adaptive) Fingerprint() uint64 { return a.sum }

func decodeAdaptive(c Character, in *adaptiveFile, tensors []netruntime.Tensor) (*Adaptive, error) {
	a := &Adaptive{Character: c}
	if err := a.learn(&in.paces); err != nil {
		return nil, err
	}
	net, err := netruntime.New(in.Meta, tensors)
	if err != nil {
		return nil, fmt.Errorf("the mode-adaptive network: %w", err)
	}
	if a.model, err = mann.NewModel(net); err != nil {
		return nil, err
	}
	return a, a.finish()
}

// Package testgen plays the agents of a generator without a crowd, for tests.
package testgen

import (
	"errors"
	"sync/atomic"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Player plays a generator's agents tick by tick.
type Player[C any] struct {
	Still []bool // (capacity) frozen agents; set by the test

	generator generator.Generator[C]
	poses     generator.Poses
	joints    int
}

// Play returns the player of a generator.
func Play[C any](g generator.Generator[C], joints int) *Player[C] {
	n := g.Capacity()
	return &Player[C]{Still: make([]bool, n), generator: g, joints: joints, poses: generator.Poses{
		Update: make([]bool, n), Roots: make([]m3.Xform, n), Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Restarted: make([]bool, n),
	}}
}

// Continue begins a tick.
func (p *Player[C]) Continue() error { return p.generator.Generate(p.Still) }

// Tick is a tick of rows 0 to rows−1, and poses them.
func (p *Player[C]) Tick(rows int) error {
	if b, ok := p.generator.(generator.Batched); ok {
		strides := make([]uint8, rows)
		for r := range strides {
			strides[r] = 1
		}
		n := b.Select(strides)
		b.Plan(0, n)
		b.Gather(0, n)
		if err := b.Infer(); err != nil {
			return err
		}
		b.Scatter(0, n)
	}
	if err := p.generator.Generate(p.Still[:rows]); err != nil {
		return err
	}
	for r := range rows {
		p.poses.Update[r] = true
	}
	p.generator.Sample(&p.poses, 0, rows)
	return nil
}

// Poses returns the poses of the last tick.
func (p *Player[C]) Poses() *generator.Poses { return &p.poses }

// Advance moves rows r0 to r1−1 on by a tick.
func (p *Player[C]) Advance(r0, r1 int) { p.generator.Sample(&p.poses, r0, r1) }

// Show copies the pose of a row.
func (p *Player[C]) Show(row int, pos []m3.Vec3, rot []m3.Quat) {
	p.generator.Pose(&p.poses, row)
	from, turns := p.poses.Joints(row, p.joints)
	copy(pos, from)
	copy(rot, turns)
}

// Restarted reports whether a row's pose does not continue the one before, since it was last asked.
func (p *Player[C]) Restarted(row int) bool {
	p.generator.Pose(&p.poses, row)
	restarted := p.poses.Restarted[row]
	p.poses.Restarted[row] = false
	return restarted
}

// Flaky opens sessions that fail while fails is set.
func Flaky(fails *atomic.Bool) netruntime.Opener {
	return func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		session, err := n.NewSession(o)
		return flaky{session, fails}, err
	}
}

type flaky struct {
	netruntime.Session
	fails *atomic.Bool
}

func (f flaky) RunSequences(out, in [][]float32, batch, length int) error {
	if f.fails.Load() {
		return errors.New("the session fails")
	}
	return f.Session.RunSequences(out, in, batch, length)
}

// Rest returns the frame of a person in the rest pose, toes on the ground, moving ahead at speed
// m/s.
func Rest(p *feature.Person, speed float32) []float32 {
	model := make([]m3.Xform, p.Skel.Len())
	low := float32(0)
	for j, parent := range p.Skel.Parents {
		if model[j] = m3.Identity; parent >= 0 {
			model[j].Pos = model[parent].Pos.Add(p.Skel.Offsets[j])
		}
		low = min(low, model[j].Pos.Y)
	}
	row := make([]float32, p.Layout.Columns())
	for j, name := range p.Layout.Joints {
		at := model[p.Skel.Index(name)].Pos
		copy(row[p.Layout.Pos(j):], []float32{at.X, at.Y - low, at.Z})
	}
	row[p.Layout.Body()+feature.MotionZ] = speed
	return row
}

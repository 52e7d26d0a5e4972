package mann

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// NewFollower returns a batch whose rows go where SetFuture says, in place of Plan. Roots, and all of a body on two legs, move just
// as the network predicts; on more legs, the legs of networks with phases, and heads that are held as dogs' are, whose joints are Neck,
// Head and HeadSite, are corrected as dogs' are. sole is the height of the lowest joint of who stands, m.
func NewFollower(m *Model, capacity int, sole float32) *Batch {
	b := NewBatch(m, capacity)
	b.follows, b.plainLegs, b.sole = true, len(m.Layout.Tips) <= 2, sole
	b.plainHead = b.plainLegs || !m.looksAhead()
	return b
}

// looksAhead reports whether a head at rest looks about where dogs' do: not to the ground, nor at the sky.
func (m *Model) looksAhead() bool {
	const most = 40 * math.Pi / 180
	if m.nose < 0 {
		return false
	}
	at := func(j int) m3.Vec3 {
		p := m.rest[j*feature.BoneChannels+feature.BonePos:]
		return m3.V(p[0], p[1], p[2])
	}
	look := at(m.nose).Sub(at(m.head))
	return m3.Abs(m3.Atan2(look.Y, look.Flat().Len())+headDown) < most
}

// Aheads is the number of samples of the future, AheadStep the ticks from one to the next.
const (
	Aheads    = feature.TrajFuture - 1
	AheadStep = Rate / Aheads
)

// Ahead is where an agent will be, world space, and its velocity there, m/s.
type Ahead struct {
	At       feature.Place
	Velocity m3.Vec3
}

// SetFuture writes the future of row: where it will be in AheadStep ticks, in twice as many and so on. action is the column of the
// layout's actions whose weight rises to 1 within some seconds. speed is what is asked for, m/s.
func (b *Batch) SetFuture(row int, ahead *[Aheads]Ahead, action int, seconds, speed float32) {
	b.check(row, row+1)
	p, d, v := b.pos[row*points:][:points], b.dir[row*points:][:points], b.vel[row*points:][:points]
	for i := range ahead {
		a := &ahead[i]
		pos, dir, vel := flat(a.At.Pos), flat(m3.YawQuat(a.At.Yaw).Forward()), flat(a.Velocity)
		from := now + i*feature.TrajStep
		for k := 1; k <= feature.TrajStep; k++ {
			u := float32(k) / feature.TrajStep
			p[from+k], v[from+k] = p[from].lerp(pos, u), v[from].lerp(vel, u)
			d[from+k] = d[from].lerp(dir, u).unit(dir)
		}
	}
	b.agent[row].targetVel = vec2{0, speed}
	b.ramp(row, action, seconds, 1)
}

// Draw moves the present root of row, and its pose with it, to a place near it. The past stays.
func (b *Batch) Draw(row int, to feature.Place) {
	b.check(row, row+1)
	at := row*points + now
	from := b.Root(row)
	by := m3.Xform{Pos: to.Pos.Flat(), Rot: m3.YawQuat(to.Yaw)}.Mul(from.Inv())
	b.pos[at], b.dir[at] = flat(to.Pos), flat(by.Rot.Rotate(b.dir[at].vec3())).unit(b.dir[at])
	if stride := int(b.agent[row].stride); at-stride >= row*points {
		b.vel[at] = b.pos[at].sub(b.pos[at-stride]).scale(Rate / float32(stride))
	}
	for k := row * b.joints; k < (row+1)*b.joints; k++ {
		b.bonePos[k] = by.Apply(b.bonePos[k])
		b.boneFwd[k], b.boneUp[k], b.boneVel[k] = by.Rot.Rotate(b.boneFwd[k]), by.Rot.Rotate(b.boneUp[k]), by.Rot.Rotate(b.boneVel[k])
	}
	k := row * b.joints
	b.localPos[k], b.localRot[k] = by.Apply(b.localPos[k]), by.Rot.Mul(b.localRot[k]).Normalize()
}

// WeightOf returns the present weight of a column of the layout's actions in row, 0 to 1.
func (b *Batch) WeightOf(row, column int) float32 {
	b.check(row, row+1)
	return b.act[(row*points+now)*b.actions:][:b.actions][column]
}

// GatherRow writes the inputs of the network for a row, Layout.Inputs() values.
func (b *Batch) GatherRow(x []float32, row int) {
	b.check(row, row+1)
	b.gather(x, row)
}

// ScatterRow advances a row with the network's outputs, Layout.Outputs() values: see Scatter.
func (b *Batch) ScatterRow(y []float32, row int) {
	b.check(row, row+1)
	b.advanceRow(y, row)
}

// Shift moves all places of a row; see [generator.Generator].
func (b *Batch) Shift(row int, by m3.Vec3) {
	b.check(row, row+1)
	b.shift(row, by)
}

// Turn turns all places and directions of a row; see [generator.Turner].
func (b *Batch) Turn(row int, by m3.Turn) {
	b.check(row, row+1)
	b.turn(row, by)
}

// Save writes the state of a row; see [generator.Generator].
func (b *Batch) Save(st *generator.State, row int) { b.visit(st, row) }

// Restore reads the state that Save wrote into a row. After an error the row is at rest at the origin.
func (b *Batch) Restore(st *generator.State, row int) error {
	b.visit(st, row)
	return b.restored(st, row)
}

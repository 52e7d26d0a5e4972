package steer

import (
	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// People is the avoidance of people: they keep off each other and off the camera's character, and
// stay on the terrain.
type People struct {
	Walkers []control.Walker // (rows)

	// Character returns where a character that is not in the crowd is. nil: there is none.
	Character func() m3.Xform

	avoidance control.Avoidance
	character control.Walker
	field     *terrain.Field
	roots     []m3.Xform
	first     int // the index of row 0
}

// NewPeople returns the avoidance of n people of a kind on a terrain.
func NewPeople(field *terrain.Field, n int, kind control.Walker) *People {
	p := &People{Walkers: make([]control.Walker, n), field: field, character: Person}
	for row := range p.Walkers {
		p.Walkers[row] = kind
		p.Walkers[row].Left = Side(uint64(row))
	}
	return p
}

// Person is how people take room, without how they obey. Predicted people follow the windows of their
// network, people on sliders clips of half a second.
var (
	Person    = control.Walker{Radius: 0.36}
	Predicted = control.Walker{Radius: Person.Radius, Delay: 0.5, Lag: 0.3, MaxTurn: strnn.MaxTurn, Slowest: 0.4, Pivots: true}
	OnSliders = control.Walker{Radius: 0.45, Delay: 0.4, Lag: 0.2, MaxTurn: 1, Slowest: 1} // they do not quite go where they are told
	OnCurve   = control.Walker{Radius: Person.Radius, Delay: 1, Lag: 0.3, Slowest: 0.5}
	Dog       = control.Walker{Radius: 0.5, Middle: middle, Delay: 0.1, Lag: 0.25, MaxTurn: control.MaxTurn, Slowest: 0.4, Pivots: true}
)

// Side returns the preference of an agent for passing others on the left or the right: three in four
// prefer the right.
func Side(agent uint64) float32 {
	const golden = 0x9e3779b97f4a7c15
	share := float32(agent*golden>>40) / (1 << 24)
	return (share - 0.75) * 1.3
}

func (p *People) begin(roots []m3.Xform, _ int) {
	p.roots = roots
	a := &p.avoidance
	a.Begin()
	if p.first = 0; p.Character != nil {
		p.first = 1
		a.Add(&p.character, p.Character())
	}
	for row, root := range roots {
		a.Add(&p.Walkers[row], root)
	}
	a.Sort()
}

func (p *People) bend(goal *control.Goal, row int) {
	ahead := p.roots[row].Rot.Forward().Flat()
	yaw := m3.YawOf(ahead)
	if goal.Action != control.Move {
		p.avoidance.Steer(p.first+row, ahead, 0)
		return
	}
	want := m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Forward().Add(inward(p.field, p.roots[row].Pos))
	goal.Turn, goal.Speed = p.avoidance.Steer(p.first+row, want.Normalize(ahead), goal.Speed)
	goal.Turn /= control.MaxTurn
}

// eyes is the height of eyes, m. leads is the angle of a turn from which the head leads it in full, rad.
const eyes, leads = 1.6, 0.4

// look returns the target of a person's head: the head joint, of index head, of a person who
// approaches, the camera's character, or the direction of the person's next turn.
func (p *People) look(c *animsys.Crowd, row, head int) ecs.LookAt {
	other, ahead := p.avoidance.Look(p.first + row)
	root := p.roots[row]
	switch {
	case other >= p.first:
		return ecs.LookAt{Target: c.BonesAt(other - p.first)[head].Pos, Weight: 1}
	case other >= 0:
		return ecs.LookAt{Target: p.Character().Pos.Add(m3.V(0, eyes, 0)), Weight: 1}
	}
	return LookWhereToGo(root, ahead)
}

// LookWhereToGo returns the target of the head of a person who is about to go in the direction ahead, a
// unit vector.
func LookWhereToGo(root m3.Xform, ahead m3.Vec3) ecs.LookAt {
	turn := m3.Abs(m3.WrapAngle(m3.YawOf(ahead) - root.Rot.Yaw()))
	return ecs.LookAt{Target: root.Pos.Add(ahead.Scale(4)).Add(m3.V(0, eyes, 0)), Weight: m3.Clamp(turn/leads, 0, 1)}
}

// inward returns what leads back from the border of a terrain.
func inward(f *terrain.Field, at m3.Vec3) m3.Vec3 {
	if in := Inside(f, at); in < border {
		return at.Flat().Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - in) / border)
	}
	return m3.Vec3{}
}

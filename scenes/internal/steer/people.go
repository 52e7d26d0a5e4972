package steer

import (
	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// People is the avoidance of people: they keep off each other and off the camera's character, and
// stay on the terrain.
type People struct {
	Speed []float32 // (rows) as asked of them last, m/s; set it for a row that the player controls

	// Character returns where a character that is not in the crowd is, and its speed in m/s. nil:
	// there is none.
	Character func() (root m3.Xform, speed float32)

	neighbors *Neighbors
	field     *terrain.Field
	roots     []m3.Xform
	first     int // the neighbour that row 0 is
}

// NewPeople returns the avoidance of at most n people on a terrain.
func NewPeople(field *terrain.Field, n int) *People {
	x0, z0, x1, z1 := field.Bounds()
	return &People{Speed: make([]float32, n), neighbors: NewNeighbors(Slow, x0, z0, x1, z1, n+1), field: field}
}

func (p *People) begin(roots []m3.Xform, _ int) {
	p.roots = roots
	p.neighbors.Clear()
	if p.first = 0; p.Character != nil {
		p.first = 1
		p.neighbors.Add(p.Character())
	}
	for row, root := range roots {
		p.neighbors.Add(root, p.Speed[row])
	}
	p.neighbors.Sort()
}

// creep is the speed below which people stand, m/s.
const creep = 0.4

func (p *People) bend(goal *control.Goal, row int) {
	if goal.Action != control.Move {
		p.Speed[row] = 0
		return
	}
	i, n := p.first+row, p.neighbors
	me, facing := n.At[i], p.roots[row].Rot.Forward().Flat()
	yaw := m3.YawOf(facing)
	push, _ := n.Avoid(i, facing, goal.Speed)
	if in := Inside(p.field, me); in < border {
		push = push.Add(me.Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - in) / border))
	}
	if push != (m3.Vec3{}) {
		goal.Turn = control.Steer(yaw, m3.YawOf(m3.YawQuat(yaw+goal.Turn*control.MaxTurn).Forward().Add(push)))
	}
	if goal.Speed = n.Yield(i, facing, goal.Speed); goal.Speed < creep {
		goal.Speed = 0
	}
	p.Speed[row] = goal.Speed
}

package control

import (
	"container/heap"
	"fmt"

	"mannequin/engine/m3"
)

// Flow is the shortest way around obstacles from anywhere on the ground to one place: a grid of
// distances, computed once by fast marching (Sethian 1996). It is immutable and safe to share.
type Flow struct {
	x0, z0, cell float32
	nx, nz       int
	way          []float32 // (nz, nx) distance to the goal from the cells' middles, m, or Unreachable
}

// Unreachable is the distance to the goal if no way leads there, m.
const Unreachable = 1e9

// MaxFlowCells bounds the cells of one flow.
const MaxFlowCells = 1 << 22

// NewFlow returns the flow to goal over the ground between two corners, in square cells of cell
// metres. closed reports whether a place is blocked; nil: no place is. A goal at the edge
// of a closed area is reached from beside it. It is an error if no cell around the goal is open.
func NewFlow(x0, z0, x1, z1, cell float32, goal m3.Vec3, closed func(x, z float32) bool) (*Flow, error) {
	if !(x1 > x0) || !(z1 > z0) || !(cell > 0) || !goal.Finite() || (x1-x0)/cell*((z1-z0)/cell) > MaxFlowCells {
		return nil, fmt.Errorf("control: a flow from (%g, %g) to (%g, %g) in cells of %g m: want some ground, and at most %d cells", x0, z0, x1, z1, cell, MaxFlowCells)
	}
	if goal.X < x0 || goal.X > x1 || goal.Z < z0 || goal.Z > z1 {
		return nil, fmt.Errorf("control: the goal (%g, %g) is not on the ground from (%g, %g) to (%g, %g)", goal.X, goal.Z, x0, z0, x1, z1)
	}
	f := &Flow{x0: x0, z0: z0, cell: cell, nx: int((x1-x0)/cell) + 1, nz: int((z1-z0)/cell) + 1}
	f.way = make([]float32, f.nx*f.nz)
	march := marching{Flow: f, shut: make([]bool, len(f.way)), done: make([]bool, len(f.way)), at: make([]int32, len(f.way))}
	for i := range f.way {
		f.way[i], march.at[i] = Unreachable, -1
		march.shut[i] = closed != nil && closed(f.middle(i))
	}
	march.begin(goal.Flat())
	for march.Len() > 0 {
		march.spread(heap.Pop(&march).(int32))
	}
	for i, w := range f.way {
		if w < Unreachable && !march.shut[i] {
			return f, nil
		}
	}
	return nil, fmt.Errorf("control: no way leads to the goal (%g, %g): all cells around it are closed", goal.X, goal.Z)
}

// middle returns the place of cell i.
func (f *Flow) middle(i int) (x, z float32) {
	return f.x0 + (float32(i%f.nx)+0.5)*f.cell, f.z0 + (float32(i/f.nx)+0.5)*f.cell
}

// around returns the lowest of the four cells whose middles surround p, and p's place between them.
func (f *Flow) around(p m3.Vec3) (i, k int, u, v float32) {
	part := func(x float32, n int) (int, float32) {
		x -= 0.5
		if !(x > 0) || n < 2 { // also NaN
			return 0, 0
		}
		i := min(int(min(x, float32(n))), n-2)
		return i, min(x-float32(i), 1)
	}
	i, u = part((p.X-f.x0)/f.cell, f.nx)
	k, v = part((p.Z-f.z0)/f.cell, f.nz)
	return i, k, u, v
}

// Way returns the distance from p to the goal, m, or Unreachable, and the unit direction to take.
func (f *Flow) Way(p m3.Vec3) (dist float32, ahead m3.Vec3) {
	if len(f.way) == 0 { // not made by NewFlow
		return Unreachable, m3.Vec3{}
	}
	i, k, u, v := f.around(p)
	if f.nx < 2 || f.nz < 2 {
		return f.way[0], m3.Vec3{}
	}
	n := k*f.nx + i
	a, b, c, d := f.way[n], f.way[n+1], f.way[n+f.nx], f.way[n+f.nx+1]
	least := min(a, b, c, d)
	if least >= Unreachable {
		return Unreachable, m3.Vec3{}
	}
	// Beside a closed cell the slope is that of the others: away from it.
	wall := least + 2*f.cell
	a, b, c, d = min(a, wall), min(b, wall), min(c, wall), min(d, wall)
	down := m3.V(m3.Lerp(a-b, c-d, v), 0, m3.Lerp(a-c, b-d, u))
	return m3.Lerp(m3.Lerp(a, b, u), m3.Lerp(c, d, u), v), down.Normalize(m3.Vec3{})
}

// marching is the front of a flow in the making: a heap of cells by distance.
type marching struct {
	*Flow
	shut, done []bool
	front      []int32
	at         []int32 // index of each cell in front, or −1
}

func (m *marching) Len() int           { return len(m.front) }
func (m *marching) Less(i, k int) bool { return m.way[m.front[i]] < m.way[m.front[k]] }
func (m *marching) Swap(i, k int) {
	m.front[i], m.front[k] = m.front[k], m.front[i]
	m.at[m.front[i]], m.at[m.front[k]] = int32(i), int32(k)
}

func (m *marching) Push(x any) {
	n := x.(int32)
	m.at[n] = int32(len(m.front))
	m.front = append(m.front, n)
}

func (m *marching) Pop() any {
	n := m.front[len(m.front)-1]
	m.front = m.front[:len(m.front)-1]
	m.at[n] = -1
	return n
}

// exact is the distance from the goal, in cells, within which ways are straight if nothing is
// closed there. Marching is least accurate near the goal.
const exact = 4

func (m *marching) begin(goal m3.Vec3) {
	i, k, _, _ := m.around(goal)
	free := true
	each := func(from, to int, do func(n int)) {
		for z := max(k+from, 0); z <= min(k+to, m.nz-1); z++ {
			for x := max(i+from, 0); x <= min(i+to, m.nx-1); x++ {
				do(z*m.nx + x)
			}
		}
	}
	each(-exact, exact+1, func(n int) { free = free && !m.shut[n] })
	from, to := 0, 1
	if free {
		from, to = -exact, exact+1
	}
	each(from, to, func(n int) {
		x, z := m.middle(n)
		m.reach(n, m3.V(x, 0, z).Dist(goal))
	})
}

// reach lowers the distance of cell n to way.
func (m *marching) reach(n int, way float32) {
	if m.done[n] || !(way < m.way[n]) {
		return
	}
	m.way[n] = way
	if m.at[n] >= 0 {
		heap.Fix(m, int(m.at[n]))
	} else {
		heap.Push(m, int32(n))
	}
}

// spread makes the distance of a cell final and continues to its neighbours.
func (m *marching) spread(cell int32) {
	n := int(cell)
	m.done[n] = true
	i, k := n%m.nx, n/m.nx
	for _, step := range [...][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		x, z := i+step[0], k+step[1]
		if x < 0 || z < 0 || x >= m.nx || z >= m.nz {
			continue
		}
		if c := z*m.nx + x; !m.done[c] && !m.shut[c] {
			m.reach(c, m.solve(x, z))
		}
	}
}

// solve returns the distance of a cell if the distances rise by one metre per metre: from its lower
// neighbours along both axes, or along one if the other's is too far.
func (m *marching) solve(x, z int) float32 {
	lower := func(n, step int, has [2]bool) float32 {
		w := float32(Unreachable)
		if has[0] && m.done[n-step] {
			w = m.way[n-step]
		}
		if has[1] && m.done[n+step] {
			w = min(w, m.way[n+step])
		}
		return w
	}
	n := z*m.nx + x
	a, b := lower(n, 1, [2]bool{x > 0, x+1 < m.nx}), lower(n, m.nx, [2]bool{z > 0, z+1 < m.nz})
	if a > b {
		a, b = b, a
	}
	if d := b - a; d < m.cell {
		return (a + b + m3.Sqrt(2*m.cell*m.cell-d*d)) / 2
	}
	return a + m.cell
}

package strnn

import (
	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/scenes/internal/grid"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

const (
	homeRange = 8    // how far from where they began people go, m
	soon      = 0.6  // they look at where they are after so many s
	personal  = 2.5  // distance within which they turn away from each other, m
	touching  = 0.9  // and wait for who is in front, m
	border    = 3    // distance from the terrain's border at which they turn back, m
	resting   = 0.15 // share of the walks that a rest follows
	slowest   = 1.0  // m/s
	fastest   = 1.6
)

// mingle is the system that has people with a scenes.Wander walk about: now here, now
// there, with rests, about where they began, away from each other and from the border.
type mingle struct {
	people *animsys.Crowd
	asked  []strnn.Steer
	field  *terrain.Field
	wander *control.Wander
	grid   *grid.Grid
	at     []m3.Vec3      // (rows) where they are soon
	goals  []control.Goal // (rows)
	filter generic.Filter3[ecs.Slot, strnn.Steer, scenes.Wander]
}

func newMingle(people *animsys.Crowd, stream *strnn.Stream, field *terrain.Field, seed uint64) *mingle {
	n := people.Rows.Cap()
	x0, z0, x1, z1 := field.Bounds()
	m := &mingle{people: people, asked: stream.Controls(), field: field, wander: control.NewWander(n, seed), grid: grid.New(x0, z0, x1, z1, personal, n), at: make([]m3.Vec3, n), goals: make([]control.Goal, n)}
	m.wander.Radius, m.wander.Rest = homeRange, resting
	return m
}

// Initialize builds the filter.
func (m *mingle) Initialize(*arche.World) {
	m.filter = *generic.NewFilter3[ecs.Slot, strnn.Steer, scenes.Wander]()
}

// Update says how they shall go.
func (m *mingle) Update(w *arche.World) {
	n := m.people.Agents()
	for r, root := range m.people.Roots[:n] {
		m.at[r] = root.Apply(m3.V(0, 0, soon*m.asked[r].Speed)).Flat()
	}
	m.grid.Fill(m.at[:n])
	m.wander.Update(m.goals, m.people.Roots, 1.0/scenes.TickRate, 0, n)
	for q := m.filter.Query(w); q.Next(); {
		slot, wander, _ := q.Get()
		*wander = m.ask(int(slot.Row))
	}
}

// Finalize has nothing to do.
func (m *mingle) Finalize(*arche.World) {}

// ask returns how row shall go.
func (m *mingle) ask(row int) strnn.Steer {
	goal, me := &m.goals[row], m.at[row]
	if goal.Action != control.Move {
		return strnn.Steer{}
	}
	ahead := m.people.Roots[row].Rot.Forward()
	out := strnn.Steer{Speed: m3.Clamp(goal.Speed, slowest, fastest)}
	yaw := m3.YawOf(ahead)
	// The goal's own turn is where it would like to look; the push adds to it.
	want := m3.YawQuat(yaw + goal.Turn*control.MaxTurn).Forward()
	for k := range 3 {
		for _, r := range m.grid.Near(me, k) {
			d := me.Sub(m.at[r])
			l := d.Len()
			if int(r) == row || !(l < personal && l > 1e-3) {
				continue
			}
			want = want.Add(d.Scale(2 * (personal - l) / (personal * l)))
			if l < touching && d.Dot(ahead) < -0.7*l && int(r) < row { // of two who meet the latter waits
				out.Speed = 0
			}
		}
	}
	x0, z0, x1, z1 := m.field.Bounds()
	if in := min(me.X-x0, x1-me.X, me.Z-z0, z1-me.Z); in < border {
		want = want.Add(me.Neg().Normalize(m3.V(0, 0, 1)).Scale(2 * (border - in) / border))
	}
	out.Turn = control.Steer(yaw, m3.YawOf(want)) * strnn.MaxTurn
	return out
}

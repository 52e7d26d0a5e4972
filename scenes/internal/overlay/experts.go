package overlay

import (
	"math"
	"strconv"

	"mannequin/engine/hud"
	"mannequin/scenes"
)

// expertTicks is the number of ticks whose weights are kept.
const expertTicks = 4 * scenes.TickRate

// Experts records how a mode-adaptive network blends its experts for one row. Its zero value is
// empty.
type Experts struct {
	known  bool // the network has experts
	row    int
	names  []string
	recent []hud.Recent
	values [][]float32 // (experts, expertTicks) as of the last Draw
}

// Step records the weights of row in a tick, from gating, (rows, experts), of
// netruntime.Session.Gating; nil if they are unknown. A new row clears the record. With 0 rows it
// only notes that there are experts.
func (e *Experts) Step(gating []float32, rows, row int) {
	e.known = e.known || gating != nil
	if rows == 0 {
		return
	}
	n := 0
	if row >= 0 && row < rows {
		n = len(gating) / rows
	}
	for len(e.recent) < n {
		e.recent = append(e.recent, hud.NewRecent(expertTicks))
		e.names = append(e.names, strconv.Itoa(len(e.recent)))
		e.values = append(e.values, nil)
	}
	for i := range e.recent {
		if row != e.row {
			e.recent[i].Clear()
		}
		weight := float32(math.NaN())
		if i < n {
			weight = gating[row*n+i]
		}
		e.recent[i].Add(weight)
	}
	e.row = row
}

// Draw appends the graph to f if f.Show asks for it.
func (e *Experts) Draw(f *scenes.Frame) {
	if !e.known {
		return
	}
	f.Has |= hud.Activations
	if f.Show&hud.Activations == 0 {
		return
	}
	for i := range e.recent {
		e.values[i] = e.recent[i].Values()
	}
	f.Graphs = append(f.Graphs, hud.Graph{Title: "experts of the network", Names: e.names, Values: e.values, Max: 1, Seconds: expertTicks / scenes.TickRate})
}

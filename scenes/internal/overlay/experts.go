package overlay

import (
	"math"
	"strconv"

	"mannequin/engine/hud"
	"mannequin/scenes"
)

// expertTicks is for how long weights are kept.
const expertTicks = 4 * scenes.TickRate

// Experts keeps how much of each expert a mode-adaptive network was for one row. Its zero
// value has seen nothing.
type Experts struct {
	known  bool // the network has experts
	row    int
	names  []string
	recent []hud.Recent
	values [][]float32 // (experts, expertTicks) as of the last Draw
}

// Step notes the weights of row in a tick, from gating, (rows, experts), as
// netruntime.Session.Gating has it. Where it is nil they are unknown. Another row than
// before begins anew. With no rows it tells of the network alone.
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

// Draw appends the graph to f, where it is asked for.
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

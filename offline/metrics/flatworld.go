package metrics

import (
	"errors"

	arche "github.com/mlange-42/arche/ecs"

	"mannequin/animsys"
	"mannequin/animsys/generator"
	"mannequin/animsys/retarget"
	"mannequin/ecs"
	"mannequin/terrain"
)

// flatWorld is a world of one crowd on level ground, with the schedule of a game's tick.
type flatWorld struct {
	world    arche.World
	crowd    *animsys.Crowd
	schedule *ecs.Schedule
}

// newFlatWorld makes a crowd of agents that g moves, which may be characters of their own. If it fails, it closes g.
func newFlatWorld[C any](g generator.Generator[C], workers int, own ...*retarget.Character) (*flatWorld, error) {
	w := &flatWorld{world: arche.NewWorld()}
	ground, err := terrain.Flat(terrain.Grid{Size: 8, Cell: 4}) // goes on beyond its edges
	if err == nil {
		w.crowd, err = animsys.NewCrowd(&w.world, g, animsys.Options{Ground: ground, Workers: workers, Characters: own})
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if w.schedule, err = ecs.NewSchedule(&w.world, 1.0/animsys.TickRate, animsys.Systems()...); err != nil {
		return nil, errors.Join(err, w.crowd.Close())
	}
	return w, nil
}

func (w *flatWorld) close() {
	w.schedule.Close()
	w.crowd.Close()
}

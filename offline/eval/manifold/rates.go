package manifold

import (
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
)

// Rate is a row of Table 1.
type Rate struct {
	Task      string  `json:"task"`
	Frames    int     `json:"frames"`
	Synthesis float64 `json:"synthesis_s"`
	Editing   float64 `json:"editing_s"`
	Rate      float64 `json:"frames_per_second"`
	Paper     float64 `json:"paper"` // on a GTX 660
	Bar       float64 `json:"bar"`
}

// took adds a run. The fastest counts.
func (r *Rate) took(synthesis, editing time.Duration) {
	if rate := float64(r.Frames) / (synthesis + editing).Seconds(); rate > r.Rate {
		r.Synthesis, r.Editing, r.Rate = synthesis.Seconds(), editing.Seconds(), rate
	}
}

// rates measures the walks of the paper's Table 1.
func (r *Report) rates(p *manifold.Networks, o Options) error {
	if !o.Rates {
		return nil
	}
	circle, err := control.Circle(6)
	if err != nil {
		return err
	}
	for _, task := range []struct {
		name       string
		people     int
		frames     int
		speed      float32
		iterations int
		paper, bar float64
	}{
		{"walking, 60 s", 1, 3600, 1.4, manifold.DefaultIterations, 3030, 3030},
		{"running, 60 s", 1, 3600, 3.3, manifold.DefaultIterations, 2965, 2965},
		{"crowd, 200 people, 10 s", 200, 600, 1.4, manifold.CrowdIterations, 28957, 30000},
	} {
		courses := make([]manifold.Trajectory, task.people)
		for i := range courses {
			v := task.speed * (0.8 + 0.4*float32(i)/float32(task.people))
			if courses[i], err = manifold.AlongPath(circle, task.frames, func(int) float32 { return v }, func(int) float32 { return 0 }); err != nil {
				return err
			}
		}
		l, err := p.NewLocomotion(manifold.LocomotionOptions{Batch: task.people, Frames: task.frames, Workers: o.Threads})
		if err != nil {
			return err
		}
		defer l.Close()
		best := Rate{Task: task.name, Frames: task.people * task.frames, Paper: task.paper, Bar: task.bar}
		for range 3 {
			_, rep, err := l.Make(courses, nil, task.iterations, time.Now)
			if err != nil {
				return err
			}
			best.took(rep.Synthesis, rep.Editing)
		}
		r.Rates = append(r.Rates, best)
	}
	return nil
}

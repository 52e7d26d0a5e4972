package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
)

// Follow is how far off a path a follower is on the average.
type Follow struct {
	DistanceCM float64 `json:"distance_cm"`
	AngleDeg   float64 `json:"angle_deg"`
	Speed      float64 `json:"speed_m_s,omitzero"` // mean of the root's; followers slow down in curves
}

// PaperPath is a path of the paper's Table 4, whose sizes it does not tell,
// with its results for an ordinary network, a phase-functioned one and the
// mode-adaptive one.
type PaperPath struct {
	Name            string
	VNN, PFNN, MANN Follow
}

// Best returns the smallest distance and the smallest angle among the columns
// of p whose distance is the smallest: the paper's best column.
func (p PaperPath) Best() Follow {
	best := p.VNN
	for _, f := range []Follow{p.PFNN, p.MANN} {
		if f.DistanceCM < best.DistanceCM {
			best = f
		}
	}
	return best
}

// PaperPaths returns the paper's Table 4, its custom path under the name of ours.
// Each name is one of control.Builtin.
func PaperPaths() []PaperPath {
	return []PaperPath{
		{"circle", Follow{2.28, 3.07, 0}, Follow{1.96, 1.70, 0}, Follow{2.98, 3.21, 0}},
		{"square", Follow{5.80, 5.20, 0}, Follow{3.72, 3.78, 0}, Follow{4.65, 7.21, 0}},
		{"star", Follow{7.45, 8.80, 0}, Follow{8.37, 11.94, 0}, Follow{6.61, 8.76, 0}},
		{"meander", Follow{8.14, 7.69, 0}, Follow{9.50, 9.28, 0}, Follow{5.31, 6.75, 0}},
	}
}

// Following measures a model on paths, at speed m/s for so many seconds, from
// rest on the path: by path the deviation of the network's pose from it, with
// the root on the ground under joint 0, facing the joint called Neck.
func Following(r *Rollout, paths []*control.Path, speed float32, seconds float64) ([]Follow, error) {
	neck := r.Model.Skel.Index("Neck")
	if neck < 0 {
		return nil, fmt.Errorf("metrics: the skeleton has no joint %q, toward which the root faces", "Neck")
	}
	agents := make([]Agent, len(paths))
	for i, p := range paths {
		at, dir := p.At(0)
		agents[i] = Agent{Start: at, Yaw: m3.YawOf(dir), Goal: constant(control.Goal{Path: p, Speed: speed})}
	}
	takes, err := r.Run(agents, int(seconds*mann.Rate))
	if err != nil {
		return nil, err
	}
	out := make([]Follow, len(paths))
	for i, t := range takes {
		pos, dir := facing(t.Raw, neck)
		if n := arrival(paths[i], pos); n < len(pos) {
			pos, dir = pos[:n], dir[:n]
		}
		d := PathDeviation(paths[i], pos, dir)
		out[i] = Follow{100 * d.Distance, d.Angle * 180 / math.Pi, travel(t.Roots[:len(pos)]) * mann.Rate / float64(len(pos))}
	}
	return out, nil
}

// arrival returns how many frames pass before who goes along an open path has
// come to its end and stops there; the first always does.
func arrival(p *control.Path, pos []m3.Vec3) int {
	const near = 0.3 // m
	for f, at := range pos {
		if s, _ := p.Nearest(at); f > 0 && !p.Closed() && s > p.Length()-near {
			return f
		}
	}
	return len(pos)
}

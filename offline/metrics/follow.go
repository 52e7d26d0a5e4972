package metrics

import (
	"cmp"
	"math"
	"slices"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
)

// Follow is the mean distance of a follower from a path.
type Follow struct {
	DistanceCM float64 `json:"distance_cm"`
	AngleDeg   float64 `json:"angle_deg"`
	Speed      float64 `json:"speed_m_s,omitzero"` // of the root, mean since the command

	SetOff *float64 `json:"set_off_s,omitempty"` // seconds until the root has moved 25 cm; nil: never
}

// PaperPath is a path of the paper's Table 4 with the results of an ordinary network, a
// phase-functioned one and the mode-adaptive one. The paper does not give its size.
type PaperPath struct {
	Name            string
	VNN, PFNN, MANN Follow
}

// Best returns the column with the smallest distance.
func (p PaperPath) Best() Follow {
	return slices.MinFunc([]Follow{p.VNN, p.PFNN, p.MANN}, func(a, b Follow) int { return cmp.Compare(a.DistanceCM, b.DistanceCM) })
}

// PaperPaths returns the paper's Table 4. Each name is one of control.Builtin, one a path of ours.
func PaperPaths() []PaperPath {
	paper := func(distance, angle float64) Follow { return Follow{DistanceCM: distance, AngleDeg: angle} }
	return []PaperPath{
		{"circle", paper(2.28, 3.07), paper(1.96, 1.70), paper(2.98, 3.21)},
		{"square", paper(5.80, 5.20), paper(3.72, 3.78), paper(4.65, 7.21)},
		{"star", paper(7.45, 8.80), paper(8.37, 11.94), paper(6.61, 8.76)},
		{"meander", paper(8.14, 7.69), paper(9.50, 9.28), paper(5.31, 6.75)},
	}
}

// minSpeed is the speed in m/s below which a root stands.
const minSpeed = 0.1

// Following measures a model on paths, at a speed in m/s for duration seconds, from rest on the
// path. It returns, per path, the deviation of the network's pose: the root is on the ground under
// joint 0 and faces the joint Neck. Only frames with a moving root count.
func Following(r *Rollout, paths []*control.Path, speed float32, duration float64) ([]Follow, error) {
	neck, err := neckOf(r.skeleton())
	if err != nil {
		return nil, err
	}
	agents := make([]Agent, len(paths))
	for i, p := range paths {
		at, dir := p.At(0)
		agents[i] = Agent{Start: at, Yaw: m3.YawOf(dir), Goal: sequence(step{0, control.Goal{Path: p, Speed: speed}})}
	}
	takes, err := r.Run(agents, int(duration*mann.Rate))
	if err != nil {
		return nil, err
	}
	out := make([]Follow, len(paths))
	for i, t := range takes {
		out[i] = followed(paths[i], t, neck)
	}
	return out, nil
}

// followed measures how the take t, which begins with the command, follows a path.
func followed(path *control.Path, t Take, neck int) (out Follow) {
	start, _ := path.At(0)
	pos, dir := facing(t.Raw, neck)
	n := arrival(path, pos)
	out.Speed = travel(t.Roots[:n]) * mann.Rate / float64(n)
	if f := slices.IndexFunc(t.Roots, func(x m3.Xform) bool { return x.Pos.Dist(start) >= 0.25 }); f >= 0 {
		out.SetOff = seconds(f + 1)
	}
	if pos, dir = going(t.Roots[:n], pos, dir); len(pos) > 0 {
		d := PathDeviation(path, pos, dir)
		out.DistanceCM, out.AngleDeg = 100*d.Distance, d.Angle*180/math.Pi
	}
	return out
}

// going returns positions and directions in frames with a root that moves over a fifth of a second.
func going(roots []m3.Xform, pos, dir []m3.Vec3) (p, d []m3.Vec3) {
	for f := range roots {
		a, b := max(f-chord/2, 0), min(f+chord/2, len(roots)-1)
		if mann.Rate*float64(roots[b].Pos.Dist(roots[a].Pos)) >= minSpeed*float64(b-a) {
			p, d = append(p, pos[f]), append(d, dir[f])
		}
	}
	return p, d
}

// arrival returns the number of frames, at least one, before a follower reaches an open path's end.
func arrival(p *control.Path, pos []m3.Vec3) int {
	const near = 0.3 // m
	for f, at := range pos {
		if s, _ := p.Nearest(at); f > 0 && !p.Closed() && s > p.Length()-near {
			return f
		}
	}
	return len(pos)
}

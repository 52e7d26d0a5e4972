package main

import (
	"fmt"
	"math"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"

	"mannequin/animsys"
	"mannequin/animsys/latent"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/terrain"
)

// evalWalk is how strollers go who are asked for a turn and a speed.
type evalWalk struct {
	Turn   float64 `json:"turn_rad_s"`
	Speed  float64 `json:"speed_m_s"`
	Turned float64 `json:"turned_rad_s"`
	Went   float64 `json:"went_m_s"`
	Apart  float64 `json:"apart_cm"`      // of clip and next clip over the overlap
	Most   float64 `json:"apart_most_cm"` //
	Slide  float64 `json:"slide_cm"`      // of standing toes over the ground as shown, per frame
	Stand  float64 `json:"stand"`         // share of the time that a foot is held
}

// evalWalkAsks are what strollers are asked for: turns in rad/s, speeds in m/s.
var evalWalkAsks = [][2]float64{{0, 0.9}, {0, 1.2}, {0, 1.5}, {0.4, 1.2}, {-0.4, 1.2}, {0.8, 1}, {-0.8, 1}}

const (
	evalWalkers = 10 // for each
	evalSettle  = 5  // s
	evalWatch   = 20 // s
)

// walks has strollers walk on level ground.
func (r *evalLatentReport) walks(next *netruntime.Net, threads int) error {
	n := evalWalkers * len(evalWalkAsks)
	field, err := terrain.Flat(terrain.Grid{Size: 200, Cell: 0.5})
	if err != nil {
		return err
	}
	world := arche.NewWorld()
	s, err := animsys.NewStrollers(&world, r.model, next, animsys.StrollersOptions{Capacity: n, Terrain: field, Workers: threads})
	if err != nil {
		return err
	}
	defer s.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/latent.Rate, animsys.Systems()...)
	if err != nil {
		return err
	}
	defer schedule.Close()
	steering, err := r.model.NewSteering(next, threads)
	if err != nil {
		return err
	}
	sliders := generic.NewMap1[latent.Sliders](&world)
	asked := make([]latent.Sliders, n)
	for i := range n {
		e, err := s.Spawn(m3.V(0, 0, 0), 0)
		if err != nil {
			return err
		}
		ask := evalWalkAsks[i/evalWalkers]
		steering.Steer(sliders.Get(e), float32(ask[0]), float32(ask[1]))
		asked[i] = *sliders.Get(e)
	}
	if err := r.seams(next, asked, threads); err != nil {
		return err
	}
	tips := s.Ground.Rig.Roles.Legs
	last, stands := make([]m3.Vec3, n*len(tips)), make([]float64, len(evalWalkAsks))
	ahead := func(x m3.Xform) float32 { return m3.YawOf(x.Rot.Rotate(m3.V(0, 0, 1))) }
	roots := make([]m3.Xform, n)
	for tick := range (evalSettle + evalWatch) * latent.Rate {
		copy(roots, s.Roots)
		if err := schedule.Step(); err != nil {
			return err
		}
		for i := range n {
			w := &r.Walking[i/evalWalkers]
			if tick >= evalSettle*latent.Rate {
				w.Turned += float64(m3.WrapAngle(ahead(s.Roots[i])-ahead(roots[i]))) / evalWatch / evalWalkers
				w.Went += float64(s.Roots[i].Pos.Dist(roots[i].Pos)) / evalWatch / evalWalkers
			}
			for k, leg := range tips {
				at, was := s.Bones(i)[leg[len(leg)-1]].Pos, &last[i*len(tips)+k]
				if tick >= evalSettle*latent.Rate && s.Ground.Feet[i*len(tips)+k].Stands() {
					w.Slide += 100 * float64(at.Dist(*was))
					stands[i/evalWalkers]++
				}
				*was = at
			}
		}
	}
	for i := range r.Walking {
		w := &r.Walking[i]
		w.Slide /= max(1, stands[i])
		w.Stand = stands[i] / float64(evalWatch*latent.Rate*evalWalkers*len(tips))
	}
	return nil
}

// seams measures how far apart clips are from those that a network has follow.
func (r *evalLatentReport) seams(net *netruntime.Net, asked []latent.Sliders, threads int) error {
	const clips = 12
	m, n := r.model, len(asked)
	next, err := m.NewNext(net, latent.CoderOptions{Batch: n, Workers: threads})
	if err != nil {
		return err
	}
	defer next.Close()
	coder, err := m.NewCoder(latent.CoderOptions{Batch: n, Workers: threads})
	if err != nil {
		return err
	}
	defer coder.Close()
	v, cols := m.Values, m.Layout.Columns()
	size := latent.Frames * cols
	c, then, z := make([]float32, n*v), make([]float32, n*v), make([]float32, n*v)
	was, is := make([]float32, n*size), make([]float32, n*size)
	decode := func(rows, components []float32) error {
		for i := range n {
			m.Components.ToLatent(z[i*v:][:v], components[i*v:][:v])
		}
		return coder.Decode(rows, z, n)
	}
	if lead := m.Components.Index(latent.Lead); lead >= 0 {
		for i := range n {
			c[i*v+lead] = 1.5 * float32(1-2*(i%2))
		}
	}
	r.Walking = make([]evalWalk, len(evalWalkAsks))
	for i, ask := range evalWalkAsks {
		r.Walking[i].Turn, r.Walking[i].Speed = ask[0], ask[1]
	}
	if err := decode(was, c); err != nil {
		return err
	}
	for range clips {
		if err := next.Run(then, c, asked); err != nil {
			return err
		}
		if err := decode(is, then); err != nil {
			return err
		}
		for i := range n {
			sum := 0.0
			for f := range latent.Overlap {
				a, b := was[i*size+(latent.Frames-latent.Overlap+f)*cols:], is[i*size+f*cols:]
				for k := range m.Layout.Body() {
					sum += float64(a[k]-b[k]) * float64(a[k]-b[k])
				}
			}
			apart := 100 * math.Sqrt(sum/float64(latent.Overlap*len(m.Layout.Joints)))
			w := &r.Walking[i/evalWalkers]
			w.Apart += apart / clips / evalWalkers
			w.Most = max(w.Most, apart)
		}
		c, then, was, is = then, c, is, was
	}
	return nil
}

func (r *evalLatentReport) printWalks(t *evalTables) {
	rows := []string{"turn rad/s\tspeed m/s\tturns\tgoes\tapart cm\tmost\tslide cm/frame\tstands"}
	for _, w := range r.Walking {
		rows = append(rows, cells(fmt.Sprintf("%.1f", w.Turn), fmt.Sprintf("%.1f", w.Speed), fmt.Sprintf("%.2f", w.Turned), fmt.Sprintf("%.2f", w.Went),
			fmt.Sprintf("%.2f", w.Apart), fmt.Sprintf("%.2f", w.Most), fmt.Sprintf("%.3f", w.Slide), fmt.Sprintf("%.0f %%", 100*w.Stand)))
	}
	t.section(fmt.Sprintf("%d strollers each, who are asked to turn and go so fast", evalWalkers), rows...)
}

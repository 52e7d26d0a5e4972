package crowd

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// The settings of the place.
const (
	room      = 7   // ground for each agent, m²
	smallest  = 18  // least radius of the part where agents go, m
	edge      = 12  // width of the ground beyond it, m
	spots     = 7   // number of spots
	rocksPer  = 60  // ground for each rock, m²
	largest   = 1.6 // largest radius of a rock, m
	flowCell  = 0.8 // m
	clearance = 1.1 // distance that agents keep from a rock's edge, m
	laneWide  = 1.6 // distance of rocks and spots from a lane, m
)

// place is the ground of the crowd: a round common with rocks, lanes, and spots that agents go to.
type place struct {
	radius float32 // of the part where agents go, m
	field  *terrain.Field
	rocks  []terrain.Rock
	lanes  []*control.Path
	spots  []m3.Vec3
	flows  []*control.Flow // to each spot
}

// radiusFor returns the radius of the part where agents go, m.
func radiusFor(agents int) float32 {
	return max(smallest, m3.Sqrt(float32(agents)*room/math.Pi))
}

// GroundSize returns the width of the terrain for a number of agents, m.
func GroundSize(agents int) float32 { return 2 * (radiusFor(agents) + edge) }

// newPlace puts lanes, rocks and spots on the ground.
func newPlace(field *terrain.Field, agents int, seed uint64) (*place, error) {
	p := &place{radius: radiusFor(agents)}
	r := rand.New(rand.NewPCG(seed, 10))
	for share := float32(0.45); share < 1; share += 0.4 {
		lane, err := ring(p.radius*share, r)
		if err != nil {
			return nil, err
		}
		p.lanes = append(p.lanes, lane)
	}
	wanted := int(math.Pi * p.radius * p.radius / rocksPer)
	for tries := 0; len(p.rocks) < wanted && tries < 20*wanted; tries++ {
		rock := terrain.Rock{At: p.somewhere(r), Radius: m3.Lerp(0.7, largest, r.Float32()), Height: 0.7 + 0.9*r.Float32()}
		if p.offLanes(rock.At) > rock.Radius+laneWide && p.free(rock.At, rock.Radius+2*clearance) {
			p.rocks = append(p.rocks, rock)
		}
	}
	var err error
	if p.field, err = field.WithRocks(p.rocks); err != nil {
		return nil, err
	}
	for tries := 0; len(p.spots) < spots && tries < 1000; tries++ {
		at := p.somewhere(r)
		if p.free(at, 2) && p.offLanes(at) > laneWide {
			p.spots = append(p.spots, at)
		}
	}
	reach := p.radius + edge/2
	for _, at := range p.spots {
		f, err := control.NewFlow(-reach, -reach, reach, reach, flowCell, at, func(x, z float32) bool { return !p.free(m3.V(x, 0, z), clearance) })
		if err != nil {
			return nil, err
		}
		p.flows = append(p.flows, f)
	}
	return p, nil
}

// ring returns a bent closed path around the origin.
func ring(radius float32, r *rand.Rand) (*control.Path, error) {
	const points = 20
	phase, bends := 2*math.Pi*r.Float64(), 0.06+0.05*r.Float64()
	at := make([]m3.Vec3, points)
	for i := range at {
		a := 2 * math.Pi * float64(i) / points
		q := float64(radius) * (1 + bends*math.Sin(3*a+phase))
		at[i] = m3.V(float32(q*math.Sin(a)), 0, float32(q*math.Cos(a)))
	}
	return control.NewPath(at, true)
}

// somewhere returns a random place where agents go, evenly distributed.
func (p *place) somewhere(r *rand.Rand) m3.Vec3 {
	a, q := 2*math.Pi*r.Float64(), float64(p.radius)*math.Sqrt(r.Float64())
	return m3.V(float32(q*math.Sin(a)), 0, float32(q*math.Cos(a)))
}

// free reports whether at is farther than by, m, from each rock.
func (p *place) free(at m3.Vec3, by float32) bool {
	for _, r := range p.rocks {
		if at.Dist(r.At) < r.Radius+by {
			return false
		}
	}
	return true
}

// off returns what leads off the rocks that a place is on.
func (p *place) off(at m3.Vec3) (push m3.Vec3) {
	for i := range p.rocks {
		d := at.Sub(p.rocks[i].At)
		if l := d.Len(); l > 1e-3 && l < p.rocks[i].Radius+clearance {
			push = push.Add(d.Scale(1 / l))
		}
	}
	return push
}

// offLanes returns the distance from at to the nearest lane, m.
func (p *place) offLanes(at m3.Vec3) float32 {
	least := float32(math.MaxFloat32)
	for _, l := range p.lanes {
		_, d := l.Nearest(at)
		least = min(least, d)
	}
	return least
}

package people

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// lane is a closed path on which all people walk at the same speed.
type lane struct {
	path   *control.Path
	speed  float32 // m/s
	offset float32 // of the first person, a fraction of the lane
}

const (
	laneWidth = 1.2 // m
	room      = 3.5 // for each person along a lane, m
	inner     = 6   // mean radius of the innermost lane, m
)

// laneSpeeds are the speeds of the lanes, innermost first, and repeated: most people walk, some
// jog, one in eight runs, m/s.
var laneSpeeds = [...]float32{1.1, 1.3, 1.45, 2.6, 1.2, 1.7, 1.35, 3.4}

// laneCount returns the number of lanes for a number of people.
func laneCount(people int) int {
	n, places := 0, 0.0
	for n == 0 || places < float64(people) {
		places += math.Floor(2 * math.Pi * (inner + laneWidth*float64(n)) / room)
		n++
	}
	return n
}

// GroundSize returns the width of the terrain for a number of people, m.
func GroundSize(people int) float32 {
	return max(80, 2*(1.25*(inner+laneWidth*float32(laneCount(people)))+15))
}

// lanes returns the lanes for a number of people: bent rings around the origin, one outside the
// other.
func lanes(people int, seed uint64) ([]lane, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	// All rings are bent by the same waves, so that they stay apart.
	var size, phase [3]float64
	for k := range size {
		size[k], phase[k] = 0.1*(0.5+r.Float64())/float64(k+1), 2*math.Pi*r.Float64()
	}
	out := make([]lane, laneCount(people))
	for i := range out {
		radius := inner + laneWidth*float64(i)
		points := make([]m3.Vec3, 24+6*i)
		for j := range points {
			a := 2 * math.Pi * float64(j) / float64(len(points))
			q := radius
			for k := range size {
				q += radius * size[k] * math.Sin(float64(k+2)*a+phase[k])
			}
			points[j] = m3.V(float32(q*math.Sin(a)), 0, float32(q*math.Cos(a)))
		}
		path, err := control.NewPath(points, true)
		if err != nil {
			return nil, err
		}
		out[i] = lane{path, laneSpeeds[i%len(laneSpeeds)], float32(math.Mod(0.618034*float64(i), 1))}
	}
	return out, nil
}

package people

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// lane is a closed path on which everyone goes equally fast, so that nobody runs
// into anybody.
type lane struct {
	path   *control.Path
	speed  float32 // m/s
	offset float32 // where the first starts, a share of the lane
}

const (
	laneWidth = 1.2 // m
	room      = 3.5 // of each person's along a lane, m
	inner     = 6   // the innermost lane's mean radius, m
)

// laneSpeeds are those of the lanes from the innermost on, over and over: most
// walk, some jog, one in eight runs.
var laneSpeeds = [...]float32{1.1, 1.3, 1.45, 2.6, 1.2, 1.7, 1.35, 3.4}

// laneCount returns how many lanes so many people need.
func laneCount(people int) int {
	n, places := 0, 0.0
	for n == 0 || places < float64(people) {
		places += math.Floor(2 * math.Pi * (inner + laneWidth*float64(n)) / room)
		n++
	}
	return n
}

// GroundSize returns how wide a terrain must be for so many people, m.
func GroundSize(people int) float32 {
	return max(80, 2*(1.25*(inner+laneWidth*float32(laneCount(people)))+15))
}

// lanes returns enough of them for so many people, around the origin: bent rings
// one outside the other.
func lanes(people int, seed uint64) ([]lane, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	// All rings are bent alike, by waves around them, so that they keep apart.
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

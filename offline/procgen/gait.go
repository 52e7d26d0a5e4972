package procgen

import (
	"math"

	"mannequin/offline/procgen/internal/smooth"
)

// gait is the timing of the legs in a stride and the motion of the trunk. Hildebrand (1965, 1977)
// describes symmetrical gaits by two numbers. The duty factor is the share of the stride that a
// hind foot is on the ground. The lag is the share by which the fore foot of its side follows.
type gait struct {
	// land is the phase of the stride, in [0, 1), at which each leg touches down.
	land [numLegs]float64
	trunk
}

// trunk is the motion of hips and chest in each stride. Amplitudes are metres and radians, phases
// are shares of the stride. A symmetrical gait's heights have two cycles per stride.
type trunk struct {
	beats            float64 // cycles of the heights per stride
	hip, chest       wave    // heights
	sway             wave    // to the left
	roll, rollChest  wave    // left side up
	yaw, yawChest    wave    // to the left
	flex             wave    // of the back, arched up
	nod              wave    // of the neck, up
	surge            wave    // ahead
	lead             float64 // constant yaw of the pelvis to the right, as in a canter
	clear, clearHind float64 // height of the swinging paws
}

// wave is amp·cos(2π(phase − at)).
type wave struct{ amp, at float64 }

func (w wave) value(phase float64) float64 { return w.amp * math.Cos(smooth.Tau*(phase-w.at)) }

// symmetrical returns a gait with a lag and a duty factor. bounce is the rise of the trunk: above 0
// it vaults over the standing legs, below 0 it sinks into them.
func symmetrical(lag, duty, bounce float64) gait {
	half := duty / 2
	var g gait
	g.land[leftHind], g.land[rightHind] = 0, 0.5
	g.land[leftFore], g.land[rightFore] = wrap01(lag), wrap01(lag+0.5)
	g.beats = 2
	g.hip = wave{bounce, half}
	g.chest = wave{bounce, half + lag}
	g.yaw = wave{-1, 0}
	g.yawChest = wave{-1, lag}
	g.roll = wave{1, half}
	g.rollChest = wave{1, half + lag}
	g.sway = wave{1, half + lag/2}
	g.nod = wave{-1, lag + 0.06}
	g.surge = wave{1, half + lag/2 + 0.2}
	return g
}

func wrap01(x float64) float64 { return x - math.Floor(x) }

// sized scales the unit waves of symmetrical, in degrees and metres.
func (g gait) sized(sway, roll, yaw, nod, surge, clear, clearHind float64) gait {
	g.sway.amp *= sway
	g.roll.amp *= rad(roll)
	g.rollChest.amp *= 0.6 * rad(roll)
	g.yaw.amp *= rad(yaw)
	g.yawChest.amp *= 0.7 * rad(yaw)
	g.nod.amp *= rad(nod)
	g.surge.amp *= surge
	g.clear, g.clearHind = clear, clearHind
	return g
}

// The gaits. A walk is a lateral sequence of four even beats: each fore foot follows the hind foot
// of its side by a quarter of a stride. In the pace the two follow each other closely (lateral
// couplets). In the trot diagonal feet land together.
func walk() gait {
	return symmetrical(0.25, 0.64, 0.009).sized(0.013, 3.2, 5, 2.2, 0.006, 0.045, 0.035)
}
func pace() gait {
	return symmetrical(0.10, 0.51, 0.008).sized(0.017, 3.5, 4.5, 1.8, 0.006, 0.05, 0.04)
}
func trot() gait {
	return symmetrical(0.50, 0.40, -0.014).sized(0.004, 1.8, 3, 1.2, 0.004, 0.07, 0.06)
}
func stand() gait {
	g := walk()
	g.trunk = trunk{beats: 2, clear: 0.045, clearHind: 0.035}
	return g
}

// canter is a three-beat gait: the trailing hind foot, then the other hind foot with the opposite
// fore foot, then the leading fore foot, then flight. The back rounds as the hind feet reach under,
// and stretches as they push.
func canter(right bool) gait {
	var g gait
	g.land[leftHind], g.land[rightHind], g.land[leftFore], g.land[rightFore] = 0, 0.27, 0.27, 0.54
	g.trunk = trunk{
		beats: 1,
		hip:   wave{0.030, 0.80}, chest: wave{0.028, 0.12},
		sway: wave{0.004, 0.1}, roll: wave{rad(2), 0.15}, rollChest: wave{rad(1.5), 0.45},
		yaw: wave{rad(-3), 0.05}, yawChest: wave{rad(-2.5), 0.35},
		flex: wave{rad(9), -0.02}, nod: wave{rad(4), 0.15}, surge: wave{0.01, 0.4},
		lead: rad(3), clear: 0.10, clearHind: 0.09,
	}
	if !right {
		g.land[leftHind], g.land[rightHind] = g.land[rightHind], g.land[leftHind]
		g.land[leftFore], g.land[rightFore] = g.land[rightFore], g.land[leftFore]
		for _, w := range []*wave{&g.sway, &g.roll, &g.rollChest, &g.yaw, &g.yawChest} {
			w.amp = -w.amp
		}
		g.lead = -g.lead
	}
	return g
}

// bound is the stride of a jump: both hind feet push off, and both fore feet land after the flight.
func bound() gait {
	var g gait
	g.land[leftHind], g.land[rightHind] = 0, 0.03
	g.land[leftFore], g.land[rightFore] = boundFore, boundFore+0.03
	g.trunk = trunk{beats: 1, clear: 0.09, clearHind: 0.08}
	return g
}

// A jump's hind feet stand in [0, boundHind], fore feet from boundFore until the next stride.
const (
	boundHind = 0.25
	boundFore = 0.80
	boundDuty = 0.22

	push = 0.35 // s before take-off, over which the duty factor falls to boundDuty
)

// knots are the corners of a piecewise linear function.
type knots [][2]float64

func (k knots) at(x float64) float64 {
	for i := 1; i < len(k); i++ {
		if x <= k[i][0] || i == len(k)-1 {
			a, b := k[i-1], k[i]
			u := min(max((x-a[0])/(b[0]-a[0]), 0), 1)
			return a[1] + u*(b[1]-a[1])
		}
	}
	return k[0][1]
}

// Strides per second and duty factor over speed in m/s, for a dog of this size. Stride frequency
// grows fast in the walk and hardly in the canter, toward 4.48 Hz·(mass/kg)^−0.14 = 2.8 Hz
// (Heglund, Taylor and McMahon, Science 186, 1974). Feet stand for two thirds of a slow walk's
// stride and for less than a third of a canter's.
var (
	strideRate = knots{{0, 0.85}, {0.3, 0.96}, {0.5, 1.10}, {0.8, 1.33}, {1.1, 1.56}, {1.5, 1.85}, {1.9, 2.08}, {2.6, 2.33}, {3.3, 2.47}, {4, 2.58}}
	dutyFactor = knots{{0, 0.76}, {0.3, 0.69}, {0.5, 0.64}, {0.8, 0.57}, {1.1, 0.51}, {1.5, 0.45}, {1.9, 0.40}, {2.6, 0.33}, {3.3, 0.27}, {4, 0.23}}
)

// speeds are the speeds of the gaits, m/s. Bounds lie midway between the 0.5, 1.1, 1.9 and 3.3 m/s
// of Zhang, Starke et al. 2018, section 8.
var speeds = map[string][2]float64{
	"walk": {0.3, 0.8}, "pace": {0.8, 1.5}, "trot": {1.5, 2.6}, "canter": {2.6, 4},
}

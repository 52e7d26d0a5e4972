package procgen

// A posture's parameters, in metres and radians in the world, pitch up, unless noted.
const (
	hipUp       = iota // height of the hips above standing
	hipAhead           // hips ahead of standing
	pitch              // of the line from hips to neck
	flexion            // of the back, arched up
	foreAhead          // fore paws, ahead
	hindAhead          // hind paws, ahead
	foreOut            // fore paws, outward
	hindOut            //
	heel               // weight of heelAngle
	heelAngle          // of the metatarsi, from straight down, toes ahead
	hockBend           // between thigh and metatarsus if heel is 0
	wristBend          // of the carpus, paw ahead
	neckPitch          //
	headPitch          //
	tailPitch          // of the first bone; straight back is 0
	tailCurl           // of the second against the first, up
	pawsUp             // weight with which raised fore paws hang from the chest
	pawsAhead          // distance at which they hang ahead of the shoulder joints
	pawsLow            // and below them
	noiseWeight        // weight of idle noise
	stagger            // left paws ahead, right paws behind
	numParams
)

// posture is a set of parameters.
type posture [numParams]float64

// standing is the base of all postures.
func standing() posture {
	var p posture
	p[pitch], p[flexion] = rad(0), rad(-1.5)
	p[hockBend], p[wristBend] = rad(34), rad(14)
	p[neckPitch], p[headPitch] = rad(38), rad(-6)
	p[tailPitch], p[tailCurl] = rad(-62), rad(6)
	p[pawsAhead], p[pawsLow] = 0.14, 0.20
	p[noiseWeight] = 1
	return p
}

// carriages are the postures of gaits: pitches in degrees, the rest in metres.
var carriages = map[string]struct{ neck, head, tail, curl, foreOut, hindOut, hipUp float64 }{
	"walk":   {30, -10, -56, 6, -0.012, -0.006, 0},
	"pace":   {28, -10, -48, 6, -0.016, -0.008, -0.008},
	"trot":   {30, -8, -36, 12, -0.022, -0.014, -0.02},
	"canter": {24, -6, -22, 8, -0.028, -0.018, -0.032},
}

// moving returns the posture of a gait at a speed.
func moving(g string, speed float64) posture {
	p, c := standing(), carriages[g]
	p[noiseWeight] = 0.6
	p[pitch], p[flexion] = rad(1), rad(1.5)
	p[neckPitch], p[headPitch], p[tailPitch], p[tailCurl] = rad(c.neck), rad(c.head), rad(c.tail), rad(c.curl)
	p[foreOut], p[hindOut], p[hipUp] = c.foreOut, c.hindOut, c.hipUp
	if g == "canter" {
		p[hipUp] -= 0.008 * (speed - 2.6)
	}
	return p
}

// sitting: the rump is down, hind paws lie flat, hocks on the ground; fore legs prop up the chest.
func sitting() posture {
	p := standing()
	p[hipUp], p[hipAhead], p[pitch], p[flexion] = -0.345, -0.06, rad(46), rad(13)
	p[foreAhead], p[hindAhead], p[hindOut] = -0.13, 0.19, 0.03
	p[heel], p[heelAngle] = 1, rad(84)
	p[wristBend] = rad(10)
	p[neckPitch], p[headPitch] = rad(58), rad(-8)
	p[tailPitch], p[tailCurl] = rad(-34), rad(32)
	p[noiseWeight] = 0.8
	return p
}

// lying on the belly, fore legs flat ahead, hind legs folded at the sides.
func lying() posture {
	p := standing()
	p[hipUp], p[hipAhead], p[pitch], p[flexion] = -0.325, -0.02, rad(7), rad(2)
	p[foreAhead], p[foreOut], p[hindAhead], p[hindOut] = 0.20, 0.01, 0.13, 0.04
	p[heel], p[heelAngle] = 1, rad(84)
	p[wristBend] = rad(2)
	p[neckPitch], p[headPitch] = rad(46), rad(-8)
	p[tailPitch], p[tailCurl] = rad(-42), rad(34)
	p[noiseWeight] = 0.6
	return p
}

// rearing: upright on the hind legs, with the fore paws in front of the chest.
func rearing() posture {
	p := standing()
	p[hipUp], p[hipAhead], p[pitch], p[flexion] = -0.045, -0.05, rad(62), rad(6)
	p[hindAhead], p[hindOut] = 0.06, 0.02
	p[hockBend] = rad(40)
	p[wristBend] = rad(-35)
	p[neckPitch], p[headPitch] = rad(72), rad(8)
	p[tailPitch], p[tailCurl] = rad(-48), rad(14)
	p[pawsUp] = 1
	p[noiseWeight] = 1.2
	return p
}

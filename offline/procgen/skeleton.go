package procgen

import (
	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// The joints, in the order of feature.Dog.
const (
	hips = iota
	spine
	spine1
	neck
	head
	headSite
	leftShoulder
	leftArm
	leftForeArm
	leftHand
	leftHandSite
	rightShoulder
	rightArm
	rightForeArm
	rightHand
	rightHandSite
	leftUpLeg
	leftLeg
	leftFoot
	leftFootSite
	rightUpLeg
	rightLeg
	rightFoot
	rightFootSite
	tail
	tail1
	tail1Site
	numJoints
)

// Lengths in metres of a made-up dog of 25 kg. Withers and hips are half a metre high, and the
// trunk is as long. Straight legs are a quarter longer than standing ones, which stay bent.
const (
	loinLen  = 0.20 // hips to the thorax
	chestLen = 0.24 // thorax to the neck's base
	neckLen  = 0.15
	headLen  = 0.18 // to the nose

	scapulaLen    = 0.10
	humerusLen    = 0.17
	radiusLen     = 0.21
	metacarpusLen = 0.09

	femurLen      = 0.19
	tibiaLen      = 0.20
	metatarsusLen = 0.13

	tailLen    = 0.13 // each of two bones
	tailBehind = 0.08 // of the tail's root behind Hips

	hipHeight   = 0.50 // of the joint Hips, standing
	hipHalf     = 0.05 // the hip joints' distance from the middle
	hipDrop     = 0.08 // of the hip joints below Hips
	hipBehind   = 0.04 // of the hip joints behind Hips
	shoulderFwd = 0.17 // of the scapula's upper end ahead of the thorax's
	shoulderLow = 0.02
	shoulderOut = 0.05
	trunkLen    = loinLen + chestLen
)

var parents = [numJoints]int16{-1, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25}

// Skeleton returns the animal: the joints of feature.Dog with their own proportions, in metres. For
// that layout's mirror, bones lie along local +X (metatarsi along −Y). The lateral axis is local Z,
// for head and shoulder blades local Y.
func Skeleton() *skel.Skeleton {
	s := &skel.Skeleton{
		Names: feature.Dog().Joints, Parents: append([]int16(nil), parents[:]...),
		Offsets: make([]m3.Vec3, numJoints), EndSite: make([]bool, numJoints),
	}
	set := func(j int, x, y, z float32) { s.Offsets[j] = m3.V(x, y, z) }
	set(spine1, loinLen, 0, 0)
	set(neck, chestLen, 0, 0)
	set(head, neckLen, 0, 0)
	set(headSite, headLen, 0, 0)
	for i, side := range [2]float32{1, -1} {
		f, h := i*(rightShoulder-leftShoulder), i*(rightUpLeg-leftUpLeg)
		set(leftShoulder+f, shoulderFwd, shoulderLow, side*shoulderOut) // the thorax's +Y points down
		set(leftArm+f, scapulaLen, 0, 0)
		set(leftForeArm+f, humerusLen, 0, 0)
		set(leftHand+f, radiusLen, 0, 0)
		set(leftHandSite+f, metacarpusLen, 0, 0)
		set(leftUpLeg+h, hipBehind, -hipDrop, side*hipHalf)
		set(leftLeg+h, femurLen, 0, 0)
		set(leftFoot+h, tibiaLen, 0, 0)
		set(leftFootSite+h, 0, -metatarsusLen, 0)
	}
	set(tail, tailBehind, 0, 0)
	set(tail1, tailLen, 0, 0)
	set(tail1Site, tailLen, 0, 0)
	for _, j := range []int{headSite, leftHandSite, rightHandSite, leftFootSite, rightFootSite, tail1Site} {
		s.EndSite[j] = true
	}
	return s
}

// The canonical frames of bones when the animal faces +Z: local axes in world axes.
var (
	pelvisFrame = m3.FromAxes(m3.V(0, 0, -1), m3.V(0, 1, 0), m3.V(1, 0, 0)) // +X to the rear; tail too
	spineFrame  = m3.FromAxes(m3.V(0, 0, 1), m3.V(0, -1, 0), m3.V(1, 0, 0)) // +X ahead; neck too
	headFrame   = m3.FromAxes(m3.V(0, 0, 1), m3.V(1, 0, 0), m3.V(0, 1, 0))
)

// The legs, in the order of feature.Dog's tips.
const (
	leftFore = iota
	rightFore
	leftHind
	rightHind
	numLegs
)

func isFore(leg int) bool { return leg < leftHind }

// sideOf is +1 for a left leg and −1 for a right one.
func sideOf(leg int) float64 { return 1 - 2*float64(leg&1) }

package procgen

import (
	"math"
	"math/rand/v2"

	"mannequin/offline/procgen/internal/smooth"
)

// kind is a kind of clip.
type kind struct {
	name  string
	share int                // percent of all clips
	beat  func(tl *timeline) // one round, from a stand to a stand
}

// kinds are balanced so that no gait or action is rare. The recordings that networks are usually
// trained on have little trot, canter and jumping.
var kinds = []kind{
	{"idle", 6, idleRound},
	{"walk", 8, func(tl *timeline) { tl.gaitRound("walk") }},
	{"pace", 7, func(tl *timeline) { tl.gaitRound("pace") }},
	{"trot", 9, func(tl *timeline) { tl.gaitRound("trot") }},
	{"canter", 8, func(tl *timeline) { tl.gaitRound("canter") }},
	{"gaits", 7, gaitsRound},
	{"turn", 16, turnRound},
	{"side", 12, sideRound},
	{"sit", 7, func(tl *timeline) { tl.actionRound(tl.sit) }},
	{"lie", 7, func(tl *timeline) { tl.actionRound(tl.lie) }},
	{"stand", 6, rearRound},
	{"jump", 7, jumpRound},
}

// compose returns a clip of a kind and a length in seconds.
func compose(k kind, name string, seconds float64, rng *rand.Rand) *Take {
	tl := newTimeline(rng, "Idle")
	tl.lookAround("idle", tl.uniform(1.2, 2))
	for first := true; first || tl.now < seconds-7; first = false {
		k.beat(tl)
	}
	if tl.mode != "stand" {
		tl.halt()
	}
	tl.idle(1.5)
	return tl.finish(name)
}

func (tl *timeline) speedIn(name string) float64 {
	r := speeds[name]
	return tl.uniform(r[0]+0.03*(r[1]-r[0]), r[1]-0.03*(r[1]-r[0]))
}

// turnIn returns a turn rate for a gait, rad/s, often 0.
func (tl *timeline) turnIn(name string) float64 {
	if tl.chance(0.3) {
		return 0
	}
	most := map[string]float64{"walk": 1.2, "pace": 1.05, "trot": 0.95, "canter": 0.7}[name]
	return tl.either(tl.uniform(0.15, 1) * most)
}

// leadIn leads to a gait through the gaits between: a standing dog does not start to canter.
func (tl *timeline) leadIn(name string) {
	if name == "canter" && tl.speed < 1.5 {
		tl.move("trot", tl.uniform(2, 2.5), 0, tl.turnIn("canter"), tl.uniform(0.1, 0.5))
	}
}

// slowDown slows down to a speed from which the dog can stop.
func (tl *timeline) slowDown() {
	if tl.speed > 2.6 && tl.chance(0.8) {
		tl.move("trot", tl.uniform(1.6, 2.2), 0, 0, tl.uniform(0.1, 0.6))
	}
	if tl.speed > 1 && tl.chance(0.35) {
		tl.move("walk", tl.uniform(0.4, 0.75), 0, 0, tl.uniform(0.1, 0.8))
	}
}

// gaitRound moves in one gait at changing speeds and turns.
func (tl *timeline) gaitRound(name string) {
	tl.leadIn(name)
	for range 3 + tl.rng.IntN(3) {
		tl.move(name, tl.speedIn(name), 0, tl.turnIn(name), tl.uniform(1, 2.6))
	}
	tl.slowDown()
	tl.halt()
	tl.idle(tl.uniform(0.8, 2))
}

func idleRound(tl *timeline) {
	tl.idle(tl.uniform(4, 10))
	if tl.chance(0.5) { // a small turn on the spot
		tl.move("walk", 0, 0, tl.either(tl.uniform(0.4, 0.9)), tl.uniform(0.1, 0.7))
	} else { // a few steps
		tl.move("walk", tl.uniform(0.25, 0.5), 0, tl.uniform(-0.4, 0.4), tl.uniform(0.2, 1))
	}
	tl.halt()
}

func gaitsRound(tl *timeline) {
	names := []string{"walk", "pace", "trot", "canter"}
	at := tl.rng.IntN(3)
	for range 4 + tl.rng.IntN(4) {
		tl.leadIn(names[at])
		tl.move(names[at], tl.speedIn(names[at]), 0, 0.6*tl.turnIn(names[at]), tl.uniform(0.8, 2))
		// Mostly to the next gait, up or down.
		step := 1
		if at == 3 || (at > 0 && tl.chance(0.5)) {
			step = -1
		}
		if at+2*step >= 0 && at+2*step < 4 && tl.chance(0.25) {
			step *= 2
		}
		at += step
	}
	tl.slowDown()
	tl.halt()
	tl.idle(tl.uniform(0.6, 1.5))
}

// turnRound turns on the spot and in small circles. Long turns fill the past and the future second.
// Short ones are common, because the first steps of a turn are the hardest to learn.
func turnRound(tl *timeline) {
	side := tl.either(1)
	ahead := 0.0
	if tl.chance(0.8) {
		ahead = tl.uniform(0.15, 0.75)
	}
	seconds := tl.uniform(1.5, 5)
	switch {
	case tl.chance(0.25): // out of a straight walk
		tl.move("walk", max(ahead, 0.3), 0, 0, tl.uniform(0.3, 1.2))
	case tl.chance(0.6):
		seconds = tl.uniform(0.3, 1.2)
	}
	tl.move("walk", ahead, 0, side*tl.uniform(0.6, 1.4), seconds)
	if ahead > 0 && tl.chance(0.3) { // and back into one
		tl.move("walk", ahead, 0, 0, tl.uniform(0.3, 1.2))
	}
	if tl.chance(0.35) {
		tl.move("walk", ahead, 0, -side*tl.uniform(0.6, 1.3), tl.uniform(0.3, 4))
	}
	tl.halt()
	tl.idle(tl.uniform(0.3, 0.8))
}

// sideRound steps sideways, backward and diagonally, sometimes with a turn.
func sideRound(tl *timeline) {
	for range 2 + tl.rng.IntN(2) {
		a := tl.uniform(0, smooth.Tau)
		if tl.chance(0.6) { // straight to a side or back
			a = math.Pi / 2 * []float64{1, 2, 2, 3}[tl.rng.IntN(4)]
		}
		v := tl.uniform(0.2, 0.6)
		turn := 0.0
		if tl.chance(0.3) {
			turn = tl.uniform(-0.6, 0.6)
		}
		tl.move("walk", v*math.Cos(a), v*math.Sin(a)*0.85, turn, tl.uniform(1.2, 2.5))
		if tl.chance(0.3) {
			tl.move("walk", tl.uniform(0.35, 0.7), 0, 0, tl.uniform(0.5, 1.5))
		}
	}
	tl.halt()
	tl.idle(tl.uniform(0.5, 1.5))
}

// actionRound sits or lies down, from a stand or a walk, may change to the other, and gets up.
func (tl *timeline) actionRound(act func(seconds float64)) {
	if tl.chance(0.6) {
		g := "walk"
		if tl.chance(0.3) {
			g = "pace"
		}
		tl.move(g, tl.speedIn(g), 0, tl.turnIn(g), tl.uniform(0.5, 2))
		if tl.chance(0.5) {
			tl.beginStop()
		} else {
			tl.halt()
			tl.idle(tl.uniform(0.1, 0.8))
		}
	}
	act(tl.uniform(1.5, 8))
	if tl.chance(0.35) {
		if tl.mode == "Sit" {
			tl.lie(tl.uniform(1.2, 3))
		} else {
			tl.sit(tl.uniform(1.2, 3))
		}
	}
	if tl.chance(0.4) { // and off at once
		tl.rise("Walk")
		tl.move("walk", tl.speedIn("walk"), 0, tl.turnIn("walk"), tl.uniform(0.3, 1.5))
		tl.halt()
		return
	}
	tl.rise("Idle")
	tl.idle(tl.uniform(0.1, 1.5))
}

func rearRound(tl *timeline) {
	if tl.chance(0.4) {
		tl.move("walk", tl.speedIn("walk"), 0, tl.turnIn("walk"), tl.uniform(0.5, 1.5))
		tl.halt()
	}
	tl.idle(tl.uniform(0.3, 1.2))
	tl.standUp(tl.uniform(1.2, 5))
	tl.idle(tl.uniform(0.3, 1.2))
}

// jumpRound leaps once or twice out of a gait and goes on in one.
func jumpRound(tl *timeline) {
	if tl.chance(0.75) { // else from a stand
		from := []string{"walk", "pace", "trot", "trot", "canter"}[tl.rng.IntN(5)]
		tl.leadIn(from)
		tl.move(from, tl.speedIn(from), 0, 0, tl.uniform(0.3, 1.5))
	}
	for range 1 + tl.rng.IntN(2) {
		v := max(tl.speed, 1.5)
		tl.jump(tl.uniform(0.9*min(v, 3.3), min(2*v, 3.3)), tl.uniform(0.12, 0.23))
		if tl.chance(0.12) {
			break // stops where it lands
		}
		to := []string{"walk", "pace", "trot", "trot", "canter"}
		if tl.speed > 2.2 { // too fast to walk on
			to = to[2:]
		}
		next := to[tl.rng.IntN(len(to))]
		tl.move(next, tl.speedIn(next), 0, 0, tl.uniform(0.4, 1.5))
	}
	tl.slowDown()
	tl.halt()
	tl.idle(tl.uniform(0.5, 1.5))
}

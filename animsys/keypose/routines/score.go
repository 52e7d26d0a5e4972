package routines

import (
	"math"
	"math/rand/v2"

	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
)

// part is a part of the body that a posture places.
type part int

// A posture is written for the main hand: sideways numbers are towards that hand's side, and those
// of a hand towards its own side.
const (
	sway   part = iota // offset of the hips from rest: sideways, up, ahead, m
	pelvis             // rotation: forward, sideways (about the vertical), leaning sideways, rad
	spine              // the same, relative to the pelvis
	head               // the same, relative to the chest
	hand               // position of the main wrist relative to the chest: to its side, up, ahead, m
	hand2              // of the other wrist
	elbow              // direction of the main elbow, as above
	elbow2
	wrist // the main forearm's twist, palm up and out, then the hand: towards its back, towards the thumb, rad
	wrist2
	fingers // curl of the main ones, and of the other's, rad
	heels   // how far they are raised, rad
	parts
)

type posture [parts]m3.Vec3

// rest is the posture of people who stand idle.
var rest = posture{
	spine: m3.V(0.03, 0, 0), head: m3.V(0.02, 0, 0),
	hand: m3.V(0.238, -0.406, 0.035), hand2: m3.V(0.236, -0.408, 0.025),
	elbow: m3.V(0.3, 0, -1), elbow2: m3.V(0.3, 0, -1),
	fingers: m3.V(0.4, 0.4, 0),
}

// late is the delay of a part behind the hands, s: hips lead, then the spine, then hands, then what
// hangs on them.
var late = [parts]float32{sway: -0.08, pelvis: -0.07, spine: -0.04, head: -0.03, elbow: -0.02, elbow2: -0.02,
	wrist: 0.04, wrist2: 0.04, fingers: 0.03}

// score is a pose loop as it is written: postures in the order of time.
type score struct {
	rand    *rand.Rand
	tempo   float32
	at      float32 // s, the time of the last posture
	time    []float32
	posture []posture
}

// to adds a posture that is reached in about seconds.
func (s *score) to(seconds float32, p posture) {
	s.at += seconds * s.tempo * between(s.rand, 0.92, 1.1)
	s.time, s.posture = append(s.time, s.at), append(s.posture, p)
}

// hold stays in the last posture, hardly moving.
func (s *score) hold(seconds float32) {
	p := s.posture[len(s.posture)-1]
	p[sway] = p[sway].Add(m3.V(between(s.rand, -0.006, 0.006), 0, between(s.rand, -0.005, 0.005)))
	p[head] = p[head].Add(m3.V(between(s.rand, -0.03, 0.03), between(s.rand, -0.05, 0.05), 0))
	s.to(seconds, p)
}

// stand returns to about the rest posture.
func (s *score) stand(seconds float32) {
	p := rest
	p[sway].X = between(s.rand, -0.008, 0.008)
	s.to(seconds, p)
}

// Between two postures there is a key every apart seconds, but at most steps−1. This suffices for
// the easing of parts; the network makes the rest.
const (
	apart = 0.15
	steps = 4
)

// keys returns the score as keys, and the duration of a round. Between postures each part eases in
// and out in its own time.
func (s *score) keys(f *figure) (keys []keypose.Key, every float64) {
	begin, end := s.time[0], s.at+0.5*s.tempo
	breath := 2 * math.Pi * max(math.Round(float64(end-begin)/4), 1) / float64(end-begin)
	add := func(at float32) {
		var p posture
		for i := range p {
			p[i] = s.part(part(i), at-late[i], end-begin)
		}
		in := m3.Sin(float32(breath) * (at - begin))
		p[spine].X -= 0.012 * in
		p[head].X += 0.01 * in
		p[sway].Y += 0.002 * in
		key := f.pose(p)
		key.Time = float64(at)
		keys = append(keys, key)
	}
	for i, t := range s.time {
		next := end
		if i+1 < len(s.time) {
			next = s.time[i+1]
		}
		n := min(int(math.Ceil(float64(next-t)/apart)), steps)
		for k := range n {
			add(t + (next-t)*float32(k)/float32(n))
		}
	}
	return keys, float64(end - begin)
}

// part returns a part at a time, of postures that repeat after every seconds: a cubic between
// neighbours that rests at turning points (Fritsch and Carlson 1980).
func (s *score) part(k part, at, every float32) m3.Vec3 {
	n := len(s.time)
	// v returns posture i of any round, and t its time.
	v := func(i int) m3.Vec3 { return s.posture[(i%n+n)%n][k] }
	t := func(i int) float32 { return s.time[(i%n+n)%n] + every*float32(math.Floor(float64(i)/float64(n))) }
	i := n - 1
	for i > -n && t(i) > at {
		i--
	}
	for t(i+1) <= at {
		i++
	}
	h := t(i+1) - t(i)
	u := (at - t(i)) / h
	slope := func(i int) m3.Vec3 {
		a, b := v(i).Sub(v(i-1)).Scale(1/(t(i)-t(i-1))), v(i+1).Sub(v(i)).Scale(1/(t(i+1)-t(i)))
		return m3.V(harmonic(a.X, b.X), harmonic(a.Y, b.Y), harmonic(a.Z, b.Z))
	}
	u2, u3 := u*u, u*u*u
	return v(i).Scale(2*u3 - 3*u2 + 1).Add(slope(i).Scale(h * (u3 - 2*u2 + u))).
		Add(v(i + 1).Scale(3*u2 - 2*u3)).Add(slope(i + 1).Scale(h * (u3 - u2)))
}

// harmonic returns the harmonic mean of slopes of equal sign, else 0.
func harmonic(a, b float32) float32 {
	if a*b <= 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

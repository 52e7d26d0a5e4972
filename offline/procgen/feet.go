package procgen

import (
	"math"
	"slices"

	"mannequin/engine/m3"
	"mannequin/offline/procgen/internal/smooth"
)

// stance is a time in seconds during which a paw stands.
type stance struct {
	a, b float64
	at   m3.Vec3
	off  m3.Vec3 // random offset from its best place
}

// schedule returns the stances of a leg: from its touchdown phase for the duty factor, except when
// it must be in the air. The first and last reach beyond the clip.
func (tl *timeline) schedule(leg int) []stance {
	n := len(tl.phase)
	// own is the leg's phase at frame f. Integers are touchdowns.
	own := func(f int) float64 { return tl.phase[f] - tl.land[leg].at(float64(f)/fps) }
	stands := func(f int) bool { return wrap01(own(f)) < tl.duty.at(float64(f)/fps) }
	var out []stance
	open := true
	begin := -1.0
	for f := 1; f < n; f++ {
		t0 := float64(f-1) / fps
		before, now := stands(f-1), stands(f)
		switch {
		case before && !now && open:
			// The duty is crossed between the two frames.
			e0 := wrap01(own(f-1)) - tl.duty.at(t0)
			e1 := wrap01(own(f)) - tl.duty.at(float64(f)/fps)
			out = append(out, stance{a: begin, b: t0 + e0/(e0-e1)/fps})
			open = false
		case now && !open:
			p0, p1 := own(f-1), own(f)
			whole := math.Floor(p1)
			begin, open = t0+min(max((whole-p0)/(p1-p0), 0), 1)/fps, true
		}
	}
	if !open {
		begin = float64(n)/fps + 0.1
	}
	out = append(out, stance{a: begin, b: float64(n)/fps + 1})
	return tl.grounded(leg, out)
}

// grounded removes steps while the paws must stay, and cuts times in the air out of the stances.
func (tl *timeline) grounded(leg int, in []stance) []stance {
	out := in[:1]
	for _, s := range in[1:] {
		if last := &out[len(out)-1]; tl.stays(last.b) || tl.startsIn(last.b, s.a) {
			last.b = s.b
		} else {
			out = append(out, s)
		}
	}
	for _, i := range tl.air {
		if i.leg != leg {
			continue
		}
		in, out = out, nil
		for _, s := range in {
			if s.b <= i.a || s.a >= i.b {
				out = append(out, s)
				continue
			}
			if s.a < i.a {
				out = append(out, stance{a: s.a, b: i.a})
			}
			if s.b > i.b {
				out = append(out, stance{a: i.b, b: s.b})
			}
		}
		// A leg in swing when its time in the air begins or ends stays down, or comes down, for it.
		for k := range out {
			if k+1 < len(out) && out[k].b <= i.a && out[k+1].a >= i.b {
				out[k].b, out[k+1].a = i.a, i.b
			}
		}
	}
	return out
}

func (tl *timeline) stays(t float64) bool {
	return slices.ContainsFunc(tl.hold, func(h [2]float64) bool { return h[0] <= t && t < h[1] })
}

// startsIn reports whether the animal starts to move during a step or at its end. Such a step comes
// from the idle clock, which then jumps, and is not taken.
func (tl *timeline) startsIn(a, b float64) bool {
	return slices.ContainsFunc(tl.starts, func(t float64) bool { return a < t && b > t-1.5/fps })
}

// minStep is the shortest step, m.
const minStep = 0.02

// maxReach is the largest distance of a standing paw from its best place, m.
const maxReach = 0.21

// minSwing is the shortest swing, s. The fastest canter needs a quarter of a second.
const minSwing = 0.2

// footholds places a leg's stances: under the body in the middle of the stance. A paw whose step
// would return to the same spot stays. A paw far behind lifts earlier, and lands later.
func (w *walker) footholds(leg int, in []stance) []stance {
	var out []stance
	for i, s := range in {
		// A coming posture brings its own steps, and so does a start.
		until := min(s.b, w.end)
		for _, t := range w.tl.starts {
			if t > s.a && t < until {
				until = t
			}
		}
		for _, h := range w.tl.hold {
			if h[0] > s.a && h[0] < until {
				until = h[0]
			}
		}
		mid := (max(s.a, 0) + until) / 2
		if i == 0 {
			mid = min(mid, max(s.b-0.2, 0))
		}
		s.at, s.off = w.home(leg, mid), m3.Vec3{}
		if k := len(out) - 1; k >= 0 && !w.airborne(leg, out[k].b, s.a) {
			last := &out[k]
			far := s.at.Sub(last.at.Sub(last.off)).Len()
			for u := range 5 {
				t := last.b + (max(until, last.b)-last.b)*float64(u)/4
				far = max(far, w.home(leg, t).Sub(last.at.Sub(last.off)).Len())
			}
			if far < minStep {
				last.b = s.b
				continue
			}
		}
		if i > 0 {
			s.off = w.footOffset(mid)
			s.at = s.at.Add(s.off)
		}
		s = w.trimmed(leg, s, mid)
		if k := len(out) - 1; k >= 0 {
			// A change of phases can make a swing too short.
			if lack := minSwing - (s.a - out[k].b); lack > 0 {
				out[k].b = max(out[k].b-lack/2, out[k].a)
				s.a = min(s.a+lack/2, s.b)
			}
		}
		out = append(out, s)
	}
	return out
}

// footOffset returns a random offset of a paw's place, larger along the body, and at a stop.
func (w *walker) footOffset(t float64) m3.Vec3 {
	moves := smooth.Step(math.Hypot(w.tl.ahead.at(t), w.tl.side.at(t)) / 0.6)
	size := 0.012 - 0.002*moves
	// The sum of two uniform numbers has no outliers.
	u := func() float64 { return w.tl.rng.Float64() + w.tl.rng.Float64() - 1 }
	g := w.placeAt(t)
	g.x, g.z = 0, 0
	return g.apply(size*u(), 2*size*u())
}

// trimmed shortens a stance to the part around mid that the leg can reach.
func (w *walker) trimmed(leg int, s stance, mid float64) stance {
	const dt, least = 1.0 / 240, 0.03
	far := func(t float64) bool { return float64(w.home(leg, t).Sub(s.at).Len()) > maxReach }
	for t := mid + least; t < min(s.b, w.end); t += dt {
		if far(t) {
			s.b = t
			break
		}
	}
	for t := mid - least; t > max(s.a, 0); t -= dt {
		if far(t) {
			s.a = t
			break
		}
	}
	return s
}

// airborne reports whether the leg is kept in the air between two times.
func (w *walker) airborne(leg int, a, b float64) bool {
	return slices.ContainsFunc(w.tl.air, func(i interval) bool { return i.leg == leg && i.a < b && i.b > a })
}

// paw is the state of a paw at one time.
type paw struct {
	at    m3.Vec3
	swing float64 // 0 on the ground, 1 in the middle of a step
	free  float64 // seconds since lift-off or until touchdown, whichever is less; 0 on the ground
}

// paw returns a leg's paw at time t. hang returns where it would hang from the chest.
func (w *walker) paw(leg int, t float64, hang func() m3.Vec3) paw {
	s := w.feet[leg]
	i := w.cursor[leg]
	for i+1 < len(s) && s[i+1].a <= t {
		i++
	}
	w.cursor[leg] = i
	if t <= s[i].b || i+1 == len(s) {
		return paw{at: s[i].at}
	}
	from, to := s[i], s[i+1]
	d := to.a - from.b
	u := (t - from.b) / d
	step := to.at.Sub(from.at)
	// Small steps are low.
	k := 1
	if isFore(leg) {
		k = 0
	}
	mid := (from.b + to.a) / 2
	high := w.tl.clear[k].at(mid) * (0.45 + 0.55*smooth.Step(float64(step.Len())/0.25))
	p := paw{at: from.at.Add(step.Scale(float32(travel(u)))), swing: bump(u), free: min(t-from.b, to.a-t)}
	// In a jump paws rise with the trunk.
	rise := max(0, w.tl.up[1-k].at(t)) * smooth.Step(u/0.3) * smooth.Step((1-u)/0.3)
	p.at.Y = float32(high*arch(u) + rise)
	if up := w.tl.params[pawsUp].at(t); isFore(leg) && w.airborne(leg, from.b, to.a) {
		// Up to the chest and down again within the flight.
		share := smooth.Step((t-from.b)/0.35) * smooth.Step((to.a-t)/0.35) * min(max(up, 0), 1)
		p.at = p.at.Lerp(hang(), float32(share))
		p.swing = max(p.swing, share)
	}
	return p
}

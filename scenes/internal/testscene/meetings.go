package testscene

import (
	"fmt"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// Meetings counts how often the characters of a scene come near each other. A pair that comes nearer
// than a distance counts once until it is farther away again.
type Meetings struct {
	Minutes float64 // of all characters together
	Hips    [3]int  // pairs of people whose hips come nearer than HipsNear
	Limbs   int     // pairs with axes of bones nearer than LimbsNear
	Into    int     // pairs with bones in each other, by rough radii of bodies
	Nearest float32 // least distance of the hips of two people, m
	Speed   float32 // mean speed of people, m/s
	Slowest float32 // mean speed of the slowest character, m/s
	pairs   map[[2]int]uint8
	way     []float32
	last    []m3.Vec3
}

// HipsNear and LimbsNear are the distances that Meetings counts, m.
var HipsNear, LimbsNear = [...]float32{0.5, 0.35, 0.25}, float32(0.1)

// Meet runs a scene whose characters stay the same ones.
func Meet(t testing.TB, s scenes.Scene, seconds int) *Meetings {
	t.Helper()
	const every = 2 // ticks
	m := &Meetings{Nearest: 99, pairs: map[[2]int]uint8{}}
	var f scenes.Frame
	for tick := range seconds * scenes.TickRate {
		Step(t, s, 1, scenes.Input{})
		if tick%every == 0 {
			s.Frame(&f, 1)
			m.look(&f)
		}
	}
	m.Minutes = float64(len(m.way)) * float64(seconds) / 60
	people, n := 0, 0
	m.Slowest = 99
	for i := range f.Casts {
		for range f.Casts[i].Len() {
			v := m.way[n] / float32(seconds)
			m.Slowest = min(m.Slowest, v)
			if !dog(f.Casts[i].Skel) {
				m.Speed += v
				people++
			}
			n++
		}
	}
	m.Speed /= float32(max(people, 1))
	return m
}

func (m *Meetings) String() string {
	rate := func(n int) string { return fmt.Sprintf("%d (%.3f)", n, float64(n)/m.Minutes) }
	return fmt.Sprintf("%.0f minutes of characters, count (per minute): hips < 0.5 m %s, < 0.35 m %s, < 0.25 m %s, nearest %.2f m; limbs < 0.1 m %s, in each other %s; people's mean speed %.2f m/s, the slowest character's %.2f",
		m.Minutes, rate(m.Hips[0]), rate(m.Hips[1]), rate(m.Hips[2]), m.Nearest, rate(m.Limbs), rate(m.Into), m.Speed, m.Slowest)
}

func dog(sk *skel.Skeleton) bool { return sk.Index("Tail") >= 0 }

// radius returns the rough radius of the body around the bone that ends at a joint, m.
func radius(sk *skel.Skeleton, joint int) float32 {
	name := sk.Names[joint]
	for _, r := range [...]struct {
		part   string
		radius float32
	}{{"Spine", 0.11}, {"LowerBack", 0.11}, {"Head", 0.08}, {"Neck", 0.06}, {"UpLeg", 0.08}, {"Leg", 0.06}, {"ForeArm", 0.04}, {"Arm", 0.045}, {"Shoulder", 0.06}} {
		if strings.Contains(name, r.part) {
			return r.radius
		}
	}
	return 0.03
}

// look counts the pairs of a frame.
func (m *Meetings) look(f *scenes.Frame) {
	type who struct {
		cast, row int
	}
	var all []who
	var hips []m3.Vec3
	for i := range f.Casts {
		for r := range f.Casts[i].Len() {
			all = append(all, who{i, r})
			hips = append(hips, f.Casts[i].Of(r)[0].Pos)
		}
	}
	if m.way == nil {
		m.way = make([]float32, len(all))
		m.last = hips
	}
	const step = 0.5 // m: a step is counted when they have gone this far, so that swaying counts little
	for i, p := range hips {
		if d := p.Flat().Dist(m.last[i].Flat()); d > step {
			m.way[i] += d
			m.last[i] = p
		}
	}
	for i, a := range all {
		for k, b := range all[:i] {
			d := hips[i].Flat().Dist(hips[k].Flat())
			key := [2]int{i, k}
			if d > 2.5 {
				delete(m.pairs, key)
				continue
			}
			was, is := m.pairs[key], uint8(0)
			ca, cb := &f.Casts[a.cast], &f.Casts[b.cast]
			if !dog(ca.Skel) && !dog(cb.Skel) {
				m.Nearest = min(m.Nearest, d)
				for j, near := range HipsNear {
					if d < near {
						is |= 1 << j
					}
				}
			}
			limbs, into := between(ca, a.row, cb, b.row)
			if limbs < LimbsNear {
				is |= 1 << 3
			}
			if into < -0.02 {
				is |= 1 << 4
			}
			for j := range m.Hips {
				m.Hips[j] += int((is &^ was) >> j & 1)
			}
			m.Limbs += int((is &^ was) >> 3 & 1)
			m.Into += int((is &^ was) >> 4 & 1)
			m.pairs[key] = is
		}
	}
}

// between returns the least distance between the bones of two characters, m, and the least one less
// the radii of the body around the bones.
func between(a *scenes.Cast, i int, b *scenes.Cast, k int) (least, free float32) {
	least, free = 99, 99
	p, q := a.Of(i), b.Of(k)
	for j, up := range a.Skel.Parents {
		if up < 0 {
			continue
		}
		r := radius(a.Skel, j)
		for l, above := range b.Skel.Parents {
			if above < 0 || p[j].Pos.Dist(q[l].Pos) > 1 {
				continue
			}
			d := segments(p[up].Pos, p[j].Pos, q[above].Pos, q[l].Pos)
			least, free = min(least, d), min(free, d-r-radius(b.Skel, l))
		}
	}
	return least, free
}

// segments returns the distance between two segments, from a to b and from c to d: Ericson,
// Real-Time Collision Detection, 2005, sec. 5.1.9.
func segments(a, b, c, d m3.Vec3) float32 {
	const tiny = 1e-9
	u, v, w := b.Sub(a), d.Sub(c), a.Sub(c)
	uu, vv, uv, uw, vw := u.Dot(u), v.Dot(v), u.Dot(v), u.Dot(w), v.Dot(w)
	s := float32(0)
	if den := uu*vv - uv*uv; den > tiny {
		s = m3.Clamp((uv*vw-uw*vv)/den, 0, 1)
	}
	t := float32(0)
	if vv > tiny {
		t = m3.Clamp((uv*s+vw)/vv, 0, 1)
	}
	if uu > tiny {
		s = m3.Clamp((uv*t-uw)/uu, 0, 1)
	}
	return a.Add(u.Scale(s)).Dist(c.Add(v.Scale(t)))
}

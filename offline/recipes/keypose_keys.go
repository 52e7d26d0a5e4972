package recipes

import (
	"math/rand/v2"

	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
)

// keyFrames sets keys in some frames of a track, with the poses of motion, in one of the ways in
// which people do. It returns the first and the last frame with a pose; frames outside are not
// learned from.
func keyFrames(track, motion *keypose.Track, rng *rand.Rand) (first, last int) {
	n, groups := track.Frames, track.Layout.Groups()
	track.Copy(motion)
	first, last = n, -1
	key := func(f int, pick func(g int) bool, weight float32) {
		for g := range groups {
			if pick(g) {
				track.Weight[f*groups+g] = weight
			}
		}
		first, last = min(first, f), max(last, f)
	}
	all := func(int) bool { return true }
	const second = keypose.Rate
	irregular := func() int { return 4 + rng.IntN(second*3/2-4) }
	way := rng.Float32()
	path := rng.Float32() < 0.25
	switch {
	case way < 0.2: // evenly, two a second
		for f := rng.IntN(second / 2); f < n; f += second / 2 {
			key(f, all, 1)
		}
	case way < 0.4: // one a second
		for f := rng.IntN(second); f < n; f += second {
			key(f, all, 1)
		}
	case way < 0.65: // at irregular times
		for f := rng.IntN(second / 2); f < n; f += irregular() {
			key(f, all, 1)
		}
	case way < 0.85: // whole stretches with gaps between them
		path = false
		for f := 0; f < n; {
			for range 1 + rng.IntN(10) {
				if f < n {
					key(f, all, 1)
				}
				f++
			}
			f += irregular()
		}
	default: // some joints
		from := rng.IntN(4)
		key(from, all, 1)
		share := rng.Float32()
		for f := from + irregular(); f < n; f += irregular() {
			picked := make([]bool, groups)
			for g := range picked {
				picked[g] = rng.Float32() < share
			}
			whole := rng.Float32() < 0.3
			weight := float32(1)
			if rng.Float32() < 0.3 {
				weight = 0.2 + 0.8*rng.Float32()
				blur(track, f, 1-weight, rng)
			}
			key(f, func(g int) bool { return whole || picked[g] || g == keypose.GroupPath && share > 0.5 }, weight)
		}
	}
	if path { // drawn by hand, so smooth
		smoothPath(track, 8*rng.Float64())
		for f := range n {
			track.Weight[f*groups+keypose.GroupPath] = 1
		}
	}
	return first, last
}

// blur disturbs frame f as much as a key of little weight may be wrong.
func blur(track *keypose.Track, f int, by float32, rng *rand.Rand) {
	turn := func(k float32) m3.Vec3 {
		return m3.V(float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())).Scale(k * by)
	}
	track.Place[f].Pos = track.Place[f].Pos.Add(turn(0.1).Flat())
	track.Place[f].Yaw += turn(0.2).X
	track.Height[f] += turn(0.03).X
	n := len(track.Layout.Joints)
	for i := range n {
		track.Rot[f*n+i] = track.Rot[f*n+i].Mul(m3.FromRotationVector(turn(0.2)))
	}
}

// smoothPath smooths the root's path by a deviation of sigma frames.
func smoothPath(track *keypose.Track, sigma float64) {
	for _, value := range []func(f int) *float32{
		func(f int) *float32 { return &track.Place[f].Pos.X },
		func(f int) *float32 { return &track.Place[f].Pos.Z },
		func(f int) *float32 { return &track.Place[f].Yaw },
	} {
		v := make([]float64, track.Frames)
		for f := range v {
			v[f] = float64(*value(f))
		}
		gaussian(v, sigma)
		for f := range v {
			*value(f) = float32(v[f])
		}
	}
}

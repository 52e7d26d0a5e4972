package registration

import "math"

// timeline finds the contacts on the timeline, makes a cycle begin with a landing of the
// left foot, and transfers the contacts to the takes.
func (r *registrar) timeline() *Timeline {
	r.stood = r.majority()
	if r.cyclic {
		r.rotate(landing(r.stood, LeftStands))
	}
	tl := &Timeline{
		Action: r.takes[0].Action, Reference: r.takes[r.reference].Name,
		Frames: r.template.frames, Stands: r.stood,
	}
	if r.cyclic {
		tl.Period = float64(r.template.frames)
	}
	r.stands = make([][]uint8, len(r.takes))
	for i, f := range r.feat {
		r.stands[i] = snap(r.carried(i), f.own, int(math.Round(r.Snap*f.fps)))
	}
	return tl
}

// majority returns the feet in contact in most takes, per frame of the timeline.
func (r *registrar) majority() []uint8 {
	n := r.template.frames
	share, takes := [2][]float64{make([]float64, n), make([]float64, n)}, make([]float64, n)
	for i, f := range r.feat {
		own, seen := [2][]float64{make([]float64, n), make([]float64, n)}, make([]float64, n)
		r.each(r.times[i], func(bin int, at float64) {
			seen[bin]++
			for side := range own {
				if f.own[int(at+0.5)]>>side&1 == 1 {
					own[side][bin]++
				}
			}
		})
		for bin, k := range seen {
			if k > 0 {
				takes[bin]++
				for side := range own {
					share[side][bin] += own[side][bin] / k
				}
			}
		}
	}
	out := make([]uint8, n)
	for bin := range out {
		for side := range share {
			if takes[bin] > 0 && share[side][bin] >= 0.5*takes[bin] {
				out[bin] |= 1 << side
			}
		}
		if takes[bin] == 0 && bin > 0 {
			out[bin] = out[bin-1]
		}
	}
	return out
}

// landing returns the first frame of a foot's longest contact on a cycle; 0 if it never lands.
func landing(stands []uint8, foot uint8) int {
	n := len(stands)
	best, longest := 0, 0
	for i := range stands {
		if stands[i]&foot == 0 || stands[wrap(i-1, n)]&foot != 0 {
			continue
		}
		k := 1
		for k < n && stands[(i+k)%n]&foot != 0 {
			k++
		}
		if k > longest {
			best, longest = i, k
		}
	}
	return best
}

// rotate makes frame k of the cycle its first.
func (r *registrar) rotate(k int) {
	n, cols := r.template.frames, r.feat[0].cols
	r.stood = append(append([]uint8(nil), r.stood[k:]...), r.stood[:k]...)
	rows := r.template.rows
	r.template.rows = append(append([]float64(nil), rows[k*cols:]...), rows[:k*cols]...)
	for _, t := range r.times {
		shift := -float64(k)
		shift -= math.Floor((t[0]+shift)/float64(n)) * float64(n)
		for f := range t {
			t[f] += shift
		}
	}
}

// carried returns the timeline's contacts at the frames of take i.
func (r *registrar) carried(i int) []uint8 {
	out := make([]uint8, len(r.times[i]))
	for f, t := range r.times[i] {
		out[f] = r.stood[r.bin(t)]
	}
	return out
}

// bin returns the frame of the template nearest to a time.
func (r *registrar) bin(t float64) int {
	k := int(math.Round(t))
	if r.cyclic {
		return wrap(k, r.template.frames)
	}
	return min(max(k, 0), r.template.frames-1)
}

// snap moves both ends of each contact to the nearest of own's within reach frames, if any.
func snap(stands, own []uint8, reach int) []uint8 {
	out := make([]uint8, len(stands))
	for _, foot := range []uint8{LeftStands, RightStands} {
		edge := func(v []uint8, f int) int8 { // 1 at a landing between frames f−1 and f, −1 at a lift-off
			return int8(v[f]&foot/foot) - int8(v[f-1]&foot/foot)
		}
		nearest := func(f int, kind int8) int {
			for d := 0; d <= reach; d++ {
				for _, g := range [2]int{f - d, f + d} {
					if g > 0 && g < len(own) && edge(own, g) == kind {
						return g
					}
				}
			}
			return f
		}
		for from := 0; from < len(stands); {
			if stands[from]&foot == 0 {
				from++
				continue
			}
			to := from
			for to < len(stands) && stands[to]&foot != 0 {
				to++
			}
			a, b := from, to
			if a > 0 {
				a = nearest(a, 1)
			}
			if b < len(stands) {
				b = nearest(b, -1)
			}
			if a >= b {
				a, b = from, to
			}
			for f := a; f < b; f++ {
				out[f] |= foot
			}
			from = to
		}
	}
	return out
}

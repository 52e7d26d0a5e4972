package matching

import (
	"slices"

	"mannequin/engine/m3"
)

// slowest is the speed over the ground from which on a frame moves, m/s.
const slowest = 0.15

// speedQuantiles is the number of quantiles of the speeds that a character keeps.
const speedQuantiles = 101

// aheadShare is the least share of its way that a body goes ahead whose speed counts.
const aheadShare = 0.7

// paceAt returns the speed around a frame of a clip, the mean of a second, m/s, and the share of the way that goes ahead: −1 is backward.
func (d *Database) paceAt(s *span, f int32) (speed, ahead float32) {
	way, ticks := float32(0), 0
	for k := max(s.first, f-TickRate/2); k < min(s.end, f+TickRate/2); k++ {
		way += m3.V(d.moves[k].X, 0, d.moves[k].Z).Len()
		ahead += d.moves[k].Z
		ticks++
	}
	return way / float32(ticks) * TickRate, ahead / max(way, 1e-9)
}

// walking finds the greatest speeds ahead and backward at which bodies walk, m/s: a twentieth of the frames with WalkTag are faster. 0 is none.
func (d *Database) walking() (out [2]float32) {
	const least = 2 * TickRate // frames
	var all [2][]float32
	for i := range d.clips {
		s := &d.clips[i]
		for f := s.first; f < s.end; f++ {
			if d.tags[f]&d.walk == 0 {
				continue
			}
			switch v, ahead := d.paceAt(s, f); {
			case v <= slowest:
			case ahead > aheadShare:
				all[0] = append(all[0], v)
			case ahead < -aheadShare:
				all[1] = append(all[1], v)
			}
		}
	}
	for i, v := range all {
		if slices.Sort(v); len(v) >= least {
			out[i] = v[(len(v)-1)*19/20]
		}
	}
	return out
}

// moving finds the quantiles of the speeds of frames that move ahead and show no other action, each over a second. If none moves
// ahead, those that move elsewhere count.
func (d *Database) moving() []float32 {
	var all, elsewhere []float32
	for i := range d.clips {
		s := &d.clips[i]
		for f := s.first; f < s.end; f++ {
			if d.tags[f]&d.acts != 0 {
				continue
			}
			switch v, ahead := d.paceAt(s, f); {
			case v <= slowest:
			case ahead > aheadShare:
				all = append(all, v)
			default:
				elsewhere = append(elsewhere, v)
			}
		}
	}
	if len(all) == 0 {
		all = elsewhere
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	out := make([]float32, speedQuantiles)
	for i := range out {
		out[i] = all[(len(all)-1)*i/(speedQuantiles-1)]
	}
	return out
}

// Speeds returns the speeds at which the character moves ahead, m/s, ascending: at most n, each a sixth faster at least
// than the one before. They are quantiles over the frames that move ahead and show no other action, each over a second. If
// no frame moves ahead, frames that move in other directions count.
func (c *Character) Speeds(n int) []float32 {
	if len(c.speeds) == 0 {
		return nil
	}
	var out []float32
	for i := range n {
		const low, high = 0.15, 0.9
		share := float32(low)
		if n > 1 {
			share += (high - low) * float32(i) / float32(n-1)
		}
		v := c.speeds[int(share*float32(len(c.speeds)-1)+0.5)]
		if len(out) == 0 || v > out[len(out)-1]*7/6 {
			out = append(out, v)
		}
	}
	return out
}

// TopSpeed returns the speed, m/s, that a hundredth of the frames of Speeds exceed; 0 without such frames.
func (c *Character) TopSpeed() float32 {
	if len(c.speeds) == 0 {
		return 0
	}
	return c.speeds[(len(c.speeds)-1)*99/100]
}

// FastestSpeed returns the largest speed of the frames of Speeds, m/s; 0 without such frames.
func (c *Character) FastestSpeed() float32 {
	if len(c.speeds) == 0 {
		return 0
	}
	return c.speeds[len(c.speeds)-1]
}

package registration

import (
	"fmt"
	"math"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// column describes one number that is compared between frames: its weight in actions
// that repeat and in those that do not, and the deviation below which it is not scaled to
// 1, so that the noise of still points stays small.
type column struct {
	cyclic, once float64
	floor        float64
}

// The columns of a point of the body: its position left, up and forward of the hips, in a
// frame that turns and travels with them, and its velocity there. In actions that repeat
// the legs count: the swing of arms and the bend of the trunk are style. In actions that
// are done once arms and trunk are part of the action.
var (
	ankleColumns = [6]column{{0.5, 0.3, 0.03}, {1, 0.6, 0.02}, {1, 0.6, 0.03}, {0.3, 0.2, 0.2}, {0.7, 0.6, 0.2}, {1, 0.6, 0.2}}
	toeColumns   = [6]column{{}, {0.7, 0.4, 0.02}, {}, {}, {0.4, 0.3, 0.2}, {}}
	kneeColumns  = [6]column{{}, {}, {0.5, 0.5, 0.03}, {}, {}, {0.5, 0.4, 0.2}}
	handColumns  = [6]column{{0, 0.5, 0.05}, {0.1, 0.7, 0.05}, {0.2, 1, 0.05}, {0, 0.3, 0.3}, {0.05, 0.5, 0.3}, {0.1, 0.8, 0.3}}
	headColumns  = [6]column{{0, 0.2, 0.04}, {0, 0.6, 0.03}, {0, 0.8, 0.04}, {0, 0.1, 0.2}, {0, 0.4, 0.2}, {0, 0.5, 0.2}}
	hipColumns   = [6]column{{}, {0.5, 0.8, 0.02}, {}, {}, {0.5, 0.8, 0.1}, {0, 0.4, 0.2}}
	standColumn  = column{1.2, 0.6, 0.15}
)

// body holds the joints that are compared, −1 if the skeleton lacks one, and their positions.
type body struct {
	hips          int
	hip, knee     [2]int // left, right
	ankle, toe    [2]int
	tip, hand     [2]int
	head          int
	fps           float64
	frames, joint int
	pos           []m3.Vec3 // (frames, joints) in the world
}

var sides = [2]string{"Left", "Right"}

// newBody computes a clip's joint positions in the world.
func newBody(c *skel.Clip) (*body, error) {
	s := c.Skel
	b := &body{hips: s.Index("Hips"), head: s.Index("Head"), fps: c.FPS, frames: c.Frames, joint: s.Len()}
	if b.hips < 0 {
		return nil, fmt.Errorf("the skeleton has no joint Hips: put the clip on retarget.Human's")
	}
	for i, side := range sides {
		b.hip[i], b.knee[i] = s.Index(side+"UpLeg"), s.Index(side+"Leg")
		b.ankle[i], b.toe[i] = s.Index(side+"Foot"), s.Index(side+"ToeBase")
		b.tip[i], b.hand[i] = s.Index(side+"ToeBaseSite"), s.Index(side+"Hand")
		if b.hip[i] < 0 || b.ankle[i] < 0 {
			return nil, fmt.Errorf("the skeleton has no joint %sUpLeg or %sFoot: put the clip on retarget.Human's", side, side)
		}
	}
	b.pos = make([]m3.Vec3, c.Frames*b.joint)
	model := make([]m3.Xform, b.joint)
	for f := range c.Frames {
		c.Model(model, f)
		for j, x := range model {
			if !x.Pos.Finite() {
				return nil, fmt.Errorf("frame %d, joint %s: its position is not finite", f, s.Names[j])
			}
			b.pos[f*b.joint+j] = x.Pos
		}
	}
	return b, nil
}

func (b *body) at(f, j int) m3.Vec3 { return b.pos[f*b.joint+j] }

// across returns the horizontal direction from the right hip to the left.
func (b *body) across(f int) m3.Vec3 {
	return b.at(f, b.hip[0]).Sub(b.at(f, b.hip[1])).Flat().Normalize(m3.V(1, 0, 0))
}

// span returns the frames to either side of a difference: 1/30 s.
func (b *body) span() int { return max(1, int(math.Round(b.fps/30))) }

// local returns the position of joint j relative to the point on the ground below the hips, in axes
// that turn with them about the vertical (Kovar and Gleicher 2003): left, up, forward.
func (b *body) local(f, j int) [3]float64 {
	across := b.across(f)
	forward := across.Cross(m3.Up)
	d := b.at(f, j).Sub(b.at(f, b.hips))
	return [3]float64{float64(d.Dot(across)), float64(b.at(f, j).Y), float64(d.Dot(forward))}
}

// features holds the columns of all frames. Each has mean 0 and deviation 1 over the take,
// which removes a style's offset of the posture and its scale of a swing. Weights sum to 1.
type features struct {
	frames, cols int
	rows         []float64 // (frames, cols)
	weight       []float64 // (cols)
	own          []uint8   // (frames) the feet in contact, as detected in the take
	fps          float64
}

func featuresOf(c *skel.Clip, cyclic bool) (*features, error) {
	b, err := newBody(c)
	if err != nil {
		return nil, err
	}
	f := &features{frames: c.Frames, fps: c.FPS}
	var series [][]float64
	add := func(values []float64, c column) {
		w := c.once
		if cyclic {
			w = c.cyclic
		}
		if w > 0 {
			standardise(values, c.floor)
			series, f.weight = append(series, values), append(f.weight, w)
		}
	}
	point := func(j int, cols [6]column) {
		if j < 0 {
			return
		}
		for k := range 3 {
			place := make([]float64, b.frames)
			for i := range place {
				place[i] = b.local(i, j)[k]
			}
			rate := b.rates(place)
			if j == b.hips && k == 2 { // always 0: the speed counts
				clear(place)
				rate = b.advance()
			}
			add(place, cols[k])
			add(rate, cols[3+k])
		}
	}
	own, soft := b.contacts()
	f.own = own
	for i := range sides {
		point(b.ankle[i], ankleColumns)
		point(b.toe[i], toeColumns)
		point(b.knee[i], kneeColumns)
		point(b.hand[i], handColumns)
		add(soft[i], standColumn)
	}
	point(b.head, headColumns)
	point(b.hips, hipColumns)
	f.cols = len(series)
	f.rows = make([]float64, f.frames*f.cols)
	sum := 0.0
	for k, s := range series {
		sum += f.weight[k]
		for i, v := range s {
			f.rows[i*f.cols+k] = v
		}
	}
	for k := range f.weight {
		f.weight[k] /= sum
	}
	return f, nil
}

// rates returns the derivative of a series, per second.
func (b *body) rates(v []float64) []float64 {
	out := make([]float64, len(v))
	n := b.span()
	for f := range v {
		lo, hi := max(f-n, 0), min(f+n, len(v)-1)
		out[f] = (v[hi] - v[lo]) * b.fps / float64(max(hi-lo, 1))
	}
	return out
}

// advance returns the speed of the hips along their facing, m/s.
func (b *body) advance() []float64 {
	out := make([]float64, b.frames)
	n := b.span()
	for f := range out {
		lo, hi := max(f-n, 0), min(f+n, b.frames-1)
		d := b.at(hi, b.hips).Sub(b.at(lo, b.hips))
		out[f] = float64(d.Dot(b.across(f).Cross(m3.Up))) * b.fps / float64(max(hi-lo, 1))
	}
	return out
}

// standardise scales v to mean 0 and deviation 1, or less if its deviation is below floor.
func standardise(v []float64, floor float64) {
	mean, dev := moments(v)
	dev = max(dev, floor)
	for i := range v {
		v[i] = (v[i] - mean) / dev
	}
}

func moments(v []float64) (mean, dev float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		dev += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(dev / float64(len(v)))
}

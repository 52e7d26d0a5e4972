package grad

import "math"

// costCases are costs of training and editing, composed of operations.
func costCases() []opCase {
	const batch, frames, cols = 2, 5, 10
	// Columns: two joints (x, y, z), the root's velocity (x, z), its turn, a contact.
	const ax, ay, az, bx, vx, vz, turn = 0, 1, 2, 3, 6, 7, 8
	return []opCase{
		// Holden et al. 2016, eq. 10 to 13: the movement of a foot over the ground, its depth below
		// the ground, and the length of a bone.
		{"editing costs", []mat64{random(80, batch*frames, cols)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat {
				y := t.Frames(in[0], frames, 1, frames)
				step := t.Diff(t.Gather(in[0], []int{ax, az}), frames)
				around := t.Affine(t.Mul(t.Gather(y, []int{turn, turn}), t.Gather(y, []int{az, ax})), []float32{1, -1}, nil)
				foot := t.Add(t.Add(step, around), t.Columns(y, vx, vz+1))
				below := t.ReLU(t.Scale(t.Columns(y, ay, ay+1), -1))
				length := t.Const(batch*(frames-1), 1)
				set(length.Val, 0.75)
				bone := t.Norm(t.Sub(t.Columns(y, ax, bx), t.Columns(y, bx, bx+3)), 3)
				return t.WeightedSum(Term{t.SumSquares(foot), 2}, Term{t.SumSquares(below), 0.5}, Term{t.MSE(bone, length), 1})
			},
			func(in, _ []mat64) mat64 {
				var foot, below, bone float64
				for s := range batch {
					for f := 1; f < frames; f++ {
						at := func(c int) float64 { return in[0].at(s*frames+f, c) }
						before := func(c int) float64 { return in[0].at(s*frames+f-1, c) }
						x := at(vx) + at(turn)*at(az) + at(ax) - before(ax)
						z := at(vz) - at(turn)*at(ax) + at(az) - before(az)
						foot += x*x + z*z
						below += math.Pow(min(at(ay), 0), 2)
						d := math.Hypot(math.Hypot(at(ax)-at(bx), at(ay)-at(bx+1)), at(az)-at(bx+2))
						bone += math.Pow(d-0.75, 2) / float64(batch*(frames-1))
					}
				}
				return mat64{1, 1, []float64{2*foot + 0.5*below + bone}}
			}},
		// Wang et al. 2019, eq. 7: the accelerations of frames that are decoded backwards and
		// predicted forwards.
		{"long-horizon cost", []mat64{random(81, batch*frames, 3), random(82, batch*frames, 3)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat {
				y := t.Join(batch, t.Reverse(in[0], frames), in[1])
				return t.SumSquares(t.Diff(t.Diff(y, 2*frames), 2*frames-1))
			},
			func(in, _ []mat64) mat64 {
				var sum float64
				for s := range batch {
					for c := range 3 {
						frame := func(f int) float64 {
							if f < frames {
								return in[0].at(s*frames+frames-1-f, c)
							}
							return in[1].at(s*frames+f-frames, c)
						}
						for f := 1; f < 2*frames-1; f++ {
							sum += math.Pow(frame(f+1)-2*frame(f)+frame(f-1), 2)
						}
					}
				}
				return mat64{1, 1, []float64{sum}}
			}},
		// A variational autoencoder's sample and its divergence from the normal distribution, from
		// mean and logarithm of the deviation.
		{"variational cost", []mat64{random(83, 4, 6)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat {
				mean, log := t.Columns(in[0], 0, 3), t.Columns(in[0], 3, 6)
				noise := t.Const(4, 3)
				copy(noise.Val, random(84, 4, 3).f32())
				sample := t.Add(mean, t.Mul(t.Exp(log), noise))
				return t.WeightedSum(Term{t.SumSquares(sample), 0.3}, Term{t.SumSquares(mean), 0.5},
					Term{t.Sum(t.Exp(t.Scale(log, 2))), 0.5}, Term{t.Sum(log), -1})
			},
			func(in, _ []mat64) mat64 {
				noise := random(84, 4, 3)
				var sum float64
				for r := range 4 {
					for c := range 3 {
						mean, log := in[0].at(r, c), in[0].at(r, c+3)
						sum += 0.3*math.Pow(mean+math.Exp(log)*noise.at(r, c), 2) + (mean*mean+math.Exp(2*log))/2 - log
					}
				}
				return mat64{1, 1, []float64{sum}}
			}},
	}
}

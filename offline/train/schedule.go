package train

import (
	"fmt"
	"math"
)

// Schedule scales the steps in the course of a run.
type Schedule interface {
	// Validate reports the first field that is out of range.
	Validate() error
	// At returns the multiplier of the step size at a fraction of a 0-based epoch.
	At(epoch int, fraction float64) float64
}

// cycler is a schedule with cycles.
type cycler interface {
	// Cycle returns the 0-based first epoch of epoch's cycle, and its length in epochs, by which
	// weight decay is normalised.
	Cycle(epoch int) (start, length int)
}

// cycle returns the length of epoch's cycle in epochs. A schedule without cycles is one cycle.
func cycle(s Schedule, epoch, epochs int) int {
	switch s := s.(type) {
	case WarmUp:
		return cycle(s.Then, epoch, epochs)
	case cycler:
		_, n := s.Cycle(epoch)
		return n
	}
	return epochs
}

// Constant is a multiplier of 1.
type Constant struct{}

// Validate returns nil.
func (Constant) Validate() error { return nil }

// At returns 1.
func (Constant) At(int, float64) float64 { return 1 }

// StepDecay multiplies by Factor after every interval of epochs.
type StepDecay struct {
	Every  int     // epochs, ≥ 1
	Factor float64 // in (0, 1]
}

// Validate reports the first field that is out of range.
func (s StepDecay) Validate() error {
	return firstBad(
		check{s.Every >= 1, "schedule: Every", s.Every, "at least 1 epoch"},
		check{s.Factor > 0 && s.Factor <= 1, "schedule: Factor", s.Factor, "a value in (0, 1]"})
}

// At returns Factor to the power of the number of whole intervals that are over.
func (s StepDecay) At(epoch int, _ float64) float64 {
	return math.Pow(s.Factor, float64(epoch/s.Every))
}

// WarmUp rises linearly from 0 to the multiplier of Then in the first epochs.
type WarmUp struct {
	Epochs float64 // > 0
	Then   Schedule
}

// Validate reports the first field that is out of range.
func (s WarmUp) Validate() error {
	if err := firstBad(
		check{positive(s.Epochs), "schedule: Epochs of the warm-up", s.Epochs, "a value above 0"},
		check{s.Then != nil, "schedule: Then of the warm-up", "nil", "the schedule that follows"}); err != nil {
		return err
	}
	return s.Then.Validate()
}

// At returns the multiplier.
func (s WarmUp) At(epoch int, fraction float64) float64 {
	return min(1, (float64(epoch)+fraction)/s.Epochs) * s.Then.At(epoch, fraction)
}

// Falling is a value that falls by the same amount every epoch, for example the deviation of noise.
// See Job.Begin.
type Falling struct {
	From, By float64 // value in the first epoch, and decrease per epoch
	To       float64 // smallest value
}

// At returns the value in a 0-based epoch.
func (f Falling) At(epoch int) float64 { return max(f.To, f.From-float64(epoch)*f.By) }

// Stages are the lengths of consecutive stages in epochs. In each, the multiplier falls from 1 to
// nearly 0 along a half cosine. After the last one it stays there.
type Stages []int

// Validate reports the first field that is out of range.
func (s Stages) Validate() error {
	for i, n := range s {
		if n < 1 {
			return fmt.Errorf("train: schedule: stage %d has %d epochs, want at least 1", i, n)
		}
	}
	if len(s) == 0 {
		return fmt.Errorf("train: schedule: no stages, want at least one")
	}
	return nil
}

// Cycle returns the 0-based first epoch of epoch's stage, and its length.
func (s Stages) Cycle(epoch int) (start, length int) {
	for i, n := range s {
		if length = n; epoch < start+n || i == len(s)-1 {
			break
		}
		start += n
	}
	return start, length
}

// At returns the multiplier.
func (s Stages) At(epoch int, fraction float64) float64 {
	start, length := s.Cycle(epoch)
	phase := min(1, (float64(epoch-start)+fraction)/float64(length))
	return (1 + math.Cos(stagePhase*math.Pi*phase)) / 2
}

// stagePhase is the last phase of a stage's cosine, as a share of a half turn.
const stagePhase = 0.97

// WarmRestarts is the schedule of AdamWR (Loshchilov and Hutter 2017) as MANN uses it. The
// multiplier of the learning rate and the weight decay falls from 1 along a half cosine and jumps
// back to 1 at every restart. With First 10 and Mult 2 the restarts are at the 0-based epochs 11,
// 31 and 71.
type WarmRestarts struct {
	First int     // epochs of the first cycle's cosine, ≥ 1; the cycle is one epoch longer
	Mult  int     // factor of the length from cycle to cycle, ≥ 1
	Clamp float64 // largest phase of the cosine, as a share of a half turn, in (0, 1]
}

// Validate reports the first field that is out of range.
func (s WarmRestarts) Validate() error {
	return firstBad(
		check{s.First >= 1, "schedule: First", s.First, "at least 1 epoch"},
		check{s.Mult >= 1, "schedule: Mult", s.Mult, "at least 1"},
		check{s.Clamp > 0 && s.Clamp <= 1, "schedule: Clamp", s.Clamp, "a value in (0, 1]"})
}

// Cycle returns the 0-based first epoch of epoch's cycle, and the length of its cosine in epochs.
func (s WarmRestarts) Cycle(epoch int) (start, length int) {
	length = s.First
	next := s.First + 1
	for epoch >= next {
		length *= s.Mult
		start, next = next, next+length
	}
	return start, length
}

// At returns the multiplier.
func (s WarmRestarts) At(epoch int, fraction float64) float64 {
	start, length := s.Cycle(epoch)
	t := (float64(epoch-start) + fraction) / float64(length)
	return 0.5 * (1 + math.Cos(math.Pi*min(t, s.Clamp)))
}

package train

import (
	"fmt"
	"math"

	"mannequin/netruntime/grad"
)

// Optimizer is a rule that changes weights by their gradients: [AdamW] or [AdaDelta].
type Optimizer interface {
	// Validate reports the first constant out of range.
	Validate() error
	// Slots returns the number of values that the rule keeps for every weight. They are part of a
	// checkpoint and start at 0.
	Slots() int
	// Step changes the weights w by their gradient g, one by one: any division into parts gives the
	// same bits. slots[:Slots()] are the kept values of these weights. Several goroutines may call
	// it.
	Step(w, g []float32, slots [maxSlots][]float32, at Moment)
	// name is the rule's name in a checkpoint, rate the step size at multiplier 1.
	name() string
	rate() float64
}

const maxSlots = 2

// Moment is the position of a step in a run.
type Moment struct {
	Step  int64   // 1 for the first one
	Rate  float64 // multiplier of the step size, by the schedule
	Decay float64 // multiplier of a normalised weight decay: √(batch/(samples·T)) of a cycle of T epochs
}

// AdamW holds an optimiser's constants (Loshchilov and Hutter 2017). The decay is decoupled from
// the gradient and normalised as in the paper: in each step a weight loses the share
// m·Decay·√(batch/(samples·T)) of itself. m is the schedule's multiplier and T the length of the
// current cycle in epochs. With Decay 0 it is Adam (Kingma and Ba 2015).
type AdamW struct {
	Rate  float64 `json:"rate"`  // step size at multiplier 1, > 0
	Decay float64 `json:"decay"` // normalised weight decay, ≥ 0
	Beta1 float64 `json:"beta1"` // decay of the first moment, in [0, 1)
	Beta2 float64 `json:"beta2"` // decay of the second moment, in [0, 1)
	Eps   float64 `json:"eps"`   // > 0
}

// Adam returns Adam with the constants of its authors.
func Adam(rate float64) AdamW { return AdamW{Rate: rate, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} }

// Validate reports the first constant out of range.
func (a AdamW) Validate() error {
	return firstBad(
		check{positive(a.Rate), "AdamW.Rate", a.Rate, "a finite value above 0"},
		check{notNegative(a.Decay), "AdamW.Decay", a.Decay, "a finite value of at least 0"},
		check{a.Beta1 >= 0 && a.Beta1 < 1, "AdamW.Beta1", a.Beta1, "a value in [0, 1)"},
		check{a.Beta2 >= 0 && a.Beta2 < 1, "AdamW.Beta2", a.Beta2, "a value in [0, 1)"},
		check{positive(a.Eps), "AdamW.Eps", a.Eps, "a finite value above 0"})
}

// Slots returns 2, for the two moments.
func (a AdamW) Slots() int { return 2 }

func (a AdamW) name() string  { return "adamw" }
func (a AdamW) rate() float64 { return a.Rate }

// Step runs one step of the rule.
func (a AdamW) Step(w, g []float32, slots [maxSlots][]float32, at Moment) {
	n := float64(at.Step)
	grad.AdamW(w, g, slots[0], slots[1], float32(at.Rate*a.Rate), float32(at.Decay*a.Decay/a.Rate),
		float32(a.Beta1), float32(a.Beta2), float32(a.Eps), float32(1-math.Pow(a.Beta1, n)), float32(1-math.Pow(a.Beta2, n)))
}

// AdaDelta holds an optimiser's constants (Zeiler 2012). Its steps have the size of earlier steps,
// so a Rate of 1 is usual.
type AdaDelta struct {
	Rate float64 `json:"rate"` // multiplier of every step, > 0
	Rho  float64 `json:"rho"`  // decay of the means, in [0, 1)
	Eps  float64 `json:"eps"`  // > 0
}

// Validate reports the first constant out of range.
func (a AdaDelta) Validate() error {
	return firstBad(
		check{positive(a.Rate), "AdaDelta.Rate", a.Rate, "a finite value above 0"},
		check{a.Rho >= 0 && a.Rho < 1, "AdaDelta.Rho", a.Rho, "a value in [0, 1)"},
		check{positive(a.Eps), "AdaDelta.Eps", a.Eps, "a finite value above 0"})
}

// Slots returns 2, for the means of the squared gradients and steps.
func (a AdaDelta) Slots() int { return 2 }

func (a AdaDelta) name() string  { return "adadelta" }
func (a AdaDelta) rate() float64 { return a.Rate }

// Step runs one step of the rule.
func (a AdaDelta) Step(w, g []float32, slots [maxSlots][]float32, at Moment) {
	grad.AdaDelta(w, g, slots[0], slots[1], float32(at.Rate*a.Rate), float32(a.Rho), float32(a.Eps))
}

// positive and notNegative test a constant in float32, as the kernels use it: a tiny one is 0
// there.
func positive(v float64) bool { return float32(v) > 0 && notNegative(v) }

func notNegative(v float64) bool { return v >= 0 && v <= math.MaxFloat32 }

// check is a condition on a field, with its value and what it should be.
type check struct {
	ok    bool
	field string
	got   any
	want  string
}

// firstBad returns an error for the first of checks that is not ok.
func firstBad(checks ...check) error {
	for _, c := range checks {
		if !c.ok {
			return fmt.Errorf("train: %s is %v, want %s", c.field, c.got, c.want)
		}
	}
	return nil
}

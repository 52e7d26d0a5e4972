package train

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// NotFiniteError reports a NaN or an infinity in a run. The run's parameters and its checkpoint are
// then those of the last good state.
type NotFiniteError struct {
	What    string  // "loss", "held-out loss" or "weights"
	Epoch   int     // 1-based
	Step    int     // 1-based, of the epoch; 0 for the held-out loss
	Rows    []int32 // the batch that Job.Loss got
	Culprit []int32 // the rows whose own loss is not finite
	names   []string
}

func (e *NotFiniteError) Error() string {
	var b strings.Builder
	at := fmt.Sprintf("in epoch %d, step %d", e.Epoch, e.Step)
	if e.Step == 0 {
		at = fmt.Sprintf("after epoch %d", e.Epoch)
	}
	verb := "is"
	if e.What == "weights" {
		verb = "are"
	}
	fmt.Fprintf(&b, "train: the %s %s not finite %s; the run is back at the last good state. ", e.What, verb, at)
	rows := e.Culprit
	if len(rows) > 0 {
		b.WriteString("Samples whose loss is not finite: ")
	} else {
		b.WriteString("No sample's loss is: the learning rate may be too high. The batch: ")
		rows = e.Rows
	}
	b.WriteString(listed(rows, e.names))
	return b.String()
}

// listed lists the first samples with their names, as far as they have one.
func listed(rows []int32, names []string) string {
	var b strings.Builder
	const most = 8
	for i, r := range rows[:min(len(rows), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, r)
		if i < len(names) {
			fmt.Fprintf(&b, " (%s)", names[i])
		}
	}
	if n := len(rows) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

// names returns the names of samples.
func (j *Job) names(rows []int32, heldOut bool) (names []string) {
	if j.Name == nil {
		return nil
	}
	for _, row := range rows {
		names = append(names, j.Name(row, heldOut))
	}
	return names
}

// good keeps the current state as the last good one. It returns an error if the last step has made
// weights that are not finite.
func (r *run) good() error {
	if err := r.gatherSlots(); err != nil {
		return err
	}
	if !r.state.finite() {
		return r.fail("weights", r.last, false)
	}
	r.back.take(r.state)
	return nil
}

// fail ends the run because of a value that is not finite. It restores the last good state and
// finds the samples that caused the failure.
func (r *run) fail(what string, rows []int32, heldOut bool) error {
	s := r.state
	if err := r.gatherSlots(); err != nil {
		return err
	}
	e := &NotFiniteError{What: what, Epoch: s.Epoch + 1, Step: s.Step + 1}
	switch {
	case heldOut:
		e.Epoch, e.Step = s.Epoch, 0
	case what == "weights" || !s.finite():
		// The step before broke the weights, which broke the loss.
		e.What, rows = "weights", r.last
		if e.Step--; e.Step == 0 {
			e.Epoch, e.Step = e.Epoch-1, r.steps
		}
	}
	e.Rows = slices.Clone(rows)
	if e.What == "weights" {
		r.back.restore(s)
	}
	for i := range e.Rows {
		r.tape.Reset()
		l := float64(r.Loss(r.tape, e.Rows[i:i+1], heldOut, r.key()).Val[0])
		if math.IsNaN(l) || math.IsInf(l, 0) {
			e.Culprit = append(e.Culprit, e.Rows[i])
		}
	}
	named := e.Culprit
	if len(named) == 0 {
		named = e.Rows
	}
	e.names = r.names(named, heldOut)
	r.back.restore(s)
	if len(s.History) > 0 {
		r.try("checkpoint", func() error { return s.write(r.Job) })
	}
	return e
}

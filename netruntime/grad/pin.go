package grad

import "mannequin/netruntime"

// Pin makes a correction x (batch·length, n) of sequences of length frames vanish at pinned frames,
// as [netruntime.Pins.Apply] does at run time. pins and its slices must stay unchanged until the
// next Reset.
func (t *Tape) Pin(x *Mat, length int, pins *netruntime.Pins) *Mat {
	checkSequences("Pin", x, length)
	if len(pins.Group) != x.Cols {
		panic("grad: Pin: the groups are not of the input's columns")
	}
	pins.Check(x.Rows, len(x.Val), length)
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.length, y.pins, y.back = x, length, pins, pinBack
	t.split(y, y.Rows, 6*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		y.pins.Rows(y.Val, y.a.Val, y.Rows, y.length, r0, r1)
	})
	return y
}

func pinBack(t *Tape, y *Mat) {
	t.arg = arg{add: y.a.into(), k: 1}
	t.split(y, y.Rows/y.length, 6*y.length*y.Cols, func(t *Tape, y *Mat, s0, s1 int) {
		i, j := s0*y.length*y.Cols, s1*y.length*y.Cols
		t.arg.accumulate(y.a.Grad[i:j], y.Grad[i:j])
		y.pins.Adjoint(y.a.Grad, y.Grad, y.Rows, y.length, s0, s1)
	})
}

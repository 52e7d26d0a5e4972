//go:build !amd64 || noasm

package kernel

// Best returns the fastest family that this machine runs.
func Best() Kind { return Generic }

func (k Kind) micro(rows, _ int, t *tile) { generic(rows, t) }

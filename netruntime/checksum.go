package netruntime

import (
	"crypto/sha256"
	"fmt"
)

// Checksum identifies what n computes: its graph and weights, and the layout and the
// skeleton that they are for. What else a model file tells, its name and its card, and
// how it stores the weights do not matter, where they are the same numbers. It fails
// for a network that no model file can hold: see Encode.
func (n *Net) Checksum() (string, error) {
	meta := n.meta.clone()
	meta.Name, meta.Data, meta.License, meta.Card, meta.Metrics, meta.CreatedBy = "", "", "", "", "", ""
	h := sha256.New()
	if err := write(h, &meta, n.sizes, n.tensors, func(*Tensor) string { return typeF32 }); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

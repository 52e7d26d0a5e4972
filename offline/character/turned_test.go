package character

import (
	"math"
	"testing"

	"mannequin/animsys/anatomy"
)

// wrapped returns a GLB whose scene hangs on a node with a rotation and a scale.
func wrapped(t *testing.T, glb []byte, rotation []float64, scale float64) []byte {
	t.Helper()
	return edited(t, glb, func(d map[string]any) {
		nodes := d["nodes"].([]any)
		si := 0
		if s, ok := d["scene"].(float64); ok {
			si = int(s)
		}
		sc := d["scenes"].([]any)[si].(map[string]any)
		nodes = append(nodes, map[string]any{"children": sc["nodes"], "rotation": rotation, "scale": []float64{scale, scale, scale}})
		d["nodes"] = nodes
		sc["nodes"] = []any{len(nodes) - 1}
	})
}

// Armatures that are turned and scaled, z up and in other units, with names and without, have the same limbs.
func TestTurnedRigs(t *testing.T) {
	bad, all := 0, 0
	eachRig(t, func(path string, data []byte, roles func(glb []byte) *anatomy.Body) {
		for name, base := range map[string][]byte{"with names": data, "without": nameless(t, data, true, false)} {
			want := roles(base)
			for how, w := range map[string]struct {
				rotation []float64
				scale    float64
			}{"z up": {[]float64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}, 1}, "aside, in centimetres": {[]float64{0, 0.38268343, 0, 0.92387953}, 0.01}, "back to front, large": {[]float64{0, 1, 0, 0}, 100}} {
				if all++; !sameLimbs(want, roles(wrapped(t, base, w.rotation, w.scale))) {
					bad++
					t.Logf("%s, %s, %s: other limbs", path, name, how)
				}
			}
		}
	})
	// The legs of raylib's greenman point up.
	if t.Logf("%d of %d are the same", all-bad, all); bad > 2 {
		t.Errorf("%d of %d have other limbs", bad, all)
	}
}

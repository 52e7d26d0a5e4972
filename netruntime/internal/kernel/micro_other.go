//go:build (!amd64 || noasm) && !(wasm && simd128)

package kernel

func families() []Kind { return []Kind{Generic} }

func (k Kind) micro(rows, _ int, t *tile) { generic(rows, t) }

func (k Kind) atOnce(rows, panels int, bf16 bool) int { return 1 }

func (k Kind) strip(rows, _ int, _ bool, t *strip) { stripGeneric(rows, t) }

func expAsm(dst, x []float32) bool                                                      { return false }
func eluAsm(dst, x []float32) bool                                                      { return false }
func sigmoidAsm(dst, x []float32) bool                                                  { return false }
func tanhAsm(dst, x []float32) bool                                                     { return false }
func lstmCellsAsm(h, c Matrix, gates Panels, bias []float32, biasStride, rows int) bool { return false }
func axpyAsm(dst []float32, a float32, x []float32) bool                                { return false }
func scaleAsm(dst []float32, a float32, x []float32) bool                               { return false }
func addAsm(dst, x, y []float32) bool                                                   { return false }
func subAsm(dst, x, y []float32) bool                                                   { return false }
func mulAsm(dst, x, y []float32) bool                                                   { return false }
func mulAddAsm(dst, x, y []float32) bool                                                { return false }
func normalizeAsm(dst, x, mean, inv []float32) bool                                     { return false }
func affineAsm(dst, x, scale, shift []float32) bool                                     { return false }
func dotAsm(s *lanes, x, y []float32) bool                                              { return false }
func distances16Asm(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) bool {
	return false
}

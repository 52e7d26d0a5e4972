//go:build !amd64 || noasm

package kernel

func subAsm(dst, x, y []float32) bool                    { return false }
func mulAddAsm(dst, x, y []float32) bool                 { return false }
func signAsm(dst []float32, a float32, x []float32) bool { return false }
func dotAsm(s *lanes, x, y []float32) bool               { return false }
func distances16Asm(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) bool {
	return false
}
func sumAbsAsm(s *lanes, x []float32) bool                   { return false }
func dealAsm(first, second, x []float32, bits uint64) bool   { return false }
func pickAsm(dst, first, second []float32, bits uint64) bool { return false }

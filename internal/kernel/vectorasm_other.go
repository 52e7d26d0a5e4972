//go:build !amd64 || noasm

package kernel

func subAsm(dst, x, y []float32) bool                        { return false }
func mulAddAsm(dst, x, y []float32) bool                     { return false }
func signAsm(dst []float32, a float32, x []float32) bool     { return false }
func dotAsm(s *lanes, x, y []float32) bool                   { return false }
func dots16Asm(dst *[16]float32, x, v []float32) bool        { return false }
func sumAbsAsm(s *lanes, x []float32) bool                   { return false }
func dealAsm(first, second, x []float32, bits uint64) bool   { return false }
func pickAsm(dst, first, second []float32, bits uint64) bool { return false }

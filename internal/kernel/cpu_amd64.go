//go:build amd64 && !noasm

package kernel

import "golang.org/x/sys/cpu"

// Best returns the fastest family that this machine runs.
func Best() Kind {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 && x.HasAVX2 && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return Generic
}

//go:build amd64 && !noasm

package kernel

import "golang.org/x/sys/cpu"

func families() []Kind {
	x, f := &cpu.X86, []Kind{Generic}
	if x.HasAVX2 && x.HasFMA {
		f = append(f, AVX2)
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 {
			f = append(f, AVX512)
		}
	}
	return f
}

//go:build !noasm

#include "textflag.h"

// func dot4NEON(k int, a *float32, as int, b *float32, bs int, sums *[4]float32)
TEXT ·dot4NEON(SB), NOSPLIT, $0-48
	MOVD k+0(FP), R0
	MOVD a+8(FP), R1
	MOVD as+16(FP), R2
	MOVD b+24(FP), R3
	MOVD bs+32(FP), R4
	MOVD sums+40(FP), R5
	LSL  $2, R2 // bytes
	LSL  $2, R4
	VEOR V0.B16, V0.B16, V0.B16

loop:
	VLD1R (R1), [V1.S4]
	VLD1  (R3), [V2.S4]
	VFMLA V1.S4, V2.S4, V0.S4
	ADD   R2, R1
	ADD   R4, R3
	SUBS  $1, R0
	BNE   loop
	VST1  [V0.S4], (R5)
	RET

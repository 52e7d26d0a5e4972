package ptx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestUnreachable: what no thread can reach is found, and what some can reach is not.
func TestUnreachable(t *testing.T) {
	load := "ld.u32 %r9, [%rd0]; "
	dead := " mov.u32 %r20, 1; $A:;" // the block behind a branch to $A
	for name, v := range map[string]struct {
		body string
		dead int
	}{
		"nothing is known":                 {load + "setp.lt.s32 %p0, %r9, 5; @%p0 bra $A;" + dead, 0},
		"the same question":                {load + "setp.lt.s32 %p0, %r9, 5; @!%p0 bra $A; setp.lt.s32 %p1, %r9, 5; @%p1 bra $A;" + dead, 1},
		"nearly the same":                  {load + "setp.lt.s32 %p0, %r9, 5; @!%p0 bra $A; setp.lt.s32 %p1, %r9, 4; @%p1 bra $A;" + dead, 0},
		"signed, then unsigned":            {load + "setp.lt.s32 %p0, %r9, 5; @!%p0 bra $A; setp.lt.u32 %p1, %r9, 5; @%p1 bra $A;" + dead, 0},
		"a sum that may wrap":              {load + "add.s32 %r10, %r9, 1; setp.gt.s32 %p0, %r9, 0; @!%p0 bra $A; setp.gt.s32 %p1, %r10, 0; @%p1 bra $A;" + dead, 0},
		"a sum that does not":              {load + "add.s32 %r10, %r9, 1; setp.lt.s32 %p0, %r9, 0; @!%p0 bra $A; setp.lt.s32 %p1, %r10, 1; @%p1 bra $A;" + dead, 1},
		"the difference of two sums":       {load + "add.s32 %r10, %r9, %r0; sub.s32 %r11, %r10, %r9; sub.s32 %r12, %r11, %r0; setp.eq.s32 %p0, %r12, 0; @%p0 bra $A;" + dead, 1},
		"one number is left":               {load + "setp.gt.s32 %p0, %r9, 1; @%p0 bra $A; setp.lt.s32 %p1, %r9, 1; @%p1 bra $A; and.b32 %r10, %r9, 3; setp.eq.s32 %p2, %r10, 1; @%p2 bra $A;" + dead, 1},
		"all cases were asked for":         {"setp.eq.s32 %p0, %r0, 1; @%p0 bra $A; setp.eq.s32 %p1, %r0, 2; @%p1 bra $A; setp.lt.u32 %p2, %r0, 3; @!%p2 bra $A; setp.eq.s32 %p3, %r0, 0; @%p3 bra $A;" + dead, 1},
		"one case was not":                 {"setp.eq.s32 %p0, %r0, 1; @%p0 bra $A; setp.lt.u32 %p2, %r0, 3; @!%p2 bra $A; setp.eq.s32 %p3, %r0, 0; @%p3 bra $A;" + dead, 0},
		"at most three are left":           {load + "and.b32 %r10, %r0, 28; add.s32 %r11, %r10, 4; setp.gt.s32 %p0, %r11, %r9; @!%p0 bra $A; setp.lt.s32 %p1, %r10, %r9; @!%p1 bra $A; sub.s32 %r12, %r9, %r10; setp.lt.u32 %p2, %r12, 4; @%p2 bra $A;" + dead, 1},
		"at most four are left":            {load + "and.b32 %r10, %r0, 28; add.s32 %r11, %r10, 4; setp.ge.s32 %p0, %r11, %r9; @!%p0 bra $A; setp.lt.s32 %p1, %r10, %r9; @!%p1 bra $A; sub.s32 %r12, %r9, %r10; setp.lt.u32 %p2, %r12, 4; @%p2 bra $A;" + dead, 0},
		"a register that is set twice":     {load + "setp.lt.s32 %p0, %r9, 5; @!%p0 bra $A; add.s32 %r9, %r9, 1; setp.lt.s32 %p1, %r9, 5; @%p1 bra $A;" + dead, 0},
		"a register that is set by some":   {load + "mov.u32 %r10, 3; setp.lt.s32 %p0, %r9, 5; @%p0 mov.u32 %r10, 4; setp.eq.s32 %p1, %r10, 3; @%p1 bra $A;" + dead, 0},
		"another way leads here":           {load + "setp.eq.s32 %p2, %r0, 7; @%p2 bra $B; setp.lt.s32 %p0, %r9, 5; @!%p0 bra $A; $B:; setp.lt.s32 %p1, %r9, 5; @%p1 bra $A;" + dead, 0},
		"of a loop's last round":           {"mov.u32 %r5, 0; $B:; add.s32 %r6, %r5, %r0; setp.lt.s32 %p0, %r6, 5; add.s32 %r5, %r5, 1; @%p0 bra $B; setp.lt.s32 %p1, %r6, 5; @!%p1 bra $A;" + dead, 1},
		"what a loop has counted":          {"mov.u32 %r5, 0; $B:; setp.lt.s32 %p0, %r5, 5; add.s32 %r5, %r5, 1; @%p0 bra $B; setp.lt.s32 %p1, %r5, 5; @!%p1 bra $A;" + dead, 0},
		"a loop's other beginning":         {"bra.uni $C; $B:; add.s32 %r5, %r5, 1; bra.uni $D; $C:; mov.u32 %r5, 0; $D:; setp.lt.s32 %p0, %r5, 3; @%p0 bra $B;" + dead, 0},
		"set by some threads alone":        {"setp.lt.s32 %p0, %r0, 5; @%p0 mov.u32 %r10, 4; setp.eq.s32 %p1, %r10, 4; @%p1 bra $A;" + dead, 0},
		"set on one of two ways":           {"setp.lt.s32 %p0, %r0, 5; @%p0 bra $B; mov.u32 %r10, 4; $B:; setp.eq.s32 %p1, %r10, 4; @%p1 bra $A;" + dead, 0},
		"asked on one of two ways":         {"mov.u32 %r10, 4; setp.lt.s32 %p0, %r0, 5; @%p0 bra $B; setp.eq.s32 %p1, %r10, 4; $B:; @%p1 bra $A;" + dead, 0},
		"set after it is read":             {"$B:; setp.eq.s32 %p0, %r10, 4; mov.u32 %r10, 4; @%p0 bra $A;" + dead, 0},
		"a block behind one without a way": {"mov.u32 %r5, 0; setp.eq.s32 %p0, %r5, 0; @%p0 bra $A; setp.eq.s32 %p1, %r0, 0; @%p1 bra $A;" + dead, 2},
	} {
		if got := kernel(t, v.body).Unreachable(); len(got) != v.dead {
			t.Errorf("%s: %d blocks, at lines %d, want %d", name, len(got), got, v.dead)
		}
	}
}

// randomKernel returns a body of some blocks with sums, masks and branches.
func randomKernel(r *rand.Rand) string {
	var b strings.Builder
	blocks := 4 + r.IntN(8)
	registers := []string{"%r0", "%r1"}
	start := 0
	number := func() string {
		return fmt.Sprint([...]int{r.IntN(12) - 4, r.IntN(4), 1 << r.IntN(31), 1<<31 - 1 - r.IntN(3), -1 << 31}[r.IntN(5)*r.IntN(2)])
	}
	old := func() string {
		if r.IntN(9) > 0 && start > 0 { // of the first block: it is set everywhere
			return registers[r.IntN(start)]
		}
		return registers[r.IntN(len(registers))]
	}
	for i := range blocks {
		fmt.Fprintf(&b, "$B%d:; ", i)
		for range 1 + r.IntN(3) {
			to := fmt.Sprintf("%%r%d", 10+len(registers))
			if r.IntN(12) == 0 && len(registers) > 3 {
				to = registers[2+r.IntN(len(registers)-2)]
			}
			from := old()
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "add.s32 %s, %s, %s; ", to, from, number())
			case 1:
				fmt.Fprintf(&b, "add.s32 %s, %s, %s; ", to, from, old())
			case 2:
				fmt.Fprintf(&b, "sub.s32 %s, %s, %s; ", to, from, old())
			case 3:
				fmt.Fprintf(&b, "and.b32 %s, %s, %d; ", to, from, r.IntN(32))
			case 4:
				fmt.Fprintf(&b, "shl.b32 %s, %s, %d; ", to, from, r.IntN(4))
			default:
				fmt.Fprintf(&b, "not.b32 %s, %s; ", to, from)
			}
			if !slices.Contains(registers, to) {
				registers = append(registers, to)
			}
		}
		if i == 0 {
			start = len(registers)
		}
		with := number()
		if r.IntN(3) == 0 {
			with = old()
		}
		fmt.Fprintf(&b, "setp.%s %%p%d, %s, %s; ", []string{"eq.s32", "eq.b32", "ne.s32", "lt.u32", "lt.s32", "gt.s32", "ge.s32"}[r.IntN(7)], i, old(), with)
		to := i + 1 + r.IntN(blocks-i)
		if r.IntN(8) == 0 {
			to = r.IntN(blocks)
		}
		fmt.Fprintf(&b, "@%s%%p%d bra $B%d; ", []string{"", "!"}[r.IntN(2)], i, to)
	}
	fmt.Fprintf(&b, "$B%d:;", blocks)
	return b.String()
}

// TestUnreachableRandom: no thread of random kernels is where none can be.
func TestUnreachableRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	found, missed := 0, 0
	for range 20_000 {
		body := randomKernel(r)
		k := kernel(t, body)
		_, _ = launch(k, 3) // an error, such as of a loop without an end, is no matter
		dead, ran := k.Unreachable(), k.Ran()
		found += len(dead)
		missed += len(k.Missed())
		for _, line := range dead {
			if slices.Contains(ran, line) {
				t.Fatalf("line %d has run:\n%s", line, strings.ReplaceAll(body, "; ", ";\n"))
			}
		}
	}
	t.Logf("%d of %d blocks that did not run are proven", found, missed)
	if found < 1000 {
		t.Error("too few are to show anything")
	}
}

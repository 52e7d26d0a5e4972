package ptx

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// kernel makes a kernel of a body. Its parameters are addresses of 256 bytes each, of which the first was written.
func kernel(t testing.TB, body string) *Kernel {
	t.Helper()
	text := ".version 7.8\n.target sm_90\n.address_size 64\n.extern .shared .align 128 .b8 memory[];\n.visible .entry k(\n.param .u64 k_param_0,\n.param .u64 k_param_1\n)\n{\n" +
		"ld.param.u64 %rd0, [k_param_0];\nld.param.u64 %rd1, [k_param_1];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, memory;\nshl.b32 %r3, %r0, 2;\nadd.s32 %r4, %r2, %r3;\n" +
		strings.NewReplacer(":; ", ":\n", ":;", ":", "; ", ";\n").Replace(body) + "\nret;\n}\n"
	return must.Get(Read(strings.NewReader(text)))(t).Kernels[0]
}

// launch runs a kernel of two warps and some blocks, and returns what it has written.
func launch(k *Kernel, blocks int) ([]byte, error) {
	in := Region{Begin: 1 << 32, Bytes: make([]byte, 256), Written: make([]byte, 256)}
	for i := range in.Written {
		in.Bytes[i], in.Written[i] = byte(i), 1
	}
	out := Region{Begin: 2 << 32, Bytes: make([]byte, 256), Written: make([]byte, 256)}
	err := k.Run(NewMemory(in, out), Launch{Blocks: blocks, Threads: 64, Shared: 512, Parameters: []uint64{in.Begin, out.Begin}, Seed: 1, Steps: 1000})
	return out.Bytes, err
}

// What is undefined on a GPU is an error, and what is defined is none.
func TestUndefined(t *testing.T) {
	address := "mul.wide.u32 %rd2, %r0, 4; add.s64 %rd3, %rd1, %rd2; "
	for name, v := range map[string]struct{ body, want string }{
		"each thread writes its own":      {address + "st.u32 [%rd3], %r0;", ""},
		"two blocks write one place":      {address + "st.u32 [%rd3], %r0;", "race: the thread writes what"},
		"all threads write one place":     {"st.u32 [%rd1], %r0;", "race: the thread writes what"},
		"after the end":                   {address + "st.u32 [%rd3+4], %r0;", "illegal address"},
		"before the beginning":            {"mov.u64 %rd4, 8; st.u32 [%rd4], %r0;", "illegal address 0x8"},
		"not aligned":                     {address + "st.u32 [%rd3+2], %r0;", "no multiple"},
		"a vector that is not aligned":    {"ld.v4.u32 {%r5, %r6, %r7, %r8}, [%rd0+8];", "16 bytes at 0x100000008, which is no multiple"},
		"nothing was written there":       {"ld.f32 %f0, [%rd1];", "read before something was written"},
		"a register was not set":          {"add.s32 %r6, %r5, 1;", "register %r5 is read before it is set"},
		"half of the lanes have set it":   {"setp.lt.s32 %p0, %r0, 16; @%p0 bra $A; mov.u32 %r5, 1; $A:; add.s32 %r6, %r5, 1;", "thread 0: register %r5"},
		"shared memory, one's own":        {"st.shared.u32 [%r4], %r0; ld.shared.u32 %r5, [%r4];", ""},
		"shared memory, not written":      {"ld.shared.u32 %r5, [%r4];", "byte 0 of shared memory is read before"},
		"shared memory, after the end":    {"st.shared.u32 [%r4+512], %r0;", "4 bytes at 512 of 512 bytes"},
		"another's, no barrier":           {"st.shared.u32 [%r4], %r0; xor.b32 %r5, %r4, 4; ld.shared.u32 %r6, [%r5];", "race: the thread reads what"},
		"of one's warp, its barrier":      {"st.shared.u32 [%r4], %r0; bar.warp.sync -1; xor.b32 %r5, %r4, 4; ld.shared.u32 %r6, [%r5];", ""},
		"of another warp, its barrier":    {"st.shared.u32 [%r4], %r0; bar.warp.sync -1; xor.b32 %r5, %r4, 128; ld.shared.u32 %r6, [%r5];", "race: the thread reads what|read before"},
		"of another warp, all's barrier":  {"st.shared.u32 [%r4], %r0; bar.sync 0; xor.b32 %r5, %r4, 128; ld.shared.u32 %r6, [%r5];", ""},
		"write after another's read":      {"st.shared.u32 [%r4], %r0; bar.sync 0; xor.b32 %r5, %r4, 128; ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], %r0;", "race: the thread"},
		"write after read, barrier":       {"st.shared.u32 [%r4], %r0; bar.sync 0; xor.b32 %r5, %r4, 128; ld.shared.u32 %r6, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r0;", ""},
		"a copy, waited for":              {"shl.b32 %r5, %r0, 4; add.s32 %r5, %r5, %r2; setp.lt.s32 %p0, %r0, 32; @!%p0 bra $A; cp.async.cg.shared.global [%r5], [%rd0], 16, 16; $A:; cp.async.commit_group; cp.async.wait_group 0; @!%p0 bra $B; ld.shared.u32 %r6, [%r5]; $B:;", ""},
		"a copy, not waited for":          {"shl.b32 %r5, %r0, 4; add.s32 %r5, %r5, %r2; setp.lt.s32 %p0, %r0, 32; @!%p0 bra $A; cp.async.cg.shared.global [%r5], [%rd0], 16, 16; $A:; cp.async.commit_group; cp.async.wait_group 1; @!%p0 bra $B; ld.shared.u32 %r6, [%r5]; $B:;", "where a copy of thread"},
		"a copy, its group open":          {"shl.b32 %r5, %r0, 4; add.s32 %r5, %r5, %r2; setp.lt.s32 %p0, %r0, 32; @!%p0 bra $A; cp.async.cg.shared.global [%r5], [%rd0], 16, 16; $A:; cp.async.wait_group 0; @!%p0 bra $B; ld.shared.u32 %r6, [%r5]; $B:;", "where a copy of thread"},
		"a copy into what others read":    {"st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r6, [%r4]; setp.lt.s32 %p0, %r0, 1; @!%p0 bra $A; cp.async.cg.shared.global [%r2], [%rd0], 16, 16; $A:;", "race: the thread writes what"},
		"not all lanes":                   {"setp.lt.s32 %p0, %r0, 16; @%p0 bra $A; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r2]; $A:;", "only 16 lanes of the warp are here"},
		"a barrier that some leave out":   {"setp.lt.s32 %p0, %r0, 16; @%p0 bra $A; bar.sync 0; $A:;", "while 16 threads"},
		"a barrier after some have left":  {"setp.lt.s32 %p0, %r0, 16; @%p0 bra $A; ret; $A:; bar.sync 0;", "threads of the block have returned"},
		"a loop":                          {"$A:; bra.uni $A;", "does not end"},
		"division by zero":                {"sub.s32 %r5, %r0, %r0; div.s32 %r6, %r0, %r5;", "division by zero"},
		"a number that is not rounded":    {"mov.f32 %f0, 0f3F800001; mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%f0, %f0, %f0, %f0}, {%f0, %f0}, {%f0, %f0, %f0, %f0};", "not rounded to TF32"},
		"lanes part, and meet again":      {"setp.lt.s32 %p0, %r0, 7; @%p0 bra $A; mov.u32 %r5, 1; bra.uni $B; $A:; mov.u32 %r5, 2; $B:; bar.warp.sync -1; " + address + "st.u32 [%rd3], %r5;", ""},
		"blocks read what another writes": {"setp.gt.s32 %p0, %r1, 0; @%p0 bra $A; setp.gt.s32 %p1, %r0, 0; @%p1 bra $B; st.u32 [%rd1], %r0; bra.uni $B; $A:; ld.u32 %r5, [%rd1]; $B:;", "byte 0 of 256|race: the thread"},
	} {
		k := kernel(t, v.body)
		blocks := 1
		if strings.Contains(name, "blocks") {
			blocks = 2
		}
		_, err := launch(k, blocks)
		if (err == nil) != (v.want == "") {
			t.Errorf("%s: %v, want %q", name, err, v.want)
			continue
		}
		found := err == nil
		for _, want := range strings.Split(v.want, "|") {
			found = found || strings.Contains(err.Error(), want)
		}
		if !found {
			t.Errorf("%s: %v, want %q", name, err, v.want)
		}
	}
}

// A launch that a driver would refuse is an error.
func TestLaunch(t *testing.T) {
	k := kernel(t, "")
	for _, l := range []Launch{{}, {Blocks: 1, Threads: 33, Parameters: make([]uint64, 2)}, {Blocks: 1, Threads: 2048, Parameters: make([]uint64, 2)},
		{Blocks: 1, Threads: 32, Parameters: make([]uint64, 1)}, {Blocks: 1, Threads: 32, Parameters: make([]uint64, 2), Shared: mostShared + 1}} {
		var e *Error
		if err := k.Run(NewMemory(), l); !errors.As(err, &e) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// Text that is no PTX, or an instruction that no kernel here has, is an error with its line.
func TestRefused(t *testing.T) {
	whole := ".version 7.8\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\nLINE\nret;\n}\n"
	for line, want := range map[string]string{
		"add.s32 %r1, %r2;":              "line 6: add.s32 has 2 operands, want 3",
		"add.u16 %r1, %r2, %r3;":         "instruction add.u16 is unknown",
		"add.s32 %r1, %rd2, 1;":          `"%rd2" is no register or number of 32 bits`,
		"add.s32 %tid.x, %r2, 1;":        "can't be set",
		"bra $A;":                        "label $A is missing",
		"$A:\n$A:":                       "stands twice",
		"ret":                            "semicolon",
		"ld.param.u64 %rd1, [x];":        "no parameter",
		"ld.v3.f32 %f1, [%rd1];":         "v3 is unknown",
		"st.shared.u64 [%r1], %rd1;":     "elements of 4 bytes",
		"bar.sync 1;":                    "want 0",
		"ld.f32 %f1, [%rd1+9999999999];": "offset",
		"@%r1 ret;":                      "no predicate",
		"}":                              "does not end with a return",
	} {
		_, err := Read(strings.NewReader(strings.Replace(whole, "LINE", line, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(".version 7.8\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\n$A:\n@!%p1 bra $A;\nld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+4];\nmov.pred %p1, -1;\nret;\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, k := range m.Kernels {
			k.Unreachable()
			_ = k.Run(NewMemory(Region{Begin: 4096, Bytes: make([]byte, 64)}), Launch{Blocks: 1, Threads: 32, Shared: 64, Parameters: make([]uint64, k.Parameters), Steps: 100})
		}
	})
}

// The fused operations round once, as numbers of any size do.
func TestFused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() float32 {
		return float32(math.Ldexp(float64(1<<23+r.IntN(1<<23)), r.IntN(60)-53)) * float32(1-2*r.IntN(2))
	}
	for range 200_000 {
		a, b, c := number(), number(), number()
		if r.IntN(2) == 0 { // near to the middle between two numbers
			c = float32(math.Ldexp(float64(a)*float64(b), 24*(1-2*r.IntN(2)))) * (1 + float32(r.IntN(3)-1)*0x1p-23)
		}
		exact := new(big.Float).SetPrec(400).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		want, _ := exact.Float32()
		if got := fma(a, b, c); got != want {
			t.Fatalf("%g·%g + %g is %g, want %g", a, b, c, got, want)
		}
		if exact.Cmp(big.NewFloat(float64(want))) < 0 {
			want = math.Nextafter32(want, float32(math.Inf(-1)))
		}
		if got := fmaDown(a, b, c); got != want {
			t.Fatalf("%g·%g + %g, rounded down, is %g, want %g", a, b, c, got, want)
		}
	}
}

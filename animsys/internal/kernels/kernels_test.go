package kernels_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys/internal/kernels"
	"mannequin/internal/testing/must"
)

// reserved are the words that WGSL keeps for later. The compiler that comes with the library takes some of them, browsers do not.
const reserved = ` NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await co_return co_yield
 coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete demote
 demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final finally friend from fxgroup get goto
 groupshared highp impl implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable
 namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch
 pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require resource restrict self
 set shared sizeof smooth snorm static static_assert static_cast std subroutine super target template this thread_local throw trait try type typedef
 typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield `

var (
	word    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	comment = regexp.MustCompile(`//.*`)
	group   = regexp.MustCompile(`\([^()]*\)`)
)

// Browsers refuse reserved words, and conditions that mix && and || without parentheses.
func TestWGSL(t *testing.T) {
	strict := map[string]bool{}
	for _, w := range strings.Fields(reserved) {
		strict[w] = true
	}
	var files []string
	for _, pattern := range []string{"*.wgsl", "../../*/kernels/*.wgsl"} {
		files = append(files, must.Get(filepath.Glob(pattern))(t)...)
	}
	if len(files) < 5 {
		t.Fatal("there are ", len(files), " sources")
	}
	for _, name := range files {
		text := comment.ReplaceAllString(string(must.Get(os.ReadFile(name))(t)), "")
		for _, w := range word.FindAllString(text, -1) {
			if strict[w] {
				t.Errorf("%s: the word %q is reserved", name, w)
			}
		}
		for {
			inner := group.FindAllString(text, -1)
			if len(inner) == 0 {
				break
			}
			for _, s := range inner {
				if strings.Contains(s, "&&") && strings.Contains(s, "||") {
					t.Errorf("%s: && and || in %q", name, s)
				}
			}
			text = group.ReplaceAllString(text, "x")
		}
		for _, s := range regexp.MustCompile(`[;{}]`).Split(text, -1) {
			if strings.Contains(s, "&&") && strings.Contains(s, "||") {
				t.Errorf("%s: && and || in %q", name, strings.TrimSpace(s))
			}
		}
	}
}

// A constant is the float32 that was asked for, and none that is larger than any: browsers refuse those.
func TestNumber(t *testing.T) {
	for _, v := range []float32{0, 1, -3, 0.1, 1e30, math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32} {
		var text kernels.Text
		text.Number("x", v)
		number := strings.TrimSuffix(strings.TrimPrefix(text.String(), "const x: f32 = "), ";\n")
		got, err := strconv.ParseFloat(number, 64)
		if err != nil || float32(got) != v || math.Abs(got) > math.MaxFloat32 || !strings.ContainsAny(number, ".e") {
			t.Errorf("%g is written as %s", v, number)
		}
	}
}

// Package kernels builds the source of kernels in WGSL and the tables that they read.
package kernels

import (
	_ "embed" // the source
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Math is WGSL source of arithmetic functions that have the same bits on all GPUs. It stands before every other source.
//
//go:embed math.wgsl
var Math string

// Text builds a source and the tables that it reads. For each table it declares a constant: where the table begins. Drivers cache compiled kernels
// by their source, so all crowds of a model should have the same one: what differs from crowd to crowd belongs in the tables.
type Text struct {
	strings.Builder
	Tables []float32
}

// Bind declares the memory that kernels of agents see, as bindings of group 0.
func (t *Text) Bind() {
	for i, binding := range []string{"storage, read> tables", "storage, read> goals", "storage, read_write> rows", "storage, read_write> net", "storage, read_write> poses"} {
		fmt.Fprintf(t, "@group(0) @binding(%d) var<%s: array<f32>;\n", i, binding)
	}
}

// Whole declares an unsigned integer constant.
func (t *Text) Whole(name string, v int) { fmt.Fprintf(t, "const %s = %du;\n", name, v) }

// Signed declares a signed integer constant.
func (t *Text) Signed(name string, v int) { fmt.Fprintf(t, "const %s = %d;\n", name, v) }

// Bool declares a boolean constant.
func (t *Text) Bool(name string, v bool) { fmt.Fprintf(t, "const %s = %v;\n", name, v) }

// Number declares a float32 constant.
func (t *Text) Number(name string, v float32) {
	bits := 32
	if v == math.MaxFloat32 || v == -math.MaxFloat32 { // its shortest text is a larger number, which browsers refuse
		bits = 64
	}
	s := strconv.FormatFloat(float64(v), 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	fmt.Fprintf(t, "const %s: f32 = %s;\n", name, s)
}

// Table appends a table, and declares where it begins.
func (t *Text) Table(name string, v ...float32) {
	t.Whole(name, len(t.Tables))
	t.Tables = append(t.Tables, v...)
}

// Wholes is Table for integers.
func (t *Text) Wholes(name string, v ...int) {
	t.Whole(name, len(t.Tables))
	for _, x := range v {
		t.Tables = append(t.Tables, float32(x))
	}
}

// Place appends where something begins in a network's memory, in float32s. Such places depend on the number of agents. Each is two numbers,
// since a float32 holds whole numbers only up to 2²⁴.
func (t *Text) Place(name string, at int) { t.Table(name, float32(at&0xffff), float32(at>>16)) }

//go:build webgpu

package webgpu

import (
	_ "embed"
	"strconv"
	"strings"
)

var (
	//go:embed kernels/common.wgsl
	commonSource string
	//go:embed kernels/chain.wgsl
	chainSource string
	//go:embed kernels/product.wgsl
	productSource string
	//go:embed kernels/sum.wgsl
	sumSource string
	//go:embed kernels/sum16.wgsl
	sum16Source string
	//go:embed kernels/nearest.wgsl
	nearestSource string
)

// tile is the part of a product that a workgroup computes: rows by 64 columns.
type tile struct {
	height int // threads along the rows; there are 16 along the columns
	each   int // rows of a thread
}

// Small tiles waste less of a few rows, large ones read the weights less often.
var tiles = [...]tile{{4, 1}, {4, 4}}

const tileColumns = 64

func (t tile) rows() int { return t.height * t.each }

// tileOf returns the index of the tile for a number of rows: the largest that is at least half full.
func tileOf(rows int) int {
	i := len(tiles) - 1
	for i > 0 && 2*rows <= tiles[i].rows() {
		i--
	}
	return i
}

// format is what products compute with.
type format int

// The formats.
const (
	singles format = iota // weights and sums in float32
	brains                // weights in bfloat16 as pairs, sums in float32
	halves                // weights in float16 as pairs, sums in float32
	sums16                // weights in float16 as pairs, sums of eight products in float16
	formats
)

// source returns the source of the products in tiles.
func (t tile) source(f format) string {
	text := strings.NewReplacer("PRODUCTS\n", [...]string{sumSource, sumSource, sumSource, sum16Source}[f]).Replace(productSource)
	text = strings.NewReplacer("ROWS", strconv.Itoa(t.rows()), "HEIGHT", strconv.Itoa(t.height), "THREADS", strconv.Itoa(16*t.height),
		"PER_WORD", [...]string{"1", "2", "2", "2"}[f], "four_weights", [...]string{"four", "four_of_pairs", "four_of_halves", "four_of_halves"}[f],
		"SCALE", [...]string{"1.0", "1.0", "bitcast<f32>(ops[op + 21u])", "bitcast<f32>(ops[op + 21u])"}[f]).Replace(text)
	text = commonSource + repeat(text, t.each)
	if f == sums16 {
		text = "enable f16;\n" + text
	}
	return text
}

// repeat repeats what stands between "each" and "end", with a number for #.
func repeat(source string, times int) string {
	var b strings.Builder
	for {
		before, after, more := strings.Cut(source, "// each\n")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		part, tail, _ := strings.Cut(after, "// end\n")
		for i := range times {
			b.WriteString(strings.ReplaceAll(part, "#", strconv.Itoa(i)))
		}
		source = tail
	}
}

// Rows of a workgroup of a chain.
const chainRows = 8

// Points of a tile of a search, and queries of a workgroup.
const (
	tilePoints   = 64
	tileQueries  = 8
	searchGroups = 64 // most workgroups along the tiles
)

// searchSource returns the source of searches.
func searchSource() string {
	return commonSource + repeat(strings.ReplaceAll(nearestSource, "QUERIES", strconv.Itoa(tileQueries)), tileQueries/4)
}

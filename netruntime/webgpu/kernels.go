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

// source returns the source of the products in tiles, with weights in float32, or in bfloat16 as pairs.
func (t tile) source(pairs bool) string {
	perWord, four := "1", "four"
	if pairs {
		perWord, four = "2", "four_of_pairs"
	}
	return commonSource + repeat(strings.NewReplacer("ROWS", strconv.Itoa(t.rows()), "HEIGHT", strconv.Itoa(t.height), "THREADS", strconv.Itoa(16*t.height),
		"PER_WORD", perWord, "four_weights", four).Replace(productSource), t.each)
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

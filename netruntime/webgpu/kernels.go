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

// source returns the source of the products in tiles.
func (t tile) source() string {
	var b strings.Builder
	b.WriteString(commonSource)
	rest := strings.NewReplacer("ROWS", strconv.Itoa(t.rows()), "HEIGHT", strconv.Itoa(t.height), "THREADS", strconv.Itoa(16*t.height)).Replace(productSource)
	for {
		before, after, more := strings.Cut(rest, "// each\n")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		part, tail, _ := strings.Cut(after, "// end\n")
		for i := range t.each {
			b.WriteString(strings.ReplaceAll(part, "#", strconv.Itoa(i)))
		}
		rest = tail
	}
}

// Rows of a workgroup of a chain.
const chainRows = 8

package stage

import (
	"math"

	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
	"mannequin/engine/internal/instanced"
	"mannequin/engine/m3"
)

// grainSize is the side of the noise texture in texels, a power of two.
const grainSize = 256

// grain returns a tileable noise texture, four bytes per texel with mean 128: fine noise, blotches,
// and the slopes of the fine noise along x and y. Ground and sky sample it: noise computed per
// pixel would dominate software rendering.
func grain() []byte {
	const n = grainSize
	fine, blotch := make([]float32, n*n), make([]float32, n*n)
	octaves := func(i int, cells, seed uint32, shares ...float32) (sum float32) {
		for k, share := range shares {
			sum += share * tileNoise(float32(i%n)/n, float32(i/n)/n, cells<<k, seed+uint32(k))
		}
		return sum
	}
	for i := range fine {
		fine[i] = octaves(i, 8, 0, 0.10, 0.16, 0.22, 0.27, 0.25)
		blotch[i] = octaves(i, 4, 10, 0.50, 0.30, 0.20)
	}
	normalize(fine)
	normalize(blotch)
	pix := make([]byte, 4*n*n)
	put := func(x float32) byte { return byte(m3.Clamp(128+x, 0, 255)) }
	for y := range n {
		for x := range n {
			i := y*n + x
			dx := fine[y*n+(x+1)%n] - fine[y*n+(x+n-1)%n]
			dy := fine[(y+1)%n*n+x] - fine[(y+n-1)%n*n+x]
			pix[4*i], pix[4*i+1] = put(42*fine[i]), put(42*blotch[i])
			pix[4*i+2], pix[4*i+3] = put(42*dx), put(42*dy)
		}
	}
	return pix
}

// normalize shifts and scales x to mean 0 and standard deviation 1.
func normalize(x []float32) {
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(x))
	scale := float32(1 / math.Sqrt(squares/float64(len(x))-mean*mean))
	for i := range x {
		x[i] = (x[i] - float32(mean)) * scale
	}
}

// tileNoise interpolates random values on a grid of cells from 0 to 1 each way.
func tileNoise(u, v float32, cells, seed uint32) float32 {
	u, v = u*float32(cells), v*float32(cells)
	i, k := uint32(u), uint32(v)
	u, v = u-float32(i), v-float32(k)
	u, v = u*u*(3-2*u), v*v*(3-2*v)
	at := func(i, k uint32) float32 {
		return instanced.Unit((i%cells)*0x9E3779B1 ^ (k%cells)*0x85EBCA77 ^ seed*0xC2B2AE3D)
	}
	return m3.Lerp(m3.Lerp(at(i, k), at(i+1, k), u), m3.Lerp(at(i, k+1), at(i+1, k+1), u), v)
}

// newGrain uploads the grain with mipmaps. smooth interpolates between mipmaps, which in software
// costs as much as the rest of the ground.
func newGrain(gs *gls.GLS, smooth bool) uint32 {
	t := gpu.NewTexture(gs, unitGrain, gl.LINEAR)
	filter := int32(gl.LINEAR_MIPMAP_NEAREST)
	if smooth {
		filter = gl.LINEAR_MIPMAP_LINEAR
	}
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.REPEAT)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.REPEAT)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 8)
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, grainSize, grainSize, gl.RGBA, gl.UNSIGNED_BYTE, grain())
	gl.GenerateMipmap(gl.TEXTURE_2D)
	return t
}

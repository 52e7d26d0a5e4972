// The kernels of internal/kernel in WebAssembly's vectors of four. All operations
// are those of the Go twin in the same order, so that they agree with it bit for bit:
// see fma.go. Strides count elements. Nothing here may need memory of its own: all of
// the memory is Go's.
//
// There are two modules. The one with FUSED needs relaxed vectors, and a browser may
// compute their madd with one rounding or with two: the page looks which. The other
// rounds twice. It is as fast as browsers without relaxed vectors can be, and its bits
// are its own.

#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef v128_t vec;

#define load wasm_v128_load
#define store wasm_v128_store
#define every wasm_v128_load32_splat
#define konst wasm_f32x4_const_splat
#define add wasm_f32x4_add
#define sub wasm_f32x4_sub
#define mul wasm_f32x4_mul
#define quotient wasm_f32x4_div

enum { panel = 16 }; // columns of a panel of B

// madd returns a·b + c, rounded once if FUSED.
#ifdef FUSED
#define madd __builtin_wasm_relaxed_madd_f32x4
#else
#define madd(a, b, c) add(c, mul(a, b))
#endif

// fma is madd for the page, which looks how often it rounds.
EXPORT(fma)
float fma1(float a, float b, float c) {
	return wasm_f32x4_extract_lane(madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
}

// Products ------------------------------------------------------------------

// block is rows × 4·vecs elements of a product, held in registers: see tile.go.
INLINE void block(const int rows, const int vecs, int k, const float *a, int rs, int as,
                  const float *b, int bs, float *c, int ldc, const float *w, int ws, int first) {
	vec s[4][4];
	UNROLL for (int i = 0; i < rows; i++)
		UNROLL for (int j = 0; j < vecs; j++) s[i][j] = konst(0);
	for (int l = 0; l < k; l++, a += as, b += bs) {
		UNROLL for (int i = 0; i < rows; i++) {
			vec x = every(a + i * rs);
			UNROLL for (int j = 0; j < vecs; j++) s[i][j] = madd(x, load(b + 4 * j), s[i][j]);
		}
	}
	UNROLL for (int i = 0; i < rows; i++) {
		vec x = every(w + i * ws);
		UNROLL for (int j = 0; j < vecs; j++) {
			float *to = c + i * ldc + 4 * j;
			store(to, first ? mul(x, s[i][j]) : madd(x, s[i][j], load(to)));
		}
	}
}

// tall is block for a whole panel. More than two rows are too many sums for the
// registers.
INLINE void tall(const int rows, int k, const float *a, int rs, int as,
                 const float *b, int bs, float *c, int ldc, const float *w, int ws, int first) {
	if (rows <= 2) {
		block(rows, 4, k, a, rs, as, b, bs, c, ldc, w, ws, first);
		return;
	}
	for (int j = 0; j < panel; j += panel / 2)
		block(rows, 2, k, a, rs, as, b + j, bs, c + j, ldc, w, ws, first);
}

// A case for each number of rows, so that the compiler sees a constant.
#define BY_ROWS(rows, f, ...)                  \
	switch (rows) {                            \
	case 1: f(1, __VA_ARGS__); break;          \
	case 2: f(2, __VA_ARGS__); break;          \
	case 3: f(3, __VA_ARGS__); break;          \
	case 4: f(4, __VA_ARGS__); break;          \
	}

EXPORT(tile)
void tile(int rows, int k, const float *a, int rs, int as, const float *b, int bs,
          float *c, int ldc, const float *w, int ws, int first) {
	BY_ROWS(rows, tall, k, a, rs, as, b, bs, c, ldc, w, ws, first)
}

INLINE void tiles(const int rows, int n, int k, const float *a, int rs, int hop,
                  const float *b, float *c, const float *w, int ws, int first) {
	for (; n > 0; n--, a += hop, c += rows * panel, w += rows * ws)
		tall(rows, k, a, rs, 1, b, panel, c, panel, w, ws, first);
}

// strip is n tiles by some panels: see strip.go.
EXPORT(strip)
void strip(int rows, int panels, int n, int k, const float *a, int rs, int hop,
           const float *b, int ps, float *c, int cs, const float *w, int ws, int first) {
	for (; panels > 0; panels--, b += ps, c += cs)
		BY_ROWS(rows, tiles, n, k, a, rs, hop, b, c, w, ws, first)
}

// Activations ---------------------------------------------------------------

// An exponent n = round(x/ln 2) and r = x − n·ln 2, |r| ≤ 0.347, where the Taylor
// polynomial of degree 7 leaves 6e-9.
typedef struct {
	vec n, r;
} reduced;

// magic added to a small number rounds it to a whole one, which are the sum's last bits.
#define magic konst(0x1.8p23f)

// reduce is for |x| below 2²¹. NaN passes.
INLINE reduced reduce(vec x) {
	vec n = sub(add(mul(x, konst(0x1.715476p+0f)), magic), magic);
	// The first 12 bits of ln 2, so that the product is exact, and the rest.
	vec r = madd(konst(-0x1.0bfbe8p-15f), n, madd(konst(-0x1.62ep-1f), n, x));
	return (reduced){n, r};
}

// polynomial returns Σ r^(i−from)/i! over i from from to 7, from being 0 or 1.
INLINE vec polynomial(vec r, const int from) {
	vec p = konst(1.f / 5040);
#define STEP(c) p = madd(p, r, konst(c));
	STEP(1.f / 720) STEP(1.f / 120) STEP(1.f / 24) STEP(1.f / 6) STEP(1.f / 2) STEP(1)
	if (from == 0) STEP(1)
	return p;
}

// power turns whole numbers n ≥ −126 into 2ⁿ.
INLINE vec power(vec n) { return wasm_i32x4_shl(wasm_i32x4_add(add(n, magic), wasm_i32x4_const_splat(127)), 23); }

// These return x where it is NaN.
INLINE vec atMost(vec x, vec high) { return wasm_f32x4_pmin(x, high); }
INLINE vec atLeast(vec x, vec low) { return wasm_f32x4_pmax(x, low); }

// 2ⁿ is applied in two halves, so that overflow and underflow happen in the last
// product.
INLINE vec exponential(vec x) {
	reduced e = reduce(atLeast(atMost(x, konst(89)), konst(-104)));
	vec half = wasm_f32x4_floor(mul(e.n, konst(0.5f)));
	return mul(mul(polynomial(e.r, 0), power(half)), power(sub(e.n, half)));
}

INLINE vec elu4(vec x) {
	vec y = exponential(atMost(x, konst(0)));
	return add(atLeast(x, konst(0)), sub(y, konst(1)));
}

// inverse is the denominator of 1/(1 + e^−x).
INLINE vec inverse(vec x) {
	// Where 2ⁿ is a normal number or infinite.
	reduced e = reduce(atLeast(atMost(wasm_f32x4_neg(x), konst(89)), konst(-87)));
	return madd(polynomial(e.r, 0), power(e.n), konst(1));
}

INLINE vec sigmoid4(vec x) { return quotient(konst(1), inverse(x)); }

typedef struct {
	vec over, under;
} fraction;

// ratio is m/(m + 2), m = e^2|x| − 1, with x's sign. m = 2ⁿ·(e^r − 1) + (2ⁿ − 1) keeps
// small x exact.
INLINE fraction ratio(vec x) {
	vec z = wasm_f32x4_abs(x);
	reduced e = reduce(atMost(add(z, z), konst(20))); // where tanh(x/2) is 1
	vec scale = power(e.n);
	vec m = add(mul(mul(polynomial(e.r, 1), e.r), scale), sub(scale, konst(1)));
	return (fraction){wasm_v128_bitselect(x, m, wasm_i32x4_const_splat(1 << 31)), add(m, konst(2))};
}

INLINE vec tanh4(vec x) {
	fraction f = ratio(x);
	return quotient(f.over, f.under);
}

// EACH is a function of one array; what is left over goes the same way.
#define EACH(name, f)                                                       \
	EXPORT(name) void name(float *dst, const float *x, int n) {             \
		for (; n >= 4; n -= 4, dst += 4, x += 4) store(dst, f(load(x)));    \
		for (; n > 0; n--, dst++, x++) wasm_v128_store32_lane(dst, f(every(x)), 0); \
	}

EACH(expArray, exponential)
EACH(eluArray, elu4)
EACH(sigmoidArray, sigmoid4)
EACH(tanhArray, tanh4)

// lstmCells is a step of a panel's cells: see activation.go.
EXPORT(lstmCells)
void lstmCells(float *h, int hs, float *c, int cs, const float *gates, int gs, const float *bias, int bs, int rows) {
	for (; rows > 0; rows--, h += hs, c += cs, gates += panel) {
		for (int j = 0; j < panel; j += 4) {
			vec gate[4];
			UNROLL for (int q = 0; q < 4; q++) gate[q] = add(load(gates + q * gs + j), load(bias + q * bs + j));
			fraction g = ratio(gate[2]);
			vec now = add(quotient(load(c + j), inverse(gate[1])), quotient(g.over, mul(g.under, inverse(gate[0]))));
			store(c + j, now);
			g = ratio(now);
			store(h + j, quotient(g.over, mul(g.under, inverse(gate[3]))));
		}
	}
}

// Arrays --------------------------------------------------------------------

// ARRAYS is a function of arrays: an expression of their elements AT i, of which there are
// four and in the end one.
#define ARRAYS(name, expression, ...)                                       \
	EXPORT(name) void name(float *dst, __VA_ARGS__, int n) {                \
		int i = 0;                                                          \
		for (; i + 4 <= n; i += 4) {                                        \
			enum { one = 0 };                                               \
			store(dst + i, expression);                                     \
		}                                                                   \
		for (; i < n; i++) {                                                \
			enum { one = 1 };                                               \
			wasm_v128_store32_lane(dst + i, expression, 0);                 \
		}                                                                   \
	}
#define AT(p) (one ? every(p + i) : load(p + i))

ARRAYS(axpy, madd(wasm_f32x4_splat(a), AT(x), AT(dst)), float a, const float *x)
ARRAYS(scale, mul(wasm_f32x4_splat(a), AT(x)), float a, const float *x)
ARRAYS(addArrays, add(AT(x), AT(y)), const float *x, const float *y)
ARRAYS(subArrays, sub(AT(x), AT(y)), const float *x, const float *y)
ARRAYS(mulArrays, mul(AT(x), AT(y)), const float *x, const float *y)
ARRAYS(mulAdd, madd(AT(x), AT(y), AT(dst)), const float *x, const float *y)
ARRAYS(normalize, mul(sub(AT(x), AT(mean)), AT(inv)), const float *x, const float *mean, const float *inv)
ARRAYS(affine, madd(AT(x), AT(k), AT(shift)), const float *x, const float *k, const float *shift)

// dot adds to 32 sums: see vector.go. n is a multiple of 32.
EXPORT(dot)
void dot(float *sums, const float *x, const float *y, int n) {
	vec s[8];
	UNROLL for (int j = 0; j < 8; j++) s[j] = load(sums + 4 * j);
	for (; n > 0; n -= 32, x += 32, y += 32)
		UNROLL for (int j = 0; j < 8; j++) s[j] = madd(load(x + 4 * j), load(y + 4 * j), s[j]);
	UNROLL for (int j = 0; j < 8; j++) store(sums + 4 * j, s[j]);
}

// products adds the sums of q·x, even and odd ones apart, to what s has.
INLINE vec products(vec s, const float *q, const float *x, int n) {
	vec other = konst(0);
	int c = 0;
	for (; c + 2 <= n; c += 2) {
		s = madd(every(q + c), load(x + 16 * c), s);
		other = madd(every(q + c + 1), load(x + 16 * (c + 1)), other);
	}
	if (c < n) s = madd(every(q + c), load(x + 16 * c), s);
	return add(s, other);
}

// distances16: see vector.go.
EXPORT(distances16)
void distances16(float *d, float *sums, const float *x, const float *q, const float *turned, int plane, int tall) {
	int n = plane + tall;
	for (int l = 0; l < 16; l += 4) {
		vec re = products(load(sums + l), q, x + l, plane);
		vec im = products(load(sums + 16 + l), turned, x + l, plane);
		vec h = products(load(sums + 32 + l), q + plane, x + 16 * plane + l, tall);
		store(sums + l, re);
		store(sums + 16 + l, im);
		store(sums + 32 + l, h);
		vec z = wasm_f32x4_sqrt(madd(re, re, mul(im, im)));
		vec rest = sub(every(q + n), load(x + 16 * n + l));
		vec half = sub(sub(add(every(q + n + 1), load(x + 16 * (n + 1) + l)), h), z);
		vec square = atLeast(mul(konst(2), half), konst(0));
		store(d + l, wasm_f32x4_sqrt(madd(rest, rest, square)));
	}
}

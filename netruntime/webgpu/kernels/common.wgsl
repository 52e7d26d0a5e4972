// What the kernels share: the operations as netruntime/webgpu/ops.go writes them, and the elementwise functions.
// Sums and functions have the order and the roundings of netruntime/internal/kernel: where fma, division and
// rounding to whole numbers are exact, results have the processor's bits.

struct Call {
	op: u32,    // word at which its first operation begins
	count: u32, // operations of a chain
	rows: u32,  // of a sequence
	frame: u32, // of a loop
}

struct Run {
	sequences: u32,
	zero: u32, // which compilers do not know
}

@group(0) @binding(0) var<storage, read_write> memory: array<f32>;
@group(0) @binding(1) var<storage, read> constants: array<f32>;
@group(0) @binding(2) var<storage, read> ops: array<u32>;
@group(0) @binding(3) var<uniform> run: Run;
@group(1) @binding(0) var<uniform> call: Call;

const none = 0xffffffffu;

const identity = 0u;
const elu = 1u;
const relu = 2u;
const sigmoid = 3u;

const activate = 0u;
const affine = 1u;
const normalize = 2u;

struct Reduced {
	n: i32,
	r: f32,
}

// reduce returns n = round(x/ln 2) and r = x − n·ln 2, for |x| below 2²¹.
fn reduce(x: f32) -> Reduced {
	let whole = round(x * 1.4426950408889634);
	// The first product is exact. Compilers that add both constants first would lose that.
	let r = bitcast<f32>(bitcast<u32>(fma(-0.693115234375, whole, x)) ^ run.zero);
	return Reduced(i32(whole), fma(-0.00003194618494530942, whole, r));
}

// polynomial returns Σ r^(i−1)/i! for i from 1 to 7.
fn polynomial(r: f32) -> f32 {
	var p = 0.00019841269841269841;
	p = fma(p, r, 0.0013888888888888889);
	p = fma(p, r, 0.0083333333333333333);
	p = fma(p, r, 0.041666666666666667);
	p = fma(p, r, 0.16666666666666667);
	p = fma(p, r, 0.5);
	return fma(p, r, 1.0);
}

// power returns 2ⁿ for n from −126 to 128, where it is infinite.
fn power(n: i32) -> f32 {
	return bitcast<f32>(u32(n + 127) << 23u);
}

fn at_most(x: f32, high: f32) -> f32 {
	return select(x, high, high < x);
}

fn at_least(x: f32, low: f32) -> f32 {
	return select(x, low, low > x);
}

fn exponential(x: f32) -> f32 {
	let q = reduce(at_least(at_most(x, 89.0), -104.0));
	let half = q.n >> 1u;
	return fma(polynomial(q.r), q.r, 1.0) * power(half) * power(q.n - half);
}

// sigmoid_below returns the denominator of 1/(1 + e^−x).
fn sigmoid_below(x: f32) -> f32 {
	let q = reduce(at_least(at_most(-x, 89.0), -87.0));
	return fma(fma(polynomial(q.r), q.r, 1.0), power(q.n), 1.0);
}

// tanh_above returns m = e^2|x| − 1 with x's sign. The hyperbolic tangent is m/(|m| + 2).
fn tanh_above(x: f32) -> f32 {
	let q = reduce(at_most(abs(x + x), 20.0));
	let m = polynomial(q.r) * q.r * power(q.n) + (power(q.n) - 1.0);
	return bitcast<f32>((bitcast<u32>(m) & 0x7fffffffu) | (bitcast<u32>(x) & 0x80000000u));
}

fn activation(act: u32, x: f32) -> f32 {
	switch act {
		case elu: {
			return at_least(x, 0.0) + (exponential(at_most(x, 0.0)) - 1.0);
		}
		case relu: {
			return at_least(x, 0.0);
		}
		case sigmoid: {
			return 1.0 / sigmoid_below(x);
		}
		case identity: {
			return x;
		}
		default: {
			let m = tanh_above(x);
			return m / (abs(m) + 2.0);
		}
	}
}

// point applies the elementwise function that begins at a word to column c.
fn point(at: u32, c: u32, x: f32) -> f32 {
	let kind = ops[at];
	if kind == activate {
		return activation(ops[at + 1u], x);
	}
	let rest = constants[ops[at + 3u] + c];
	if kind == affine {
		return fma(x, constants[ops[at + 2u] + c], rest);
	}
	if kind == normalize {
		return (x - rest) * constants[ops[at + 2u] + c];
	}
	return select(x, 0.0, x < rest);
}

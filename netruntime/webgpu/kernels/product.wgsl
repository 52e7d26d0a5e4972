// The matrix products of all networks: dense layers, convolutions, blends of experts and the gates of LSTMs.
//
// A workgroup computes a tile of the result, 64 columns wide. A thread has one or more rows and four columns, 16 apart.
// Neighbouring threads read neighbouring weights, and operands come from the caches. kernels.go puts in ROWS, HEIGHT, THREADS,
// the number of weights in a word for PER_WORD, what weights are multiplied with for SCALE, and a block's products for PRODUCTS. It chooses
// four_weights, and repeats what stands between "each" and "end" for each row of a thread, with the row's number for #.

const block = 512u; // products that are summed before a weight scales the sum
const columns_together = 64u;
const rows_together = ROWSu;

// The words of an operation: sources, segments, frames, before, channels, b, n, columns, bias, omega, two sources
// (at, row, step, k), out (3), scale.
@compute @workgroup_size(THREADS)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let op = call.op;
	let rows = run.sequences * call.rows;
	let top = group.y * rows_together + thread / 16u;
	let first = group.x * columns_together + thread % 16u;
	let sources = ops[op];
	let segments = ops[op + 1u];
	let frames = ops[op + 2u];
	let before = ops[op + 3u];
	let channels = ops[op + 4u];
	let n = ops[op + 6u];
	let columns = ops[op + 7u];
	let bias = ops[op + 8u] + first;
	let omega = ops[op + 9u];
// each
	let row# = min(top + #u * HEIGHTu, rows - 1u);
	var total# = vec4<f32>();
// end
	if sources == 1u {
		for (var s = 0u; s < segments; s++) {
			let v = four(bias + s * columns);
			if omega == none {
// each
				total# = v;
// end
			} else {
// each
				total# = fma(vec4<f32>(memory[omega + row# * segments + s]), v, total#);
// end
			}
		}
	}
	var b = ops[op + 5u] + group.x * columns_together / PER_WORDu + thread % 16u;
	for (var s = 0u; s < segments; s++) {
		let source = op + 10u + 4u * min(s, sources - 1u);
		let width = ops[source + 3u];
		let base = ops[source] + call.frame * ops[source + 2u] - before * channels; // may be below 0 for windows that begin before the memory
// each
		let at# = base + row# * ops[source + 1u];
		var from# = 0u;
		var to# = width;
		if s == 0u && channels < width { // a window may leave its sequence
			let t = row# % frames;
			from# = max(before, t) * channels - t * channels;
			to# = min(width, (frames - t + before) * channels);
		}
		var w# = SCALE;
		if omega != none {
			w# *= memory[omega + row# * segments + s];
		}
// end
		for (var k = 0u; k < width;) {
// each
			var sum# = vec4<f32>();
// end
			let end = min(k + block, width);
PRODUCTS
// each
			total# = fma(vec4<f32>(w#), sum#, total#);
// end
		}
	}
	if sources == 2u { // of an LSTM, whose bias comes last
// each
		total# += four(bias);
// end
	}
	let out = ops[op + 18u] + call.frame * ops[op + 20u] + first;
	let stride = ops[op + 19u];
// each
	if top + #u * HEIGHTu < rows {
		store(out + row# * stride, first, n, total#);
	}
// end
}

// four returns the constants of four columns.
fn four(at: u32) -> vec4<f32> {
	return vec4<f32>(constants[at], constants[at + 16u], constants[at + 32u], constants[at + 48u]);
}

// four_of_pairs returns the weights of four columns, two bfloat16 to a word.
fn four_of_pairs(at: u32) -> vec4<f32> {
	let u = bitcast<u32>(constants[at]);
	let v = bitcast<u32>(constants[at + 16u]);
	return vec4<f32>(bitcast<f32>(u << 16u), bitcast<f32>(u & 0xffff0000u), bitcast<f32>(v << 16u), bitcast<f32>(v & 0xffff0000u));
}

// four_of_halves returns the weights of four columns, two float16 to a word.
fn four_of_halves(at: u32) -> vec4<f32> {
	return vec4<f32>(unpack2x16float(bitcast<u32>(constants[at])), unpack2x16float(bitcast<u32>(constants[at + 16u])));
}

// value returns value k of the window at a place, which is zero outside of the sequence.
fn value(at: u32, k: u32, first: u32, end: u32) -> f32 {
	let there = k >= first && k < end;
	return select(0.0, memory[select(at + first, at + k, there)], there);
}

// store writes four columns as far as they exist.
fn store(at: u32, c: u32, n: u32, v: vec4<f32>) {
	if c < n {
		memory[at] = v.x;
	}
	if c + 16u < n {
		memory[at + 16u] = v.y;
	}
	if c + 32u < n {
		memory[at + 32u] = v.z;
	}
	if c + 48u < n {
		memory[at + 48u] = v.w;
	}
}

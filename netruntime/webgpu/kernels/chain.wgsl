// A chain of small operations on rows. A workgroup takes its rows through all of them: an operation may read what an
// earlier one has written for the same row.

const rows_together = 8u;
const threads = 64u;

const zero = 0u;
const copy = 1u;
const elementwise = 2u;
const add = 3u;
const dense = 4u;
const softmax = 5u;
const max_pool = 6u;
const depool = 7u;
const lstm = 8u;

// row_of returns where a row of the array that a word begins to describe is.
fn row_of(at: u32, row: u32) -> u32 {
	return ops[at] + row * ops[at + 1u] + call.frame * ops[at + 2u];
}

// weighted returns column c of a dense layer of the row at x. A sum of many products is one of sums of 512.
fn weighted(op: u32, x: u32, c: u32) -> f32 {
	let inputs = ops[op + 13u];
	let width = ops[op + 1u];
	var w = ops[op + 14u] + c;
	var total = constants[ops[op + 15u] + c];
	for (var begin = 0u; begin < inputs; begin += 512u) {
		var sum = 0.0;
		let end = min(begin + 512u, inputs);
		for (var k = begin; k < end; k++) {
			sum = fma(memory[x + k], constants[w], sum);
			w += width;
		}
		total += sum;
	}
	return total;
}

// larger is NaN if u or v is: then neither is the larger.
fn larger(u: f32, v: f32) -> f32 {
	return select(select(u + v, v, v >= u), u, u > v);
}

// The words of an operation: kind, width, x (3), x2 (3), columns, point (4), inputs, w, b, factor, out (3).
@compute @workgroup_size(64)
fn chain(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let row0 = group.x * rows_together;
	let rows = min(rows_together, run.sequences * call.rows - row0);
	var op = call.op;
	for (var i = 0u; i < call.count; i++) {
		let kind = ops[op];
		let width = ops[op + 1u];
		let each = select(rows * width, rows, kind == softmax);
		for (var e = thread; e < each; e += threads) {
			if kind == softmax {
				let x = row_of(op + 2u, row0 + e);
				let y = row_of(op + 17u, row0 + e);
				var top = memory[x];
				for (var c = 1u; c < width; c++) {
					top = max(top, memory[x + c]); // a NaN also reaches all values through the sum
				}
				var sum = 0.0;
				for (var c = 0u; c < width; c++) {
					let v = exponential(memory[x + c] - top);
					memory[y + c] = v;
					sum += v;
				}
				for (var c = 0u; c < width; c++) {
					memory[y + c] = memory[y + c] / sum;
				}
				continue;
			}
			let row = row0 + e / width;
			let c = e % width;
			let y = row_of(op + 17u, row) + c;
			let x = row_of(op + 2u, row);
			switch kind {
				case copy: {
					var column = c;
					if ops[op + 8u] != none {
						column = bitcast<u32>(constants[ops[op + 8u] + 2u * c]);
					}
					memory[y] = memory[x + column];
				}
				case elementwise: {
					memory[y] = point(op + 9u, c, memory[x + c]);
				}
				case add: {
					memory[y] = memory[x + c] + memory[row_of(op + 5u, row) + c];
				}
				case dense: {
					memory[y] = activation(ops[op + 10u], weighted(op, x, c));
				}
				case max_pool: {
					memory[y] = larger(memory[row_of(op + 2u, 2u * row) + c], memory[row_of(op + 2u, 2u * row + 1u) + c]);
				}
				case depool: {
					let factor = ops[op + 16u];
					memory[y] = 1.0 / f32(factor) * memory[row_of(op + 2u, row / factor) + c];
				}
				case lstm: {
					let cell = row_of(op + 5u, row) + c;
					let g = tanh_above(memory[x + 2u * width + c]);
					let state = memory[cell] / sigmoid_below(memory[x + width + c]) + g / ((abs(g) + 2.0) * sigmoid_below(memory[x + c]));
					let h = tanh_above(state);
					memory[cell] = state;
					memory[y] = h / ((abs(h) + 2.0) * sigmoid_below(memory[x + 3u * width + c]));
				}
				default: {
					memory[y] = 0.0;
				}
			}
		}
		op += 20u;
		storageBarrier();
	}
}

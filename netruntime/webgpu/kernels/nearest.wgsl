// The nearest of many points to queries, by the squares of their distances.
//
// A workgroup compares some queries with tiles of 64 points, a thread with one point of each. It writes the least cost of each
// query, the next least and the point; the processor takes the best of all workgroups. kernels.go repeats what stands between
// "each" and "end" for each four queries, with the number of the four for #.

const lanes = 64u;
const queries_together = QUERIESu;
const farthest = 3e38;

// The words of an operation: columns, points, tiles, workgroups along the tiles, the first query in memory, and in ops the first want and the first
// set of tags.
@compute @workgroup_size(64)
fn nearest(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let columns = ops[call.op];
	let points = ops[call.op + 1u];
	let tiles = ops[call.op + 2u];
	let groups = ops[call.op + 3u];
	let query = ops[call.op + 4u] + group.y * queries_together * columns;
	let want = ops[call.op + 5u] + group.y * queries_together * want_words;
	let tags = ops[call.op + 6u];
// each
	var best# = vec4<f32>(farthest);
	var next# = vec4<f32>(farthest);
	var point# = vec4<u32>(none);
// end
	for (var tile = group.x; tile < tiles; tile += groups) {
		let point = tile * lanes + thread;
		var at = tile * columns * lanes + thread;
		var q = query;
// each
		var cost# = vec4<f32>();
// end
		for (var c = 0u; c < columns; c++) {
			let v = vec4<f32>(constants[at]);
			at += lanes;
// each
			let e# = four(q + 4u * #u) - v;
			cost# = fma(e#, e#, cost#);
// end
			q += queries_together;
		}
		if point >= points {
			continue;
		}
// each
		if cost#.x < next#.x || cost#.y < next#.y || cost#.z < next#.z || cost#.w < next#.w {
			let w = want + 4u * #u * want_words;
			cost# = select(vec4<f32>(farthest), cost#, vec4<bool>(
				allowed(tags, points, w, point), allowed(tags, points, w + want_words, point),
				allowed(tags, points, w + 2u * want_words, point), allowed(tags, points, w + 3u * want_words, point)));
			let better = cost# < best#;
			next# = select(min(next#, cost#), best#, better);
			point# = select(point#, vec4<u32>(point), better);
			best# = select(best#, cost#, better);
		}
// end
	}
// each
	bests#[thread] = best#;
	nexts#[thread] = next#;
	points#[thread] = point#;
// end
	for (var half = lanes / 2u; half > 0u; half /= 2u) {
		workgroupBarrier();
		if thread < half {
// each
			{
				let a = bests#[thread];
				let b = bests#[thread + half];
				let better = b < a;
				nexts#[thread] = select(min(nexts#[thread], b), min(nexts#[thread + half], a), better);
				points#[thread] = select(points#[thread], points#[thread + half], better);
				bests#[thread] = select(a, b, better);
			}
// end
		}
	}
	if thread == 0u {
		for (var k = 0u; k < 4u; k++) {
// each
			{
				let out = 3u * ((group.y * queries_together + 4u * #u + k) * groups + group.x);
				memory[out] = bests#[0][k];
				memory[out + 1u] = nexts#[0][k];
				memory[out + 2u] = f32(points#[0][k]); // exact: there are fewer than 2²⁴ points
			}
// end
		}
	}
}

// each
var<workgroup> bests#: array<vec4<f32>, 64>;
var<workgroup> nexts#: array<vec4<f32>, 64>;
var<workgroup> points#: array<vec4<u32>, 64>;
// end

// four returns a column of four queries.
fn four(at: u32) -> vec4<f32> {
	return vec4<f32>(memory[at], memory[at + 1u], memory[at + 2u], memory[at + 3u]);
}

// The words of a want: the tags of must (2) and of never (2), the set of must, the first point that is left out and the one after the last.
const want_words = 8u;

// allowed reports whether a query may have a point.
fn allowed(tags: u32, points: u32, want: u32, point: u32) -> bool {
	let own = tags + 2u * point;
	let lasting = own + 2u * points * ops[want + 4u];
	return (ops[lasting] & ops[want]) == ops[want] && (ops[lasting + 1u] & ops[want + 1u]) == ops[want + 1u] &&
		(ops[own] & ops[want + 2u]) == 0u && (ops[own + 1u] & ops[want + 3u]) == 0u &&
		!(point >= ops[want + 5u] && point < ops[want + 6u]);
}

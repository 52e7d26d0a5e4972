// The matrix products of all networks: dense layers, convolutions, blends of
// experts and the gates of LSTMs.
//
// A block computes a tile of the result. It takes both sides in steps of 64
// bytes of the inner dimension through a ring of stages in shared memory; the
// copies of the next stages run while it multiplies. Every type of operand
// moves in the same way, in chunks of 16 bytes; only what a warp does with a
// step differs.
#ifndef MANNEQUIN_PRODUCT_H
#define MANNEQUIN_PRODUCT_H

#include "machine.h"
#include "ops.h"
#include "patch.h"
#include "point.h"

// offset returns where a chunk of a row of a stage is. Rows change places such
// that the eight rows that are read at once are in all banks: rows 8 apart in
// the same way, so that their distance is 8 * STEP, and chunk c is at that of
// c^2, xor 32.
__device__ __forceinline__ int offset(int row, int chunk) { return row * STEP + ((chunk ^ (row >> 1 & 3)) * CHUNK); }

// copies brings step after step of a tile's both sides into the ring. Nothing
// in it branches, so that the compiler can put it between multiplications.
template <class Unit, int M, int N, int THREADS>
struct copies {
	enum {
		EACH = CHUNK / Unit::bytes, // elements of a chunk
		DEPTH = STEP / Unit::bytes,
		LOADS_A = M * (STEP / CHUNK) / THREADS,
		LOADS_B = N * (STEP / CHUNK) / THREADS,
		GAP = THREADS * CHUNK / STEP, // rows between a thread's chunks
		STAGE = (M + N) * STEP,
	};
	int from[LOADS_A], to[LOADS_A];     // the part of each row's window that is there
	const unsigned char *a, *a0, *a1, *b; // the thread's first chunk of each side; where a source begins
	long long gap, gap1, b_step;
	shared_pointer at, end;
	int k, k1, remaining, until, steps1;
	bool two;

	__device__ __forceinline__ copies(const product& op, long long row0, int column0, long long rows, long long frame, int thread) {
		const int chunk = thread & 3, first = thread >> 2;
		const source &s0 = op.source[0], &s1 = op.source[1];
		two = op.sources > 1;
		a = a0 = reinterpret_cast<const unsigned char*>(s0.at) + ((row0 + first) * s0.row + frame * s0.step - op.before * op.channels) * Unit::bytes + chunk * CHUNK;
		a1 = reinterpret_cast<const unsigned char*>(s1.at) + ((row0 + first) * s1.row + frame * s1.step) * Unit::bytes + chunk * CHUNK;
		gap = GAP * s0.row * Unit::bytes, gap1 = GAP * s1.row * Unit::bytes;
		b = reinterpret_cast<const unsigned char*>(op.b) + static_cast<long long>(column0) * STEP + thread * CHUNK;
		b_step = op.columns * STEP;
		k = chunk * EACH, k1 = static_cast<int>(s1.k);
		until = static_cast<int>(s0.steps), steps1 = two ? static_cast<int>(s1.steps) : until;
		remaining = until + static_cast<int>(op.segments - 1) * steps1;
		at = shared_address(shared_memory()) + offset(first, chunk), end = at + STAGES * STAGE;
		const int window = static_cast<int>(s0.k);
		const bool one = op.channels >= s0.k; // frame: no window leaves its sequence
#pragma unroll
		for (int j = 0; j < LOADS_A; j++) {
			const long long row = row0 + first + j * GAP;
			long long lo = 0, hi = window;
			if (!one) {
				const long long t = row % op.frames;
				lo = (op.before - t) * op.channels, hi = (op.frames - t + op.before) * op.channels;
			}
			from[j] = lo > 0 ? static_cast<int>(lo) : 0;
			to[j] = row >= rows ? -1 : hi < window ? static_cast<int>(hi) : window;
		}
	}

	// rows copies some of the left side's chunks of the next step. Where there is
	// nothing to copy it writes zeros.
	__device__ __forceinline__ void rows(int j0, int j1) {
#pragma unroll
		for (int j = 0; j < LOADS_A; j++) {
			if (j < j0 || j >= j1) continue;
			const bool there = remaining > 0 && k >= from[j] && k < to[j];
			cp_async16(at + j * GAP * STEP, there ? a + j * gap : b, there ? CHUNK : 0);
		}
	}

	// finish copies the right side's chunks, and goes on to the next step.
	__device__ __forceinline__ void finish() {
#pragma unroll
		for (int j = 0; j < LOADS_B; j++) cp_async16(at + (M + j * GAP) * STEP, b + j * THREADS * CHUNK, remaining > 0 ? CHUNK : 0);
		cp_async_commit();
		b += remaining > 1 ? b_step : 0;
		at = at + STAGE == end ? at + STAGE - STAGES * STAGE : at + STAGE;
		remaining--;
		const bool wrap = --until == 0, next = wrap && two;
		until = wrap ? steps1 : until;
		k = wrap ? k % DEPTH : k + DEPTH;
		a = next ? a1 : wrap ? a0 : a + STEP;
		gap = next ? gap1 : gap;
#pragma unroll
		for (int j = 0; j < LOADS_A; j++) from[j] = next ? 0 : from[j], to[j] = next && to[j] >= 0 ? k1 : to[j];
	}
};

// Accumulators of a lane: element e of tile (mi, ni) of the warp is row
// mi*16 + e/2*8 + lane/4 and column ni*8 + lane%4*2 + e%2, as mma has it.

// matrix_unit multiplies by mma. It has the operands of half a step in
// registers while it loads those of the next half.
template <class Unit>
struct matrix_unit {
	template <int MI, int NI>
	static __device__ __forceinline__ void load(uint32_t (&fa)[MI][4], uint32_t (&fb)[NI][2], shared_pointer a, shared_pointer b) {
#pragma unroll
		for (int mi = 0; mi < MI; mi++) ldmatrix_x4(fa[mi], a + mi * 16 * STEP);
#pragma unroll
		for (int ni = 0; ni < NI; ni += 2) {
			uint32_t r[4];
			ldmatrix_x4(r, b + ni * 8 * STEP);
			fb[ni][0] = r[0], fb[ni][1] = r[1], fb[ni + 1][0] = r[2], fb[ni + 1][1] = r[3];
		}
	}

	// run takes the accumulators through all steps. begin is called as a segment
	// but the first begins; a and b are the warp's first row and column of a stage.
	template <int MI, int NI, class Copies, class Begin>
	static __device__ __forceinline__ void run(float (&acc)[MI][NI][4], Copies& copy, int steps0, int steps1, int total, int row0, int column0, int lane, Begin begin) {
		const int row = lane & 7, half = lane >> 3 & 1, upper = lane >> 4;
		const shared_pointer base = shared_address(shared_memory());
		shared_pointer a = base + offset(row0 + half * 8 + row, upper), b = base + offset(column0 + upper * 8 + row, half);
		const shared_pointer end = a + STAGES * Copies::STAGE;
		uint32_t fa[2][MI][4], fb[2][NI][2];
		int segment = 0, left = steps0;
		cp_async_wait<STAGES - 2>();
		__syncthreads();
		load(fa[0], fb[0], a, b);
#pragma unroll 1
		for (int step = 0; step < total; step++) {
			if (left == 0) {
				left = steps1;
				begin(++segment);
			}
			left--;
			load(fa[1], fb[1], a ^ 32, b ^ 32);
#pragma unroll
			for (int mi = 0; mi < MI; mi++) {
#pragma unroll
				for (int ni = 0; ni < NI; ni++) Unit::mma(acc[mi][ni], fa[0][mi], fb[0][ni]);
				// Into the stage before, which nobody reads since the last barrier.
				copy.rows(mi * Copies::LOADS_A / MI, (mi + 1) * Copies::LOADS_A / MI);
				if (mi == MI - 1) copy.finish();
			}
			cp_async_wait<STAGES - 2>();
			__syncthreads(); // the next stage has come; after the last one it is zeros
			const int to = a + Copies::STAGE == end ? Copies::STAGE - STAGES * Copies::STAGE : Copies::STAGE;
			a += to, b += to;
			load(fa[0], fb[0], a, b);
#pragma unroll
			for (int mi = 0; mi < MI; mi++) {
#pragma unroll
				for (int ni = 0; ni < NI; ni++) Unit::mma(acc[mi][ni], fa[1][mi], fb[1][ni]);
			}
		}
	}
};

struct unit_bf16 : matrix_unit<unit_bf16> {
	enum { bytes = 2 };
	static __device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) { mma_bf16(c, a, b); }
};

struct unit_tf32 : matrix_unit<unit_tf32> {
	enum { bytes = 4 };
	static __device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) { mma_tf32(c, a, b); }
};

// unit_fp32 multiplies in full float32.
struct unit_fp32 {
	enum { bytes = 4 };

	template <int MI, int NI, class Copies, class Begin>
	static __device__ __forceinline__ void run(float (&acc)[MI][NI][4], Copies& copy, int steps0, int steps1, int total, int row0, int column0, int lane, Begin begin) {
		const int row = lane >> 2, column = (lane & 3) * 2;
		int segment = 0, left = steps0;
#pragma unroll 1
		for (int step = 0; step < total; step++) {
			cp_async_wait<STAGES - 2>();
			__syncthreads(); // the stage has come, and nobody reads the one before it any more
			copy.rows(0, Copies::LOADS_A);
			copy.finish();
			if (left == 0) {
				left = steps1;
				begin(++segment);
			}
			left--;
			const unsigned char* const a = shared_memory() + step % STAGES * Copies::STAGE + row0 * STEP;
			const unsigned char* const b = shared_memory() + step % STAGES * Copies::STAGE + column0 * STEP;
#pragma unroll 1
			for (int k = 0; k < STEP / CHUNK; k++) {
				float4 fa[MI][2];
#pragma unroll
				for (int i = 0; i < 2 * MI; i++) fa[i / 2][i % 2] = *reinterpret_cast<const float4*>(a + offset(i * 8 + row, k));
#pragma unroll
				for (int ni = 0; ni < NI; ni++) {
#pragma unroll
					for (int j = 0; j < 2; j++) {
						const float4 v = *reinterpret_cast<const float4*>(b + offset(ni * 8 + column + j, k));
#pragma unroll
						for (int i = 0; i < 2 * MI; i++) {
							float& c = acc[i / 2][ni][i % 2 * 2 + j];
							const float4 u = fa[i / 2][i % 2];
							c = fmaf(u.x, v.x, c);
							c = fmaf(u.y, v.y, c);
							c = fmaf(u.z, v.z, c);
							c = fmaf(u.w, v.w, c);
						}
					}
				}
			}
		}
	}
};

// weight_of keeps a blend's weight from being so small that a sum divided by it
// overflows. What the expert then adds is far below what float32 resolves.
__device__ __forceinline__ float weight_of(float omega) {
	const float least = 8.6736174e-19f; // 2^-60
	return fabsf(omega) < least ? least : omega;
}

// multiply computes a tile of (WM*MI*16, WN*NI*8) with WM*WN warps.
//
// A blend's sum over experts of omega_s * S_s has one set of accumulators: at
// every expert it is (sum so far) * omega_{s-1} / omega_s + S_s, times the last
// expert's omega in the end.
template <class Unit, int WM, int WN, int MI, int NI>
__device__ __forceinline__ void multiply(const product* ops, long long rows, long long frame) {
	enum {
		M = WM * MI * 16,
		N = WN * NI * 8,
		PASS = 2,           // rows of tiles of a patch
		WIDTH = NI * 8 + 8, // floats of its rows: neighbours are in different banks
	};
	typedef copies<Unit, M, N, WM * WN * 32> ring;
	static_assert(PASS * 16 * WIDTH * 4 * WM * WN <= STAGES * ring::STAGE && MI % PASS == 0, "the patches fit the stages");
	const product& op = *ops;
	const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
	const int across = static_cast<int>((op.n + N - 1) / N);
	const long long row0 = static_cast<long long>(blockIdx.x / across) * M;
	const int column0 = static_cast<int>(blockIdx.x % across) * N;
	const int warp_row = (warp / WN) * MI * 16, warp_column = (warp % WN) * NI * 8;

	ring copy(op, row0, column0, rows, frame, thread);
	const int steps0 = copy.until, steps1 = copy.steps1, total = copy.remaining;
#pragma unroll 1
	for (int s = 0; s < STAGES - 1; s++) {
		copy.rows(0, ring::LOADS_A);
		copy.finish();
	}

	// The columns beyond the last have a bias, too, and the rows the last one's
	// weights: nothing of either is stored.
	const float* const bias = reinterpret_cast<const float*>(op.bias) + column0 + warp_column + (lane & 3) * 2;
	const long long columns = op.columns;
	const int segments = static_cast<int>(op.segments);
	const float* omega = reinterpret_cast<const float*>(op.omega);
	int weights[2 * MI]; // of each row, from its first on
	if (omega) {
		omega += row0 * segments;
		const int last = static_cast<int>(rows - row0 < M ? rows - row0 : M) - 1;
#pragma unroll
		for (int i = 0; i < 2 * MI; i++) {
			const int row = warp_row + (lane >> 2) + i * 8;
			weights[i] = (row < last ? row : last) * segments;
		}
	}
	float acc[MI][NI][4];
#pragma unroll
	for (int ni = 0; ni < NI; ni++) {
		const float2 v = *reinterpret_cast<const float2*>(bias + ni * 8);
#pragma unroll
		for (int mi = 0; mi < MI; mi++) acc[mi][ni][0] = acc[mi][ni][2] = v.x, acc[mi][ni][1] = acc[mi][ni][3] = v.y;
	}
	Unit::run(acc, copy, steps0, steps1, total, warp_row, M + warp_column, lane, [&](int s) {
		float ratio[2 * MI];
		if (omega) {
			float before[2 * MI], now[2 * MI];
#pragma unroll
			for (int i = 0; i < 2 * MI; i++) before[i] = omega[weights[i] + s - 1], now[i] = omega[weights[i] + s];
#pragma unroll
			for (int i = 0; i < 2 * MI; i++) ratio[i] = weight_of(before[i]) / weight_of(now[i]);
		} else {
#pragma unroll
			for (int i = 0; i < 2 * MI; i++) ratio[i] = 1.0f;
		}
#pragma unroll
		for (int ni = 0; ni < NI; ni++) {
			const float2 v = *reinterpret_cast<const float2*>(bias + s * columns + ni * 8);
#pragma unroll
			for (int i = 0; i < 2 * MI; i++) {
				float* const c = &acc[i / 2][ni][i % 2 * 2];
				c[0] = c[0] * ratio[i] + v.x, c[1] = c[1] * ratio[i] + v.y;
			}
		}
	});
	cp_async_wait<0>();
	if (omega) {
#pragma unroll
		for (int i = 0; i < 2 * MI; i++) {
			const float w = weight_of(omega[weights[i] + segments - 1]);
#pragma unroll
			for (int ni = 0; ni < NI; ni++) acc[i / 2][ni][i % 2 * 2] *= w, acc[i / 2][ni][i % 2 * 2 + 1] *= w;
		}
	}

	// The accumulators go through shared memory, so that a lane has neighbours
	// and what is done with them need not be written out for every register.
	__syncthreads();
	float* const memory = reinterpret_cast<float*>(shared_memory()) + warp * PASS * 16 * WIDTH;
#pragma unroll
	for (int pass = 0; pass < MI / PASS; pass++) {
		__syncwarp();
#pragma unroll
		for (int i = 0; i < 2 * PASS; i++) {
#pragma unroll
			for (int ni = 0; ni < NI; ni++) {
				const float* const c = &acc[pass * PASS + i / 2][ni][i % 2 * 2];
				float2 v;
				v.x = c[0], v.y = c[1];
				*reinterpret_cast<float2*>(memory + (i * 8 + (lane >> 2)) * WIDTH + ni * 8 + (lane & 3) * 2) = v;
			}
		}
		__syncwarp();
		const patch<PASS * 16, NI * 8, WIDTH> result = {memory, row0 + warp_row + pass * PASS * 16, column0 + warp_column, lane};
		result.apply(op);
		__syncwarp();
		result.store(op, rows, frame);
	}
}

#endif

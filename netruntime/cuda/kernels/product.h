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
#include "point.h"

enum { STEP = 64, CHUNK = 16, STAGES = 4 };

// offset returns where a chunk of a row of a stage is. Rows change places such
// that the eight rows that are read at once are in all banks.
__device__ __forceinline__ int offset(int row, int chunk) { return row * STEP + ((chunk ^ (row >> 1 & 3)) * CHUNK); }

// Accumulators of a lane: element e of tile (mi, ni) of the warp is row
// mi*16 + e/2*8 + lane/4 and column ni*8 + lane%4*2 + e%2, as mma has it.

// matrix_unit multiplies a step by mma.
template <class Unit>
struct matrix_unit {
	template <int MI, int NI>
	static __device__ __forceinline__ void step(float (&acc)[MI][NI][4], const unsigned char* a, const unsigned char* b, int lane) {
		const int row = lane & 7, half = lane >> 3 & 1, upper = lane >> 4;
#pragma unroll
		for (int k = 0; k < 2; k++) {
			uint32_t fa[MI][4], fb[NI][2];
#pragma unroll
			for (int mi = 0; mi < MI; mi++) ldmatrix_x4(fa[mi], a + offset(mi * 16 + half * 8 + row, k * 2 + upper));
#pragma unroll
			for (int ni = 0; ni < NI; ni += 2) {
				uint32_t r[4];
				ldmatrix_x4(r, b + offset(ni * 8 + upper * 8 + row, k * 2 + half));
				fb[ni][0] = r[0], fb[ni][1] = r[1], fb[ni + 1][0] = r[2], fb[ni + 1][1] = r[3];
			}
#pragma unroll
			for (int mi = 0; mi < MI; mi++) {
#pragma unroll
				for (int ni = 0; ni < NI; ni++) Unit::mma(acc[mi][ni], fa[mi], fb[ni]);
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

// unit_fp32 multiplies a step in full float32.
struct unit_fp32 {
	enum { bytes = 4 };
	template <int MI, int NI>
	static __device__ __forceinline__ void step(float (&acc)[MI][NI][4], const unsigned char* a, const unsigned char* b, int lane) {
		const int row = lane >> 2, column = (lane & 3) * 2;
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
					for (int mi = 0; mi < MI; mi++) {
#pragma unroll
						for (int h = 0; h < 2; h++) {
							float& c = acc[mi][ni][2 * h + j];
							const float4 u = fa[mi][h];
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

// finish applies the functions to a warp's patch of the result, rows of WIDTH
// floats, and stores it.
template <int COLUMNS, int ROWS, int WIDTH>
__device__ __forceinline__ void finish(const product& op, const float* patch, long long row0, long long rows, long long frame, int column0, int lane) {
	const int n = static_cast<int>(op.n);
	const int column = column0 + lane % (COLUMNS / 4) * 4;
#pragma unroll 1
	for (int r = lane / (COLUMNS / 4); r < ROWS; r += 32 / (COLUMNS / 4)) {
		const long long row = row0 + r;
		if (row >= rows || column >= n) break;
		const float4 u = *reinterpret_cast<const float4*>(patch + r * WIDTH + column - column0);
		float v[4] = {u.x, u.y, u.z, u.w};
#pragma unroll 1
		for (int p = 0; p < op.points; p++) apply4(op.point[p], v, column);
#pragma unroll 1
		for (int s = 0; s < SINKS; s++) {
			const sink& to = op.sink[s];
			if (to.type != NOTHING) store4(to, row * to.row + frame * to.step + column, v, n - column);
		}
	}
}

// multiply computes a tile of (WM*MI*16, WN*NI*8) with WM*WN warps.
//
// A blend's sum over experts of omega_s * S_s has one set of accumulators: at
// every expert it is (sum so far) * omega_{s-1} / omega_s + S_s, times the last
// expert's omega in the end.
template <class Unit, int WM, int WN, int MI, int NI>
__device__ __forceinline__ void multiply(const product* ops, long long rows, long long frame) {
	enum {
		THREADS = WM * WN * 32,
		M = WM * MI * 16,
		N = WN * NI * 8,
		EACH = CHUNK / Unit::bytes, // elements of a chunk
		DEPTH = STEP / Unit::bytes,
		LOADS_A = M * (STEP / CHUNK) / THREADS,
		LOADS_B = N * (STEP / CHUNK) / THREADS,
		GAP = THREADS * CHUNK / STEP, // rows between a thread's loads
		STAGE = (M + N) * STEP,
		PASS = 2,           // rows of tiles of a patch
		WIDTH = NI * 8 + 8, // floats of its rows: neighbours are in different banks
	};
	const product& op = *ops;
	unsigned char* const memory = shared_memory();
	const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
	const int across = static_cast<int>((op.n + N - 1) / N);
	const long long row0 = static_cast<long long>(blockIdx.x / across) * M;
	const int column0 = static_cast<int>(blockIdx.x % across) * N;
	const int segments = static_cast<int>(op.segments), sources = static_cast<int>(op.sources);

	// The chunk of every row that this thread copies, and the part [from, to) of
	// the row's window that is there.
	const int chunk = thread & 3, first = thread >> 2;
	const unsigned char* a[2];
	long long gap[2];
	int from[LOADS_A], to[LOADS_A];
#pragma unroll
	for (int s = 0; s < 2; s++) {
		const source& src = op.source[s];
		const long long begin = s == 0 ? op.before * op.channels : 0;
		a[s] = reinterpret_cast<const unsigned char*>(src.at) + ((row0 + first) * src.row + frame * src.step - begin) * Unit::bytes + chunk * CHUNK;
		gap[s] = GAP * src.row * Unit::bytes;
	}
#pragma unroll
	for (int j = 0; j < LOADS_A; j++) {
		const long long row = row0 + first + j * GAP;
		const long long t = row % op.frames, lo = (op.before - t) * op.channels, hi = (op.frames - t + op.before) * op.channels;
		from[j] = lo > 0 ? static_cast<int>(lo) : 0;
		to[j] = row >= rows ? -1 : hi < op.source[0].k ? static_cast<int>(hi) : static_cast<int>(op.source[0].k);
	}
	const unsigned char* b = reinterpret_cast<const unsigned char*>(op.b) + (static_cast<long long>(column0) * STEP) + thread * CHUNK;
	const long long b_step = op.columns * STEP;

	// Of the first segment, and of all others.
	const int steps0 = static_cast<int>(op.source[0].steps), steps1 = static_cast<int>(op.source[sources - 1].steps);
	const int k1 = static_cast<int>(op.source[1].k), total = steps0 + (segments - 1) * steps1;

	int load = 0, load_segment = 0, load_k = 0; // the next step to copy
	auto copy = [&]() {
		if (load < total) {
			const bool second = load_segment > 0 && sources > 1;
			unsigned char* stage = memory + (load % STAGES) * STAGE;
			const int k = load_k * DEPTH + chunk * EACH;
			const unsigned char* p = (second ? a[1] : a[0]) + load_k * STEP;
			const long long g = second ? gap[1] : gap[0];
#pragma unroll
			for (int j = 0; j < LOADS_A; j++) {
				const bool there = second ? to[j] >= 0 && k < k1 : k >= from[j] && k < to[j];
				cp_async16(stage + offset(first + j * GAP, chunk), there ? p + j * g : b, there ? CHUNK : 0);
			}
#pragma unroll
			for (int j = 0; j < LOADS_B; j++) cp_async16(stage + M * STEP + offset(first + j * GAP, chunk), b + j * THREADS * CHUNK, CHUNK);
			b += b_step;
			load++;
			if (++load_k == (load_segment > 0 ? steps1 : steps0)) load_k = 0, load_segment++;
		}
		cp_async_commit();
	};

	const int warp_row = (warp / WN) * MI * 16, warp_column = (warp % WN) * NI * 8;
	const long long my_row = row0 + warp_row + (lane >> 2);
	const int my_column = column0 + warp_column + (lane & 3) * 2;
	const float* const bias = reinterpret_cast<const float*>(op.bias) + my_column;
	const float* const omega = reinterpret_cast<const float*>(op.omega);
	float acc[MI][NI][4];
	// begin starts a segment. The bias of columns beyond the last is there too.
	auto begin = [&](int s) {
		float ratio[MI][2];
#pragma unroll
		for (int i = 0; i < 2 * MI; i++) {
			ratio[i / 2][i % 2] = s == 0 ? 0.0f : 1.0f;
			const long long row = my_row + i * 8;
			if (s > 0 && omega && row < rows) ratio[i / 2][i % 2] = weight_of(omega[row * segments + s - 1]) / weight_of(omega[row * segments + s]);
		}
#pragma unroll
		for (int ni = 0; ni < NI; ni++) {
			const float2 v = *reinterpret_cast<const float2*>(bias + s * op.columns + ni * 8);
#pragma unroll
			for (int mi = 0; mi < MI; mi++) {
#pragma unroll
				for (int e = 0; e < 4; e++) acc[mi][ni][e] = (s == 0 ? 0.0f : acc[mi][ni][e] * ratio[mi][e / 2]) + (e % 2 ? v.y : v.x);
			}
		}
	};

	static_assert(PASS * 16 * WIDTH * 4 * WM * WN <= STAGES * STAGE && MI % PASS == 0, "the patches fit the stages");
#pragma unroll 1
	for (int s = 0; s < STAGES - 1; s++) copy();
	int segment = 0, left = steps0;
	begin(0);
	for (int step = 0; step < total; step++) {
		cp_async_wait<STAGES - 2>();
		__syncthreads(); // the stage has come, and nobody reads the one before it any more
		copy();
		if (left == 0) {
			left = steps1;
			begin(++segment);
		}
		left--;
		const unsigned char* stage = memory + (step % STAGES) * STAGE;
		Unit::step(acc, stage + warp_row * STEP, stage + M * STEP + warp_column * STEP, lane);
	}
	cp_async_wait<0>();

	if (omega) {
#pragma unroll
		for (int i = 0; i < 2 * MI; i++) {
			const long long row = my_row + i * 8;
			const float w = row < rows ? weight_of(omega[row * segments + segments - 1]) : 0.0f;
#pragma unroll
			for (int ni = 0; ni < NI; ni++) acc[i / 2][ni][i % 2 * 2] *= w, acc[i / 2][ni][i % 2 * 2 + 1] *= w;
		}
	}
	// The accumulators go through shared memory, so that a lane has neighbours
	// and what is done with them need not be written out for every register.
	__syncthreads();
	float* const patch = reinterpret_cast<float*>(memory) + warp * PASS * 16 * WIDTH;
#pragma unroll
	for (int pass = 0; pass < MI / PASS; pass++) {
		if (pass > 0) __syncwarp();
#pragma unroll
		for (int i = 0; i < 2 * PASS; i++) {
#pragma unroll
			for (int ni = 0; ni < NI; ni++) {
				float2 v;
				v.x = acc[pass * PASS + i / 2][ni][i % 2 * 2], v.y = acc[pass * PASS + i / 2][ni][i % 2 * 2 + 1];
				*reinterpret_cast<float2*>(patch + (i * 8 + (lane >> 2)) * WIDTH + ni * 8 + (lane & 3) * 2) = v;
			}
		}
		__syncwarp();
		finish<NI * 8, PASS * 16, WIDTH>(op, patch, row0 + warp_row + pass * PASS * 16, rows, frame, column0 + warp_column, lane);
	}
}

#endif

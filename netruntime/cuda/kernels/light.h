// Chains of small operations on rows: gating networks, normalisation, pooling
// and all else that is not worth a launch of its own.
//
// A block takes its rows through all operations of the chain. An operation may
// read what an earlier one has written for the same row.
#ifndef MANNEQUIN_LIGHT_H
#define MANNEQUIN_LIGHT_H

#include "machine.h"
#include "ops.h"
#include "point.h"

enum { LIGHT_TOGETHER = 4 };

// array is where an operation reads a block's rows.
struct array {
	const float* at;
	long long row;

	__device__ __forceinline__ array(const sink& s, long long row0, long long frame) : at(reinterpret_cast<const float*>(s.at) + row0 * s.row + frame * s.step), row(s.row) {}
	__device__ __forceinline__ const float* operator[](int r) const { return at + r * row; }
};

// result is where an operation stores a block's rows.
struct result {
	unsigned char* at[SINKS];
	long long row[SINKS];
	int type[SINKS];

	__device__ __forceinline__ result(const light& op, long long row0, long long frame) {
#pragma unroll
		for (int s = 0; s < SINKS; s++) {
			const sink& to = op.sink[s];
			type[s] = static_cast<int>(to.type), row[s] = to.row;
			at[s] = reinterpret_cast<unsigned char*>(to.at) + (row0 * to.row + frame * to.step) * (type[s] == BF16 ? 2 : 4);
		}
	}

	__device__ __forceinline__ void put(int r, int c, float v) const {
#pragma unroll
		for (int s = 0; s < SINKS; s++) {
			const long long i = r * row[s] + c;
			if (type[s] == FLOAT32) store1<FLOAT32>(at[s], i, v);
			if (type[s] == TF32) store1<TF32>(at[s], i, v);
			if (type[s] == BF16) store1<BF16>(at[s], i, v);
		}
	}
};

// each stores f(row, column) for all elements, a row to a warp.
template <class F>
__device__ __forceinline__ void each(const result& y, int rows, int width, F f) {
	for (int r = threadIdx.x / 32; r < rows; r += LIGHT_THREADS / 32) {
		for (int c = threadIdx.x % 32; c < width; c += 32) y.put(r, c, f(r, c));
	}
}

// dense gives a thread a column of some rows: it reads each weight once.
__device__ __forceinline__ void dense(const light& op, const array& x, const result& y, int rows, int width) {
	const float *const w = reinterpret_cast<const float*>(op.w), *const b = reinterpret_cast<const float*>(op.b);
	const int inputs = static_cast<int>(op.inputs), act = static_cast<int>(op.point.act);
	for (int j = threadIdx.x; j < (LIGHT_ROWS / LIGHT_TOGETHER) * width; j += LIGHT_THREADS) {
		const int c = j % width, r = j / width * LIGHT_TOGETHER;
		if (r >= rows) break;
		const float* in[LIGHT_TOGETHER];
		float sum[LIGHT_TOGETHER];
#pragma unroll
		for (int q = 0; q < LIGHT_TOGETHER; q++) in[q] = x[r + q < rows ? r + q : r], sum[q] = b[c];
		for (int k = 0; k < inputs; k++) {
			const float v = w[static_cast<long long>(k) * width + c];
#pragma unroll
			for (int q = 0; q < LIGHT_TOGETHER; q++) sum[q] = fmaf(v, in[q][k], sum[q]);
		}
#pragma unroll
		for (int q = 0; q < LIGHT_TOGETHER; q++) {
			if (r + q < rows) y.put(r + q, c, activate(act, sum[q]));
		}
	}
}

// softmax gives a thread a row.
__device__ __forceinline__ void softmax(const array& x, const result& y, int rows, int width) {
	for (int r = threadIdx.x; r < rows; r += LIGHT_THREADS) {
		const float* const in = x[r];
		float top = in[0], sum = 0.0f;
		for (int c = 1; c < width; c++) top = in[c] > top || in[c] != in[c] ? in[c] : top;
		for (int c = 0; c < width; c++) sum += expf(in[c] - top);
		for (int c = 0; c < width; c++) y.put(r, c, expf(in[c] - top) / sum);
	}
}

__device__ __forceinline__ void point_of(const light& op, const array& x, const result& y, int rows, int width) {
	const float *const scale = reinterpret_cast<const float*>(op.point.scale), *const rest = reinterpret_cast<const float*>(op.point.rest);
	const int act = static_cast<int>(op.point.act);
	switch (static_cast<int>(op.point.kind)) {
	case ACTIVATE: return each(y, rows, width, [&](int r, int c) { return activate(act, x[r][c]); });
	case AFFINE: return each(y, rows, width, [&](int r, int c) { return x[r][c] * scale[c] + rest[c]; });
	case NORMALIZE: return each(y, rows, width, [&](int r, int c) { return (x[r][c] - rest[c]) * scale[c]; });
	case SKIP: return each(y, rows, width, [&](int r, int c) { return x[r][c] < rest[c] ? 0.0f : x[r][c]; });
	}
}

__device__ __forceinline__ void run_light(const light* ops, long long count, long long rows, long long frame) {
	const long long row0 = static_cast<long long>(blockIdx.x) * LIGHT_ROWS;
	const int n = static_cast<int>(rows - row0 < LIGHT_ROWS ? rows - row0 : LIGHT_ROWS);
	for (long long i = 0; i < count; i++) {
		const light& op = ops[i];
		const int kind = static_cast<int>(op.kind), width = static_cast<int>(op.width);
		const result y(op, row0, frame);
		// A pool's row is of two rows, a depool's of half of one.
		const array x(op.x, kind == MAX_POOL ? 2 * row0 : kind == DEPOOL ? row0 / 2 : row0, frame);
		switch (kind) {
		case ZERO:
			each(y, n, width, [&](int, int) { return 0.0f; });
			break;
		case COPY:
			if (op.column) {
				const long long* const column = reinterpret_cast<const long long*>(op.column);
				each(y, n, width, [&](int r, int c) { return x[r][column[c]]; });
			} else {
				each(y, n, width, [&](int r, int c) { return x[r][c]; });
			}
			break;
		case POINT:
			point_of(op, x, y, n, width);
			break;
		case ADD: {
			const array x2(op.x2, row0, frame);
			each(y, n, width, [&](int r, int c) { return x[r][c] + x2[r][c]; });
			break;
		}
		case DENSE:
			dense(op, x, y, n, width);
			break;
		case SOFTMAX:
			softmax(x, y, n, width);
			break;
		case MAX_POOL:
			each(y, n, width, [&](int r, int c) {
				const float u = x[2 * r][c], v = x[2 * r + 1][c];
				return u > v || u != u ? u : v;
			});
			break;
		case DEPOOL:
			each(y, n, width, [&](int r, int c) { return 0.5f * x[r / 2][c]; });
			break;
		case LSTM: {
			const array cells(op.x2, row0, 0);
			each(y, n, width, [&](int r, int c) {
				const float* const g = x[r];
				float* const state = const_cast<float*>(cells[r]) + c;
				*state = activate<SIGMOID>(g[width + c]) * *state + activate<SIGMOID>(g[c]) * activate<TANH>(g[2 * width + c]);
				return activate<SIGMOID>(g[3 * width + c]) * activate<TANH>(*state);
			});
			break;
		}
		}
		__syncthreads();
	}
}

#endif

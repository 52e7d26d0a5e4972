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

enum { LIGHT_ROWS = 32, LIGHT_THREADS = 256, LIGHT_TOGETHER = 4 };

__device__ __forceinline__ float* row_of(const sink& s, long long row, long long frame) {
	return reinterpret_cast<float*>(s.at) + row * s.row + frame * s.step;
}

__device__ __forceinline__ void put(const light& op, long long row, long long frame, int column, float v) {
#pragma unroll
	for (int s = 0; s < SINKS; s++) {
		const sink& to = op.sink[s];
		if (to.type != NOTHING) store(to, row * to.row + frame * to.step + column, v);
	}
}

__device__ __forceinline__ float element(const light& op, long long row, long long frame, int c) {
	const float* x = row_of(op.x, row, frame);
	switch (op.kind) {
	case COPY:
		return x[op.column ? reinterpret_cast<const long long*>(op.column)[c] : c];
	case POINT:
		return apply(op.point, x[c], op.point.scale ? reinterpret_cast<const float*>(op.point.scale)[c] : 0.0f,
		             op.point.rest ? reinterpret_cast<const float*>(op.point.rest)[c] : 0.0f);
	case ADD:
		return x[c] + row_of(op.x2, row, frame)[c];
	case MAX_POOL: {
		const float u = row_of(op.x, 2 * row, frame)[c], v = row_of(op.x, 2 * row + 1, frame)[c];
		return u > v || u != u ? u : v;
	}
	case DEPOOL:
		return 0.5f * row_of(op.x, row / 2, frame)[c];
	case LSTM: {
		const int n = static_cast<int>(op.width);
		const float in = activate(SIGMOID, x[c]), forget = activate(SIGMOID, x[n + c]), cell = activate(TANH, x[2 * n + c]), out = activate(SIGMOID, x[3 * n + c]);
		float* state = row_of(op.x2, row, 0) + c;
		*state = forget * *state + in * cell;
		return out * activate(TANH, *state);
	}
	}
	return 0.0f;
}

__device__ __forceinline__ void run_light(const light* ops, long long count, long long rows, long long frame) {
	const long long row0 = static_cast<long long>(blockIdx.x) * LIGHT_ROWS;
	const int n = static_cast<int>(rows - row0 < LIGHT_ROWS ? rows - row0 : LIGHT_ROWS);
	for (long long i = 0; i < count; i++) {
		const light& op = ops[i];
		const int width = static_cast<int>(op.width);
		if (op.kind == DENSE) {
			// A thread computes a column of some rows, and reads each weight once.
			const float* const w = reinterpret_cast<const float*>(op.w);
			const int inputs = static_cast<int>(op.inputs);
			for (int j = threadIdx.x; j < (LIGHT_ROWS / LIGHT_TOGETHER) * width; j += LIGHT_THREADS) {
				const int c = j % width, r = j / width * LIGHT_TOGETHER;
				if (r >= n) break;
				const float* x[LIGHT_TOGETHER];
				float sum[LIGHT_TOGETHER];
#pragma unroll
				for (int q = 0; q < LIGHT_TOGETHER; q++) {
					x[q] = row_of(op.x, row0 + (r + q < n ? r + q : r), frame);
					sum[q] = reinterpret_cast<const float*>(op.b)[c];
				}
				for (int k = 0; k < inputs; k++) {
					const float v = w[static_cast<long long>(k) * width + c];
#pragma unroll
					for (int q = 0; q < LIGHT_TOGETHER; q++) sum[q] = fmaf(v, x[q][k], sum[q]);
				}
#pragma unroll
				for (int q = 0; q < LIGHT_TOGETHER; q++) {
					if (r + q < n) put(op, row0 + r + q, frame, c, apply(op.point, sum[q], 0.0f, 0.0f));
				}
			}
		} else if (op.kind == SOFTMAX) {
			for (int r = threadIdx.x; r < n; r += LIGHT_THREADS) {
				const float* const x = row_of(op.x, row0 + r, frame);
				float top = x[0], sum = 0.0f;
				for (int c = 1; c < width; c++) top = x[c] > top || x[c] != x[c] ? x[c] : top;
				for (int c = 0; c < width; c++) sum += expf(x[c] - top);
				for (int c = 0; c < width; c++) put(op, row0 + r, frame, c, expf(x[c] - top) / sum);
			}
		} else {
			for (int j = threadIdx.x; j < n * width; j += LIGHT_THREADS) {
				const int r = j / width, c = j % width;
				put(op, row0 + r, frame, c, element(op, row0 + r, frame, c));
			}
		}
		__syncthreads();
	}
}

#endif

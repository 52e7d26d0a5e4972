// What a product does with its result: a warp has a patch of it in shared
// memory, applies the elementwise functions and stores it in all types.
#ifndef MANNEQUIN_PATCH_H
#define MANNEQUIN_PATCH_H

#include "machine.h"
#include "ops.h"
#include "point.h"

// patch is ROWS by COLUMNS of a product's result, WIDTH floats from row to row.
// A lane has four columns of every row that it visits.
template <int ROWS, int COLUMNS, int WIDTH>
struct patch {
	enum {
		LANES = COLUMNS / 4, // of a row
		TOGETHER = 32 / LANES,
	};
	float* memory;
	long long row0;
	int column0, lane;

	__device__ __forceinline__ float* mine() const { return memory + lane / LANES * WIDTH + lane % LANES * 4; }

	// each replaces the lane's values by f of them and their column, 0 to 3. Some
	// rows are on their way at once.
	template <class F>
	__device__ __forceinline__ void each(F f) const {
		float* const at = mine();
#pragma unroll 4
		for (int r = 0; r < ROWS; r += TOGETHER) {
			float4 u = *reinterpret_cast<float4*>(at + r * WIDTH);
			u.x = f(u.x, 0), u.y = f(u.y, 1), u.z = f(u.z, 2), u.w = f(u.w, 3);
			*reinterpret_cast<float4*>(at + r * WIDTH) = u;
		}
	}

	// apply applies the product's functions.
	__device__ __forceinline__ void apply(const product& op) const {
		const int column = column0 + lane % LANES * 4, n = static_cast<int>(op.n), points = static_cast<int>(op.points);
#pragma unroll 1
		for (int p = 0; p < points; p++) {
			const int kind = static_cast<int>(op.point[p].kind), act = static_cast<int>(op.point[p].act);
			float4 s, t;
			s.x = s.y = s.z = s.w = 0.0f, t = s;
			if (column < n && op.point[p].scale) s = *reinterpret_cast<const float4*>(reinterpret_cast<const float*>(op.point[p].scale) + column);
			if (column < n && op.point[p].rest) t = *reinterpret_cast<const float4*>(reinterpret_cast<const float*>(op.point[p].rest) + column);
			const float scale[4] = {s.x, s.y, s.z, s.w}, rest[4] = {t.x, t.y, t.z, t.w};
			if (kind == AFFINE) {
				each([&](float v, int c) { return v * scale[c] + rest[c]; });
			} else if (kind == NORMALIZE) {
				each([&](float v, int c) { return (v - rest[c]) * scale[c]; });
			} else if (kind == SKIP) {
				each([&](float v, int c) { return v < rest[c] ? 0.0f : v; });
			} else if (act == ELU) {
				each([&](float v, int) { return activate<ELU>(v); });
			} else if (act == RELU) {
				each([&](float v, int) { return activate<RELU>(v); });
			} else if (act == SIGMOID) {
				each([&](float v, int) { return activate<SIGMOID>(v); });
			} else if (act == TANH) {
				each([&](float v, int) { return activate<TANH>(v); });
			}
		}
	}

	// store stores the rows below rows.
	__device__ __forceinline__ void store(const product& op, long long rows, long long frame) const {
		const int n = static_cast<int>(op.n) - column0; // columns that there are
		const int left = rows - row0 < ROWS ? static_cast<int>(rows - row0) : ROWS;
#pragma unroll 1
		for (int s = 0; s < SINKS; s++) {
			const int type = static_cast<int>(op.sink[s].type);
			const long long row = op.sink[s].row, at = row0 * row + frame * op.sink[s].step + column0;
			if (type == BF16) {
				fours<BF16>(op.sink[s].at, at, row, left, n);
			} else if (type == NOTHING) {
				continue;
			} else if ((row & 3) != 0 || (at & 3) != 0) {
				ones(op.sink[s].at, at, row, left, n, type == TF32);
			} else if (type == TF32) {
				fours<TF32>(op.sink[s].at, at, row, left, n);
			} else {
				fours<FLOAT32>(op.sink[s].at, at, row, left, n);
			}
		}
	}

	// fours stores to rows that begin at multiples of four elements.
	template <int TYPE>
	__device__ __forceinline__ void fours(address base, long long at, long long row, int left, int n) const {
		const int first = lane / LANES, column = lane % LANES * 4;
		unsigned char* to = reinterpret_cast<unsigned char*>(base) + (at + first * row + column) * (TYPE == BF16 ? 2 : 4);
		const long long gap = TOGETHER * row * (TYPE == BF16 ? 2 : 4);
		const float* from = mine();
		if (column + 4 <= n) {
#pragma unroll 4
			for (int r = first; r < left; r += TOGETHER, to += gap, from += TOGETHER * WIDTH) store4<TYPE>(to, *reinterpret_cast<const float4*>(from));
		} else {
			for (int r = first; r < left; r += TOGETHER, to += gap, from += TOGETHER * WIDTH) {
				for (int c = 0; column + c < n; c++) store1<TYPE>(to, c, from[c]);
			}
		}
	}

	// ones stores to rows that begin anywhere: neighbouring lanes to neighbouring
	// elements.
	__device__ __forceinline__ void ones(address base, long long at, long long row, int left, int n, bool tf32) const {
		float* to = reinterpret_cast<float*>(base) + at;
#pragma unroll 4
		for (int r = 0; r < left; r++, to += row) {
#pragma unroll
			for (int c = 0; c < COLUMNS; c += 32) {
				const float v = memory[r * WIDTH + c + lane];
				if (c + lane < n) to[c + lane] = tf32 ? to_tf32(v) : v;
			}
		}
	}
};

#endif

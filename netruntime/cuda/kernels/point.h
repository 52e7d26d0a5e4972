// Elementwise functions, and stores in any type.
#ifndef MANNEQUIN_POINT_H
#define MANNEQUIN_POINT_H

#include "machine.h"
#include "ops.h"

// activate lets NaN through.
__device__ __forceinline__ float activate(long long act, float v) {
	if (act == IDENTITY) return v;
	if (act == RELU) return v < 0.0f ? 0.0f : v;
	const float e = expf(act == ELU ? v : act == SIGMOID ? -v : 2.0f * v);
	if (act == ELU) return v > 0.0f ? v : e - 1.0f;
	return act == SIGMOID ? 1.0f / (1.0f + e) : 1.0f - 2.0f / (1.0f + e);
}

__device__ __forceinline__ float apply(const point& f, float v, float scale, float rest) {
	if (f.kind == ACTIVATE) return activate(f.act, v);
	if (f.kind == SKIP) return v < rest ? 0.0f : v;
	return f.kind == AFFINE ? v * scale + rest : (v - rest) * scale;
}

__device__ __forceinline__ void store(const sink& to, long long at, float v) {
	if (to.type == BF16) {
		reinterpret_cast<uint16_t*>(to.at)[at] = to_bf16(v);
	} else {
		reinterpret_cast<float*>(to.at)[at] = to.type == TF32 ? to_tf32(v) : v;
	}
}

// apply4 applies f to four columns. The vectors have some values more than there
// are columns.
__device__ __forceinline__ void apply4(const point& f, float (&v)[4], int column) {
	float4 scale, rest;
	scale.x = scale.y = scale.z = scale.w = 0.0f, rest = scale;
	if (f.scale) scale = *reinterpret_cast<const float4*>(reinterpret_cast<const float*>(f.scale) + column);
	if (f.rest) rest = *reinterpret_cast<const float4*>(reinterpret_cast<const float*>(f.rest) + column);
	v[0] = apply(f, v[0], scale.x, rest.x);
	v[1] = apply(f, v[1], scale.y, rest.y);
	v[2] = apply(f, v[2], scale.z, rest.z);
	v[3] = apply(f, v[3], scale.w, rest.w);
}

// store4 stores the first n of four neighbours.
__device__ __forceinline__ void store4(const sink& to, long long at, const float (&v)[4], int n) {
	if (n < 4 || (at & 3) != 0) {
		for (int i = 0; i < 4; i++) {
			if (i < n) store(to, at + i, v[i]);
		}
	} else if (to.type == BF16) {
		uint2 u;
		u.x = pack_bf16(v[0], v[1]), u.y = pack_bf16(v[2], v[3]);
		*reinterpret_cast<uint2*>(reinterpret_cast<uint16_t*>(to.at) + at) = u;
	} else {
		const bool round = to.type == TF32;
		float4 u;
		u.x = round ? to_tf32(v[0]) : v[0], u.y = round ? to_tf32(v[1]) : v[1];
		u.z = round ? to_tf32(v[2]) : v[2], u.w = round ? to_tf32(v[3]) : v[3];
		*reinterpret_cast<float4*>(reinterpret_cast<float*>(to.at) + at) = u;
	}
}

#endif

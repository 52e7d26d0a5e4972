// Elementwise functions, and stores in any type.
#ifndef MANNEQUIN_POINT_H
#define MANNEQUIN_POINT_H

#include "machine.h"
#include "ops.h"

// activate lets NaN through.
template <int ACT>
__device__ __forceinline__ float activate(float v) {
	if (ACT == IDENTITY) return v;
	if (ACT == RELU) return v < 0.0f ? 0.0f : v;
	const float e = expf(ACT == ELU ? v : ACT == SIGMOID ? -v : 2.0f * v);
	if (ACT == ELU) return v > 0.0f ? v : e - 1.0f;
	return ACT == SIGMOID ? 1.0f / (1.0f + e) : 1.0f - 2.0f / (1.0f + e);
}

__device__ __forceinline__ float activate(int act, float v) {
	switch (act) {
	case ELU: return activate<ELU>(v);
	case RELU: return activate<RELU>(v);
	case SIGMOID: return activate<SIGMOID>(v);
	case TANH: return activate<TANH>(v);
	}
	return v;
}

// store1 stores v as element i of an array.
template <int TYPE>
__device__ __forceinline__ void store1(void* to, long long i, float v) {
	if (TYPE == BF16) {
		static_cast<uint16_t*>(to)[i] = to_bf16(v);
	} else {
		static_cast<float*>(to)[i] = TYPE == TF32 ? to_tf32(v) : v;
	}
}

// store4 stores four elements; to is a multiple of their size together.
template <int TYPE>
__device__ __forceinline__ void store4(void* to, float4 v) {
	if (TYPE == BF16) {
		uint2 u;
		u.x = pack_bf16(v.x, v.y), u.y = pack_bf16(v.z, v.w);
		*static_cast<uint2*>(to) = u;
	} else {
		if (TYPE == TF32) v.x = to_tf32(v.x), v.y = to_tf32(v.y), v.z = to_tf32(v.z), v.w = to_tf32(v.w);
		*static_cast<float4*>(to) = v;
	}
}

#endif

// What the kernels ask of the machine: on a GPU of compute capability 8.0 or
// newer. host/machine.h has the same for tests on a processor.
#ifndef MANNEQUIN_MACHINE_H
#define MANNEQUIN_MACHINE_H

#include <stdint.h>

__device__ __forceinline__ unsigned char* shared_memory() {
	extern __shared__ __align__(128) unsigned char memory[];
	return memory;
}

// shared_pointer is an address in shared memory, whose beginning is a multiple
// of 128.
typedef uint32_t shared_pointer;

__device__ __forceinline__ shared_pointer shared_address(const void* p) {
	return static_cast<shared_pointer>(__cvta_generic_to_shared(p));
}

// cp_async16 copies 16 bytes, the first `bytes` of them from global memory and
// zeros after them, until cp_async_wait.
__device__ __forceinline__ void cp_async16(shared_pointer to, const void* global, int bytes) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}

__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// cp_async_wait waits for all but the N groups committed last.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// ldmatrix_x4 loads four matrices of 8 rows of 16 bytes; lane l gives row l%8 of
// matrix l/8.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], shared_pointer row) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
	             : "r"(row)
	             : "memory");
}

// mma_bf16 is C += A B of 16x16 and 16x8.
__device__ __forceinline__ void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// mma_tf32 is C += A B of 16x8 and 8x8.
__device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint16_t to_bf16(float v) {
	uint16_t r;
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v));
	return r;
}

__device__ __forceinline__ uint32_t pack_bf16(float lo, float hi) {
	uint32_t r;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
	return r;
}

__device__ __forceinline__ float to_tf32(float v) {
	uint32_t r;
	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
	return __uint_as_float(r);
}

__device__ __forceinline__ void fault() { asm volatile("trap;"); }

#endif

// The machine for kernels on the host. It replaces the device's machine.h,
// through the include path or by being included first: both have the same
// guard.
//
// The host is stricter than a device. Shared memory and the targets of pending
// copies hold NaN (all bits set) until they are written. Anything that is
// undefined on a device ends the program with a message.
#ifndef MANNEQUIN_MACHINE_H
#define MANNEQUIN_MACHINE_H

#include "block.h"

#include <cmath>

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#pragma GCC visibility push(hidden)

// CUDA's types of several values, with the same alignment.

struct alignas(8) uint2 {
  unsigned x, y;
};

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

struct alignas(8) float2 {
  float x, y;
};

struct alignas(16) float4 {
  float x, y, z, w;
};

// shared_memory belongs to the block, with the launch's number of bytes.
inline unsigned char* shared_memory() { return host::block.shared; }

inline void __syncthreads() {
  using namespace host;
  if (block.returned) die("__syncthreads: %d threads of the block have returned", block.returned);
  self->at = at_syncthreads;
  if (++block.arrived == block.threads) {
    block.arrived = 0;
    for (int i = 0; i < block.threads / 32; i++) wake(i);
  }
  yield();
}

inline void __syncwarp() {
  if (host::arrive(host::at_syncwarp)) host::leave();
}

// fault ends the launch with an error.
[[noreturn]] inline void fault() { host::fail("fault()"); }

namespace host {

inline void check_shared(const char* what, const void* p) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(p), begin = reinterpret_cast<uintptr_t>(block.shared);
  if (at % 16) die("%s: shared address %p is not a multiple of 16", what, p);
  if (at < begin || at + 16 > begin + (block.launch->shared + 15) / 16 * 16)
    die("%s: address %p is not in shared memory, %zu bytes from %p", what, p, block.launch->shared,
        static_cast<void*>(block.shared));
}

}  // namespace host

// cp_async16 copies 16 bytes to shared memory: the first bytes of them from
// global, the rest are zero. The copy ends at cp_async_wait, and here never
// before.
inline void cp_async16(void* shared, const void* global, int bytes) {
  using namespace host;
  check_shared("cp_async16", shared);
  if (reinterpret_cast<uintptr_t>(global) % 16) die("cp_async16: global address %p is not a multiple of 16", global);
  if (bytes < 0 || bytes > 16) die("cp_async16: %d bytes", bytes);
  memset(shared, 0xff, 16);
  self->copies.push_back({static_cast<unsigned char*>(shared), global, bytes, self->group});
}

// shared_pointer is an address in shared memory, which begins at a multiple of
// 128.
typedef uintptr_t shared_pointer;

inline shared_pointer shared_address(const void* p) { return reinterpret_cast<shared_pointer>(p); }

inline void cp_async16(shared_pointer to, const void* global, int bytes) {
  cp_async16(reinterpret_cast<void*>(to), global, bytes);
}

// cp_async_commit closes the group of the thread's copies since the last one.
inline void cp_async_commit() { host::self->group++; }

// cp_async_wait waits for all groups of the thread except the newest N.
template <int N>
inline void cp_async_wait() {
  std::vector<host::Copy>& copies = host::self->copies;
  size_t done = 0;
  for (; done < copies.size() && copies[done].group < host::self->group - N; done++) {
    const host::Copy& c = copies[done];
    memset(c.shared, 0, 16);
    if (c.bytes) memcpy(c.shared, c.global, c.bytes);
  }
  copies.erase(copies.begin(), copies.begin() + done);
}

// ldmatrix_x4 loads four matrices of 8 rows of 16 bytes for a warp. Lane l
// gives the address of row l%8 of matrix l/8. It gets 4 bytes of row l/4 of
// each matrix.
inline void ldmatrix_x4(uint32_t r[4], const void* row) {
  using namespace host;
  check_shared("ldmatrix_x4", row);
  if (!arrive(at_ldmatrix, r, row)) return;
  for (int l = 0; l < 32; l++) {
    uint32_t* to = static_cast<uint32_t*>(lane(l).result);
    for (int m = 0; m < 4; m++)
      memcpy(&to[m], static_cast<const char*>(lane(8 * m + l / 4).operands[0]) + 4 * (l % 4), 4);
  }
  leave();
}

inline void ldmatrix_x4(uint32_t r[4], shared_pointer row) { ldmatrix_x4(r, reinterpret_cast<const void*>(row)); }

inline float from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

inline uint32_t to_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

// to_bf16 rounds to nearest, ties to even.
inline uint16_t to_bf16(float f) {
  const uint32_t u = to_bits(f);
  if (f != f) return u >> 16 | 0x40;  // a NaN with only low bits would become infinite
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

inline float from_bf16(uint16_t h) { return from_bits(uint32_t(h) << 16); }

inline uint32_t pack_bf16(float lo, float hi) { return to_bf16(lo) | uint32_t(to_bf16(hi)) << 16; }

// to_tf32 rounds to 10 bits of mantissa, ties away from zero.
inline float to_tf32(float f) {
  const uint32_t u = to_bits(f);
  if (f != f) return from_bits((u | 0x400000) & ~0x1fffu);
  return from_bits((u + 0x1000) & ~0x1fffu);
}

namespace host {

// multiply adds a (16, K) times b (K, 8) to the warp's c (16, 8).
template <int K>
inline void multiply(const float (&a)[16][K], const float (&b)[K][8]) {
  float sums[16][8];
  float* c[32];
  for (int l = 0; l < 32; l++) {
    c[l] = static_cast<float*>(lane(l).result);
    for (int i = 0; i < 4; i++) sums[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2] = c[l][i];
  }
  for (int i = 0; i < 16; i++) {
    float row[8];
    memcpy(row, sums[i], sizeof row);
    for (int k = 0; k < K; k++)
      for (int j = 0; j < 8; j++) row[j] += a[i][k] * b[k][j];
    memcpy(sums[i], row, sizeof row);
  }
  for (int l = 0; l < 32; l++)
    for (int i = 0; i < 4; i++) c[l][i] = sums[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
}

inline const uint32_t* words(int l, int operand) { return static_cast<const uint32_t*>(lane(l).operands[operand]); }

}  // namespace host

// mma_bf16 adds a (16, 16) times b (16, 8), both bfloat16, to c (16, 8) for a
// warp. Of lane l, with g = l/4 and t = l%4: c holds columns 2t and 2t+1 of
// rows g and g+8; a holds columns 2t, 2t+1 of rows g, g+8, and then columns
// 2t+8, 2t+9 of both; b holds rows 2t, 2t+1 and 2t+8, 2t+9 of column g.
inline void mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2]) {
  using namespace host;
  if (!arrive(at_mma_bf16, c, a, b)) return;
  float wide_a[16][16], wide_b[16][8];
  for (int l = 0; l < 32; l++) {
    const int g = l / 4, t = l % 4;
    for (int i = 0; i < 4; i++)
      for (int half = 0; half < 2; half++)
        wide_a[g + i % 2 * 8][2 * t + i / 2 * 8 + half] = from_bf16(words(l, 0)[i] >> 16 * half);
    for (int i = 0; i < 2; i++)
      for (int half = 0; half < 2; half++) wide_b[2 * t + i * 8 + half][g] = from_bf16(words(l, 1)[i] >> 16 * half);
  }
  multiply(wide_a, wide_b);
  leave();
}

// mma_tf32 adds a (16, 8) times b (8, 8), both tf32, to c (16, 8) for a warp.
// c is laid out as for mma_bf16; a holds column t of rows g, g+8, and then
// column t+4 of both; b holds rows t and t+4 of column g. As on a device, the
// low 13 bits of a and b do not count.
inline void mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2]) {
  using namespace host;
  if (!arrive(at_mma_tf32, c, a, b)) return;
  float wide_a[16][8], wide_b[8][8];
  for (int l = 0; l < 32; l++) {
    const int g = l / 4, t = l % 4;
    for (int i = 0; i < 4; i++) wide_a[g + i % 2 * 8][t + i / 2 * 4] = from_bits(words(l, 0)[i] & ~0x1fffu);
    for (int i = 0; i < 2; i++) wide_b[t + i * 4][g] = from_bits(words(l, 1)[i] & ~0x1fffu);
  }
  multiply(wide_a, wide_b);
  leave();
}

#pragma GCC visibility pop

#endif

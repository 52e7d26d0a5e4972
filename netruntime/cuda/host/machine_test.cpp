// Test of the host's machine layer:
//   g++ -O2 -std=c++17 -Wall -Wextra -I. machine_test.cpp -o /tmp/machine_test && /tmp/machine_test
#include "machine.h"

#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <string>

static int failures;

#define CHECK(what)                                                  \
  do {                                                               \
    if (!(what)) printf("line %d: %s\n", __LINE__, #what), failures++; \
  } while (0)

static bool run(void (*kernel)(const uint64_t*), unsigned blocks, unsigned threads, size_t shared, const char* name = "test") {
  const host::Launch l = {name, {blocks, 1, 1}, {threads, 1, 1}, shared, kernel, nullptr};
  return host::run(l);
}

// last_words runs a kernel in a process of its own. They are empty if it did
// not end by abort, or did not print its thread and place.
static std::string last_words(void (*kernel)(const uint64_t*), uint64_t seed = 1) {
  int ends[2];
  if (pipe(ends)) return "";
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    host::seed(seed);
    run(kernel, 1, 64, 1000);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, n);
  close(ends[0]);
  int status;
  waitpid(child, &status, 0);
  const bool good = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
                    said.find("kernel test, block (0,0,0), thread (") != std::string::npos;
  return good ? said : "";
}

static bool has(const std::string& s, const char* words) { return s.find(words) != std::string::npos; }

static bool dies(void (*kernel)(const uint64_t*), const char* words) {
  const std::string said = last_words(kernel);
  if (!has(said, words)) printf("want an abort that says %s, got: %s\n", words, said.c_str());
  return has(said, words);
}

// dies_of_return is for threads that do not reach a barrier. A waiting thread
// may see that they have returned, or they may see that a thread waits.
static bool dies_of_return(void (*kernel)(const uint64_t*), const char* barrier) {
  int before = 0, after = 0;
  for (int seed = 1; seed <= 20; seed++) {
    const std::string said = last_words(kernel, seed);
    if (!has(said, barrier)) return false;
    before += has(said, "have returned");
    after += has(said, "returned while");
  }
  return before && after && before + after == 20;
}

static float normal() { return (int(host::draw() % 20001) - 10000) / 5000.0f; }

// Products, by whole matrices. The layouts are written a second time here, as
// lists of positions.

static float a16[16][16], b16[16][8], c16[16][8], got16[16][8];

static void bf16_kernel(const uint64_t*) {
  const int l = threadIdx.x, g = l >> 2, t = l & 3;
  float c[4] = {c16[g][2 * t], c16[g][2 * t + 1], c16[g + 8][2 * t], c16[g + 8][2 * t + 1]};
  const uint32_t a[4] = {
      pack_bf16(a16[g][2 * t], a16[g][2 * t + 1]), pack_bf16(a16[g + 8][2 * t], a16[g + 8][2 * t + 1]),
      pack_bf16(a16[g][2 * t + 8], a16[g][2 * t + 9]), pack_bf16(a16[g + 8][2 * t + 8], a16[g + 8][2 * t + 9])};
  const uint32_t b[2] = {pack_bf16(b16[2 * t][g], b16[2 * t + 1][g]), pack_bf16(b16[2 * t + 8][g], b16[2 * t + 9][g])};
  mma_bf16(c, a, b);
  got16[g][2 * t] = c[0], got16[g][2 * t + 1] = c[1], got16[g + 8][2 * t] = c[2], got16[g + 8][2 * t + 1] = c[3];
}

static void tf32_kernel(const uint64_t*) {
  const int l = threadIdx.x, g = l >> 2, t = l & 3;
  float c[4] = {c16[g][2 * t], c16[g][2 * t + 1], c16[g + 8][2 * t], c16[g + 8][2 * t + 1]};
  // Bits that must not matter.
  const uint32_t noise = host::draw() & 0x1fff;
  const uint32_t a[4] = {to_bits(a16[g][t]) | noise, to_bits(a16[g + 8][t]) | noise, to_bits(a16[g][t + 4]) | noise,
                         to_bits(a16[g + 8][t + 4]) | noise};
  const uint32_t b[2] = {to_bits(b16[t][g]) | noise, to_bits(b16[t + 4][g]) | noise};
  mma_tf32(c, a, b);
  got16[g][2 * t] = c[0], got16[g][2 * t + 1] = c[1], got16[g + 8][2 * t] = c[2], got16[g + 8][2 * t + 1] = c[3];
}

static void test_products() {
  for (int round = 0; round < 40; round++) {
    const bool tf32 = round % 2, whole = round % 4 < 2;  // whole numbers: exact
    const int depth = tf32 ? 8 : 16;
    auto value = [&] {
      if (whole) return float(int(host::draw() % 201) - 100);
      return tf32 ? to_tf32(normal()) : from_bf16(to_bf16(normal()));
    };
    for (auto& row : a16) for (float& x : row) x = value();
    for (auto& row : b16) for (float& x : row) x = value();
    for (auto& row : c16) for (float& x : row) x = value();
    CHECK(run(tf32 ? tf32_kernel : bf16_kernel, 1, 32, 0));
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 8; j++) {
        double want = c16[i][j];
        for (int k = 0; k < depth; k++) want += double(a16[i][k]) * b16[k][j];
        CHECK(whole ? got16[i][j] == want : std::fabs(got16[i][j] - want) < 1e-4);
      }
  }
}

// ldmatrix: rows at random places of shared memory.

static uint16_t matrices[64][8];
static int row_of[32];
static uint32_t loaded[32][4];

static void ldmatrix_kernel(const uint64_t*) {
  const int l = threadIdx.x;
  unsigned char* shared = shared_memory();
  for (int i = l; i < 64; i += 32) memcpy(shared + 16 * i, matrices[i], 16);
  __syncwarp();
  ldmatrix_x4(loaded[l], shared + 16 * row_of[l]);
}

static void test_ldmatrix() {
  for (int round = 0; round < 20; round++) {
    for (auto& row : matrices) for (uint16_t& x : row) x = host::draw();
    for (int& r : row_of) r = host::draw() % 64;
    CHECK(run(ldmatrix_kernel, 1, 32, sizeof matrices));
    for (int m = 0; m < 4; m++)
      for (int row = 0; row < 8; row++)
        for (int pair = 0; pair < 4; pair++) {
          const uint16_t* want = matrices[row_of[8 * m + row]] + 2 * pair;
          CHECK(loaded[4 * row + pair][m] == (want[0] | uint32_t(want[1]) << 16));
        }
  }
}

// cp.async

alignas(16) static uint32_t source[5][4];

static bool all(const uint32_t* p, int words, uint32_t value) {
  for (int i = 0; i < words; i++) if (p[i] != value) return false;
  return true;
}

static void copy_kernel(const uint64_t*) {
  // Every thread has its own target for each of 5 copies.
  uint32_t* to = reinterpret_cast<uint32_t*>(shared_memory()) + threadIdx.x * 20;
  CHECK(all(to, 20, ~0u));
  for (int i = 0; i < 20; i++) to[i] = 7;
  cp_async16(to, source[0], 16);
  cp_async_commit();
  cp_async16(to + 4, source[1], 6);
  cp_async16(to + 8, reinterpret_cast<void*>(0x10), 0);
  cp_async_commit();
  CHECK(all(to, 12, ~0u) && all(to + 12, 8, 7));
  __syncthreads();  // no wait
  CHECK(all(to, 12, ~0u));
  cp_async_wait<2>();
  CHECK(all(to, 12, ~0u));
  cp_async_wait<1>();
  CHECK(!memcmp(to, source[0], 16) && all(to + 4, 8, ~0u));
  cp_async_commit();  // an empty group counts
  cp_async_wait<1>();
  CHECK(to[4] == source[1][0] && to[5] == (source[1][1] & 0xffff) && all(to + 6, 6, 0) && all(to + 12, 8, 7));
  cp_async16(to + 12, source[3], 16);
  cp_async_wait<0>();  // not committed
  CHECK(all(to + 12, 4, ~0u));
  cp_async_commit();
  cp_async16(to, source[4], 16);
  cp_async_commit();
  cp_async_wait<1>();
  CHECK(!memcmp(to + 12, source[3], 16) && all(to, 4, ~0u));
  cp_async_wait<0>();
  CHECK(!memcmp(to, source[4], 16));
}

static void test_copies() {
  for (auto& row : source) for (uint32_t& x : row) x = host::draw() & 0x7fffffff;
  CHECK(run(copy_kernel, 3, 64, 64 * 80));
}

// Barriers: threads pass numbers on, with and without barriers.

static bool with_barrier;
static int wrong;

static void ring_kernel(const uint64_t*) {
  unsigned* shared = reinterpret_cast<unsigned*>(shared_memory());
  const unsigned t = threadIdx.x, n = blockDim.x;
  for (unsigned i = 0; i < 20; i++) {
    shared[t] = t + i;
    if (with_barrier) __syncthreads(); else __syncwarp();
    if (shared[(t + 32) % n] != (t + 32) % n + i) wrong++;
    if (with_barrier) __syncthreads(); else __syncwarp();
  }
}

static void warp_ring_kernel(const uint64_t*) {
  unsigned* shared = reinterpret_cast<unsigned*>(shared_memory()) + threadIdx.x / 32 * 32;
  const unsigned t = threadIdx.x % 32;
  for (unsigned i = 0; i < 20; i++) {
    shared[t] = t + i;
    if (with_barrier) __syncwarp();
    if (shared[(t + 1) % 32] != (t + 1) % 32 + i) wrong++;
    if (with_barrier) __syncwarp();
  }
}

static unsigned visits[4][3][2], order[24], visited;

static void index_kernel(const uint64_t*) {
  if (blockDim.x != 8 || blockDim.y != 4 || blockDim.z != 2 || gridDim.x != 2 || gridDim.y != 3 || gridDim.z != 4) return;
  __syncthreads();
  const unsigned t = threadIdx.x + 8 * (threadIdx.y + 4 * threadIdx.z);
  CHECK(&host::threads[t] == host::self);
  visits[blockIdx.z][blockIdx.y][blockIdx.x]++;
  if (t == 0) order[visited++] = blockIdx.x + 2 * (blockIdx.y + 3 * blockIdx.z);
}

static void test_barriers() {
  for (auto kernel : {ring_kernel, warp_ring_kernel})
    for (int round = 0; round < 20; round++) {
      with_barrier = round % 2;
      wrong = 0;
      CHECK(run(kernel, 1, round < 10 ? 1024 : 96, 4096));
      CHECK(with_barrier == (wrong == 0));
    }
  const host::Launch l = {"test", {2, 3, 4}, {8, 4, 2}, 0, index_kernel, nullptr};
  memset(visits, 0, sizeof visits);
  visited = 0;
  CHECK(host::run(l));
  for (auto& plane : visits)
    for (auto& row : plane) CHECK(row[0] == 64 && row[1] == 64);
  bool sorted = true;
  for (unsigned i = 0; i < 24; i++) sorted &= order[i] == i;
  CHECK(visited == 24 && !sorted);
}

// Errors that must end the program.

static void test_deaths() {
  CHECK(dies_of_return([](const uint64_t*) { if (threadIdx.x % 4 == 0) __syncthreads(); }, "__syncthreads"));
  CHECK(dies_of_return([](const uint64_t*) { if (threadIdx.x < 32) __syncthreads(); }, "__syncthreads"));
  CHECK(dies_of_return([](const uint64_t*) { if (threadIdx.x % 4 == 0) __syncwarp(); }, "__syncwarp"));
  CHECK(dies([](const uint64_t*) { if (threadIdx.x % 32 == 3) __syncthreads(); else __syncwarp(); }, "wait at different points"));
  CHECK(dies([](const uint64_t*) {
    float c[4] = {};
    uint32_t a[4] = {};
    if (threadIdx.x % 2) mma_bf16(c, a, a); else mma_tf32(c, a, a);
  }, "another lane of the warp is at mma_"));
  CHECK(dies([](const uint64_t*) { cp_async16(shared_memory() + 8, source, 16); }, "not a multiple of 16"));
  CHECK(dies([](const uint64_t*) { cp_async16(shared_memory(), &source[0][1], 16); }, "not a multiple of 16"));
  CHECK(dies([](const uint64_t*) { cp_async16(shared_memory() + 1008, source, 16); }, "not in shared memory"));
  CHECK(dies([](const uint64_t*) { cp_async16(shared_memory() - 16, source, 16); }, "not in shared memory"));
  CHECK(dies([](const uint64_t*) { cp_async16(shared_memory(), source, 17); }, "17 bytes"));
  CHECK(dies([](const uint64_t*) {
    uint32_t r[4];
    ldmatrix_x4(r, shared_memory() + 16 * threadIdx.x);
  }, "ldmatrix_x4: address"));
  // 1000 bytes requested, 1008 usable, 1024 up to the page.
  CHECK(dies([](const uint64_t*) { shared_memory()[1010] = 1; }, "byte 1010"));
}

// Errors that must end only the launch.

static int depth(int n) {
  volatile char big[1024];
  big[n % 1024] = n;
  return n > 1000 ? big[0] : depth(n + 1) + big[n % 1024];
}

static void test_faults() {
  for (int round = 0; round < 3; round++) {
    CHECK(run([](const uint64_t*) { __syncthreads(); }, 2, 64, 0));
    CHECK(!run([](const uint64_t*) { if (threadIdx.x == 9) fault(); __syncthreads(); }, 2, 64, 0));
    CHECK(!run([](const uint64_t*) { shared_memory()[1024] = 1; }, 1, 32, 1000));
    CHECK(!run([](const uint64_t*) { __syncwarp(); *reinterpret_cast<volatile int*>(uintptr_t(threadIdx.x)) = 1; }, 1, 32, 0));
    CHECK(!run([](const uint64_t*) { if (threadIdx.x == 7) CHECK(depth(0)); }, 1, 32, 0));
  }
  CHECK(run(copy_kernel, 3, 64, 64 * 80));
}

// Rounding, compared with arithmetic on the values.

// rounded keeps bits of the mantissa, by the distance to both neighbours.
static float rounded(float f, int bits, bool even) {
  if (f == 0 || !std::isfinite(f)) return f;
  int exponent;
  std::frexp(f, &exponent);
  // The neighbours are whole multiples of the step; f scaled is exact.
  const double step = std::ldexp(1.0, std::max(exponent, -125) - 1 - bits);
  const double x = std::fabs(double(f)) / step, below = std::floor(x), part = x - below;
  double n = part > 0.5 ? below + 1 : below;
  if (part == 0.5) n = even ? below + std::fmod(below, 2) : below + 1;
  const double value = n * step;
  const float narrow = value >= 0x1p128 ? INFINITY : float(value);
  return std::copysign(narrow, f);
}

static void test_rounding() {
  for (int i = 0; i < 4000000; i++) {
    uint32_t u = host::draw();
    if (i % 4 == 1) u = (u & 0xffff0000) | 0x8000;               // ties of bf16
    if (i % 4 == 2) u = (u & 0xffffe000) | 0x1000;               // ties of tf32
    if (i % 4 == 3) u = (u & 0x807fffff) | (u >> 8 & 1) * 0x7f000000;  // tiny, huge
    const float f = from_bits(u), half = from_bf16(to_bf16(f)), tf32 = to_tf32(f);
    if (f != f) {
      CHECK(half != half && tf32 != tf32);
      continue;
    }
    if (to_bits(half) != to_bits(rounded(f, 7, true)) || to_bits(tf32) != to_bits(rounded(f, 10, false))) {
      printf("%a (%08x): bf16 %a, tf32 %a\n", f, u, half, tf32);
      failures++;
      return;
    }
  }
  for (uint32_t u : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu}) {
    const float f = from_bits(u), half = from_bf16(to_bf16(f)), tf32 = to_tf32(f);
    CHECK(half != half && tf32 != tf32);
    CHECK((to_bits(tf32) & 0x1fff) == 0);
  }
  CHECK(to_bf16(INFINITY) == 0x7f80 && to_tf32(-INFINITY) == -INFINITY);
  CHECK(pack_bf16(1, -2) == 0xc0003f80);
}

static void test_speed() {
  const auto start = std::chrono::steady_clock::now();
  CHECK(run([](const uint64_t*) {
    float c[4] = {};
    const uint32_t a[4] = {}, b[2] = {};
    for (int i = 0; i < 10000; i++) mma_bf16(c, a, b);
  }, 4, 256, 0));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  printf("4 blocks of 256 threads, 10,000 products a warp: %.2f s\n", took.count());
}

int main() {
  for (int i = 1; i <= 3; i++) {
    host::seed(i);
    test_products();
    test_ldmatrix();
    test_copies();
    test_barriers();
  }
  test_deaths();
  test_faults();
  test_rounding();
  test_speed();
  puts(failures ? "not okay" : "ok");
  return failures != 0;
}

// Blocks of CUDA threads on the host. One block runs at a time, and each of its
// threads is a coroutine. A thread runs until it must wait for others. Then a
// random thread continues, so that a missing barrier shows. A thread that spins
// until another writes something spins forever. Everything here belongs to one
// launch at a time; the launching code holds a lock.
#pragma once
// The fortified longjmp treats a jump to another stack as an error.
#undef _FORTIFY_SOURCE

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)

struct uint3 {
  unsigned x, y, z;
};

// Indices of the running thread.
inline uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace host {

constexpr int most_threads = 1024;  // of a block
constexpr size_t stack_bytes = 64 << 10;
constexpr size_t most_shared = 256 << 10;

// The state of a thread.
enum Point { running, at_syncthreads, at_syncwarp, at_ldmatrix, at_mma_bf16, at_mma_tf32, returned, points };
inline const char* const point_names[points] = {
    "running", "__syncthreads", "__syncwarp", "ldmatrix_x4", "mma_bf16", "mma_tf32", "returned"};

// Copy is a cp_async16 that was issued and has not ended.
struct Copy {
  unsigned char* shared;
  const void* global;
  int bytes;
  long group;
};

struct Thread {
  jmp_buf context;  // where it stopped
  char* stack;
  bool parked;  // its coroutine waits for a block
  uint3 index;
  int warp;
  Point at;
  void* result;  // of the current collective, and its operands
  const void* operands[2];
  std::vector<Copy> copies;  // in order of issue
  long group;                // number of the open group
};

struct Warp {
  uint32_t ready;  // lanes that can continue
  int arrived;     // lanes that wait at the point below
  Point at;
  int returned;  // lanes
};

// Launch is a grid of blocks of one kernel.
struct Launch {
  const char* name;
  uint3 grid, block;
  size_t shared;  // bytes
  void (*call)(const uint64_t* arguments);
  const uint64_t* arguments;
};

struct Block {
  const Launch* launch;
  jmp_buf out;  // to the code that runs the block
  Warp warps[most_threads / 32];
  uint32_t ready;  // warps with lanes that can continue
  int warp;        // the last one that ran
  uint64_t stay;   // a new warp is drawn once in stay+1 times
  int threads, arrived, returned;
  unsigned char* shared;
  bool failed;
};

inline Thread threads[most_threads];
inline Block block;
inline Thread* self;  // the running thread
inline uint64_t state = 1;

inline void seed(uint64_t s) { state = s * 0x9e3779b97f4a7c15 | 1; }

// draw is xorshift64*.
inline uint64_t draw() {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d >> 16;
}

inline int draw_bit(uint32_t mask) {
  int turn = draw() & 31;
  uint32_t turned = mask >> turn | mask << (-turn & 31);
  return (__builtin_ctz(turned) + turn) & 31;
}

// patience draws how long a warp or stream keeps running: not at all, for some
// time, or until it cannot. The last lets it run ahead as far as possible.
inline uint64_t patience() {
  const uint64_t stays[] = {0, 15, ~0ull};
  return stays[draw() % 3];
}

inline void complain(const char* format, va_list list) {
  fprintf(stderr, "fake cuda: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", block.launch->name,
          blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
}

// die is for errors that are undefined on a device: a kernel must never make
// them.
[[noreturn]] __attribute__((format(printf, 1, 2), noinline)) inline void die(const char* format, ...) {
  va_list list;
  va_start(list, format);
  complain(format, list);
  abort();
}

// fail is for errors that a device reports: the launch ends with an error.
[[noreturn]] __attribute__((format(printf, 1, 2), noinline)) inline void fail(const char* format, ...) {
  va_list list;
  va_start(list, format);
  complain(format, list);
  va_end(list);
  block.failed = true;
  _longjmp(block.out, 1);
}

[[noreturn]] __attribute__((noinline)) inline void stuck() {
  int count[points] = {}, first[points] = {};
  for (int i = block.threads; i-- > 0;) {
    count[threads[i].at]++;
    first[threads[i].at] = i;
  }
  for (int p = 0; p < points; p++)
    if (count[p])
      fprintf(stderr, "fake cuda: %d threads, the first of them number %d: %s\n", count[p], first[p], point_names[p]);
  die("no thread can go on: they wait at different points");
}

// next returns the thread that continues.
inline Thread* next() {
  if (!block.ready) stuck();
  if (!(block.ready >> block.warp & 1) || (draw() & block.stay) == 0) block.warp = draw_bit(block.ready);
  Warp& w = block.warps[block.warp];
  int lane = draw_bit(w.ready);
  w.ready &= ~(1u << lane);
  if (!w.ready) block.ready &= ~(1u << block.warp);
  return &threads[block.warp * 32 + lane];
}

inline void wake(int warp) {
  block.warps[warp].ready = ~0u;
  block.ready |= 1u << warp;
}

inline void resumed(Thread* me) {
  self = me;
  threadIdx = me->index;
  me->at = running;
}

// yield lets another thread continue, and returns when its caller is drawn.
__attribute__((noinline)) inline void yield() {
  Thread* const me = self;
  Thread* const other = next();
  if (other != me && _setjmp(me->context) == 0) _longjmp(other->context, 1);
  resumed(me);
}

// arrive waits for the other lanes at a collective. The last lane does not
// wait: arrive returns true, and the lane does the work for all lanes and
// leaves.
__attribute__((noinline)) inline bool arrive(Point point, void* result = nullptr, const void* a = nullptr,
                                             const void* b = nullptr) {
  Thread* const me = self;
  Warp& w = block.warps[me->warp];
  if (w.returned) die("%s: %d lanes of the warp have returned", point_names[point], w.returned);
  if (w.arrived && w.at != point)
    die("%s: another lane of the warp is at %s", point_names[point], point_names[w.at]);
  w.at = me->at = point;
  me->result = result;
  me->operands[0] = a;
  me->operands[1] = b;
  if (++w.arrived == 32) return true;
  yield();
  return false;
}

inline void leave() {
  block.warps[self->warp].arrived = 0;
  wake(self->warp);
  yield();
}

// lane is the i-th thread of the running warp.
inline Thread& lane(int i) { return threads[self->warp * 32 + i]; }

// finish is the end of a thread. It returns for the next block.
__attribute__((noinline)) inline void finish() {
  Thread* const me = self;
  Warp& w = block.warps[me->warp];
  me->at = returned;
  w.returned++;
  block.returned++;
  if (w.arrived) die("returned while %d lanes of the warp are at %s", w.arrived, point_names[w.at]);
  if (block.arrived) die("returned while %d threads of the block are at __syncthreads", block.arrived);
  if (_setjmp(me->context) == 0) {
    if (block.returned == block.threads) _longjmp(block.out, 1);
    _longjmp(next()->context, 1);
  }
  resumed(me);
}

inline void body() {
  Thread* const me = self;
  if (_setjmp(me->context) == 0) _longjmp(block.out, 1);
  resumed(me);
  for (;;) {
    block.launch->call(block.launch->arguments);
    finish();
  }
}

// park starts a thread's coroutine, which then waits for a block.
inline void park(int i) {
  Thread& t = threads[i];
  const size_t page = sysconf(_SC_PAGESIZE);
  if (!t.stack) {
    void* p = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      perror("fake cuda: a thread's stack");
      abort();
    }
    t.stack = static_cast<char*>(p);
    mprotect(t.stack, page, PROT_NONE);  // stops a stack that grows too far
  }
  // If all stacks began at the same place of a page, they would compete for the
  // same cache lines.
  const size_t shift = i % 32 * 128;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = t.stack + page;
  context.uc_stack.ss_size = stack_bytes - page - shift;
  context.uc_link = nullptr;
  makecontext(&context, body, 0);
  self = &t;
  if (_setjmp(block.out) == 0) setcontext(&context);
  t.parked = true;
}

// shared_end is the end of the memory that blocks share. An inaccessible page
// follows.
inline unsigned char* shared_end() {
  static unsigned char* end;
  if (!end) {
    const size_t page = sysconf(_SC_PAGESIZE);
    void* p = mmap(nullptr, most_shared + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
      perror("fake cuda: shared memory");
      abort();
    }
    end = static_cast<unsigned char*>(p) + most_shared;
    mprotect(end, page, PROT_NONE);
  }
  return end;
}

// run_block runs block blockIdx and returns whether it completed.
__attribute__((noinline)) inline bool run_block() {
  const Launch& l = *block.launch;
  // The beginning is aligned to 128 bytes. Up to 112 bytes are then left before
  // the page, and are checked.
  const size_t used = (l.shared + 15) / 16 * 16, taken = (l.shared + 127) / 128 * 128;
  block.shared = shared_end() - taken;
  memset(block.shared, 0xff, taken);
  block.threads = l.block.x * l.block.y * l.block.z;
  block.arrived = block.returned = 0;
  block.failed = false;
  block.ready = 0;
  for (int i = 0; i < block.threads; i++) {
    Thread& t = threads[i];
    if (!t.parked) park(i);
    const unsigned n = i;
    t.index = {n % l.block.x, n / l.block.x % l.block.y, n / l.block.x / l.block.y};
    t.warp = i / 32;
    t.at = running;
    t.copies.clear();
    t.group = 0;
  }
  for (int i = 0; i < block.threads / 32; i++) {
    block.warps[i] = {};
    wake(i);
  }
  block.warp = 0;
  block.stay = patience();
  if (_setjmp(block.out) == 0) _longjmp(next()->context, 1);
  if (block.failed) {
    // The coroutines are somewhere within the kernel: start them again.
    for (Thread& t : threads) t.parked = false;
    return false;
  }
  for (size_t i = used; i < taken; i++)
    if (block.shared[i] != 0xff)
      die("wrote to byte %zu of shared memory (thread of this block, not necessarily this one); there are %zu", i, l.shared);
  return true;
}

inline struct sigaction others;  // the previous handler
inline pthread_t runner;         // the OS thread that runs a kernel

inline void on_fault(int signal, siginfo_t* info, void* context) {
  if (pthread_equal(pthread_self(), runner)) {
    const char* address = static_cast<const char*>(info->si_addr);
    const bool stack = address >= self->stack && address < self->stack + stack_bytes;
    fail("%s %p", stack ? "stack overflow at" : "illegal address", info->si_addr);
  }
  if (others.sa_flags & SA_SIGINFO)
    others.sa_sigaction(signal, info, context);
  else if (others.sa_handler == SIG_DFL || others.sa_handler == SIG_IGN)
    sigaction(signal, &others, nullptr);  // the fault occurs again, and ends the program
  else
    others.sa_handler(signal);
}

// run runs the blocks of a launch in random order, and returns whether all
// completed. The number of threads of a block is a multiple of 32.
__attribute__((noinline)) inline bool run(const Launch& l) {
  static char stack[64 << 10];  // for the handler, if the OS thread has none
  block.launch = &l;
  blockDim = l.block;
  gridDim = l.grid;
  runner = pthread_self();

  stack_t before = {}, mine = {};
  sigaltstack(nullptr, &before);
  mine.ss_sp = stack;
  mine.ss_size = sizeof stack;
  if (before.ss_flags & SS_DISABLE) sigaltstack(&mine, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  // NODEFER: the handler leaves by a jump, which would keep the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &others);

  const size_t blocks = size_t(l.grid.x) * l.grid.y * l.grid.z;
  std::vector<uint32_t> order(blocks);
  for (size_t i = 0; i < blocks; i++) {
    order[i] = i;
    std::swap(order[i], order[draw() % (i + 1)]);
  }
  bool good = true;
  for (size_t i = 0; i < blocks && good; i++) {
    const unsigned n = order[i];
    blockIdx = {n % l.grid.x, n / l.grid.x % l.grid.y, n / l.grid.x / l.grid.y};
    good = run_block();
  }

  sigaction(SIGSEGV, &others, nullptr);
  if (before.ss_flags & SS_DISABLE) sigaltstack(&before, nullptr);
  return good;
}

}  // namespace host

#pragma GCC visibility pop

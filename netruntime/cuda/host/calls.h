// The fake device's state, and the beginning of every call of the API.
//
// Environment, read at every call:
//  FAKE_CUDA_SEED     seed of everything random; 1 if unset
//  FAKE_CUDA_FAIL     "function:n:code": the n-th call of a function from now
//                     on (its name without a version) returns the code. So do
//                     all later calls if the code is 700, 702, 719 or 46. A
//                     change of the variable ends that, and errors left by
//                     kernels. It takes effect at the next call; fakeHeal does
//                     the same at once. With "hang" for the code the call
//                     succeeds, and the device does no work from then on until
//                     fakeHeal: queries find it busy, and calls that wait for
//                     it, or might, do not return.
//  FAKE_CUDA_DEVICES  number of devices, 1 if unset
//  FAKE_CUDA_SMS      number of multiprocessors, 4 if unset
#pragma once
#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>

#include "pages.h"
#include "queues.h"

#pragma GCC visibility push(hidden)

namespace host {

enum Error {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  context_is_destroyed = 709,
  launch_failed = 719,
};

struct ErrorText {
  int code;
  const char *name, *text;
};

inline const ErrorText error_texts[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {device_unavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"},
    {no_device, "CUDA_ERROR_NO_DEVICE", "no device"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device number"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid or no context"},
    {invalid_ptx, "CUDA_ERROR_INVALID_PTX", "invalid PTX"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "symbol not found"},
    {not_ready, "CUDA_ERROR_NOT_READY", "not ready"},
    {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access"},
    {launch_timeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "launch timed out"},
    {context_is_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "launch failure"},
};

struct Kernel {
  const char* name;
  void (*call)(const uint64_t* arguments);
  size_t parameters;
};

struct Function {
  const Kernel* kernel;
  int shared;  // most bytes of dynamic shared memory
};

struct Module {
  std::list<Function> functions;
};

// Context is alive while it has references. Memory, streams and everything else
// belong to the device: objects left when a context ends still count as live.
struct Context {
  int references;
};

// Injection is the failure that FAKE_CUDA_FAIL requests.
struct Injection {
  std::string text, function;
  int left = 0, code = 0;
  bool hang = false;
};

struct Device {
  std::mutex lock;
  bool initialized = false;
  int broken = 0;   // the result of every call after a permanent error
  bool hung = false;  // it does no work
  std::condition_variable awake;
  Pages memory, pinned;
  struct Registered {
    size_t bytes;
    char* pages;  // in pinned
  };
  std::map<const char*, Registered> registered;
  Queues queues;
  std::list<Event> events;
  std::list<Module> modules;
  std::list<Context> contexts{Context{0}};  // the primary one first; never removed
  Injection injection;
  std::string seed;
  std::map<std::string, unsigned long long> calls;
};

inline Device device;

constexpr size_t total_memory = size_t(4) << 30;
constexpr size_t queue_room = 1024;  // pieces of work that a stream takes before its caller waits
constexpr int usual_shared = 48 << 10, allowed_shared = 227 << 10;  // bytes of a block

// Contexts of this OS thread; the last is current.
struct ContextStack {
  Context* at[32];
  int used;
  Context* current() const { return used ? at[used - 1] : nullptr; }
};

inline thread_local ContextStack contexts;

// find returns the list's element at a handle, or null.
template <class T>
T* find(std::list<T>& list, const void* handle) {
  for (T& t : list)
    if (&t == handle) return &t;
  return nullptr;
}

inline Function* find_function(const void* handle) {
  for (Module& m : device.modules)
    if (Function* f = find(m.functions, handle)) return f;
  return nullptr;
}

inline const char* variable(const char* name, const char* otherwise) {
  const char* v = getenv(name);
  return v && *v ? v : otherwise;
}

inline int devices() { return atoi(variable("FAKE_CUDA_DEVICES", "1")); }

// spoil makes an error permanent.
inline int spoil(int error) {
  if (error) {
    device.broken = error;
    device.queues.drop();
  }
  return error;
}

inline void read_environment() {
  const char* const seed_text = variable("FAKE_CUDA_SEED", "1");
  if (device.seed != seed_text) {
    device.seed = seed_text;
    seed(strtoull(seed_text, nullptr, 10));
  }
  const char* const text = variable("FAKE_CUDA_FAIL", "");
  Injection& in = device.injection;
  if (in.text == text) return;
  in = {};
  in.text = text;
  device.broken = 0;
  char function[64], code[8];
  if (!*text) return;
  if (sscanf(text, "%63[^:]:%d:%7s", function, &in.left, code) != 3) {
    fprintf(stderr, "fake cuda: FAKE_CUDA_FAIL is %s, want function:n:code\n", text);
    abort();
  }
  in.hang = !strcmp(code, "hang");
  in.code = atoi(code);
  in.function = function;
}

// Need is the requirements of a call. Each includes those before it in the
// list, except that a broken device can still count devices.
enum Need { nothing, counting, unbroken, context };

// Call is one call of the API. It holds the lock for its duration.
struct Call {
  std::unique_lock<std::mutex> guard;
  int error = 0;       // to return at once, if not 0
  bool stays = false;  // the error is injected, or permanent from an earlier call

  Call(const char* name, Need need) : guard(device.lock) {
    read_environment();
    device.calls[name]++;
    Injection& in = device.injection;
    const bool now = in.function == name && in.left > 0 && --in.left == 0;
    if (now && in.hang) device.hung = true;
    if (now && !in.hang) {
      stays = true;
      error = in.code;
      if (error == illegal_address || error == launch_timeout || error == launch_failed || error == device_unavailable) spoil(error);
    } else if (need > counting && device.broken) {
      stays = true;
      error = device.broken;
    } else if (need > nothing && !device.initialized) {
      error = not_initialized;
    } else if (need == context) {
      const Context* c = contexts.current();
      error = !c ? invalid_context : c->references ? success : context_is_destroyed;
    }
  }

  // answer waits while the device hangs.
  void answer() {
    device.awake.wait(guard, [] { return !device.hung; });
  }

  // finish does work until the condition holds.
  template <class Condition>
  int finish(Condition done) {
    answer();
    return spoil(device.queues.run(done));
  }

  // finish_stream does work until a stream has none.
  int finish_stream(const Stream* s) {
    return finish([s] { return s->work.empty(); });
  }

  // poll does some work, for callers that ask until it ends.
  int poll() {
    const int failed = device.hung ? 0 : spoil(device.queues.step());
    return failed ? failed : not_ready;
  }
};

#define API extern "C" __attribute__((visibility("default")))

// BEGIN begins every call of the API.
#define BEGIN(name, need) \
  Call call(#name, need); \
  if (call.error) return call.error

// RELEASE begins a call that frees something. It frees even if it returns an
// injected or permanent error, so that fakeLive counts only objects that nobody
// tried to free.
#define RELEASE(name)        \
  Call call(#name, context); \
  if (call.error && !call.stays) return call.error

}  // namespace host

#pragma GCC visibility pop

// Modules, functions and launches.
#pragma once
#include "calls.h"
#include "machine.h"

// Hidden: a program's own function with a kernel's name would replace it.
#pragma GCC visibility push(hidden)

#include "kernels.cu"

namespace host {

template <auto kernel>
struct Caller;

// Arguments come as 8 bytes each, whatever their type.
template <class... P, void (*kernel)(P...)>
struct Caller<kernel> {
  static_assert(((sizeof(P) == 8) && ...), "parameters of kernels have 8 bytes");
  static constexpr size_t parameters = sizeof...(P);

  template <class T>
  static T as(uint64_t v) {
    T t;
    memcpy(&t, &v, 8);
    return t;
  }
  template <size_t... i>
  static void call(const uint64_t* arguments, std::index_sequence<i...>) {
    kernel(as<P>(arguments[i])...);
  }
  static void call(const uint64_t* arguments) { call(arguments, std::index_sequence_for<P...>()); }
};

static const Kernel kernels[] = {
#define KERNEL(name) {#name, Caller<&name>::call, Caller<&name>::parameters},
#include "list.h"
#undef KERNEL
};

// Interpreter runs kernels' PTX in place of the compiled kernels. Both functions return 0 if nothing is wrong.
struct Interpreter {
  int (*load)(const char* text);
  int (*run)(const char* kernel, long long blocks, long long threads, long long shared, const unsigned long long* parameters,
             long long count, const Range* memory, long long ranges);
};

static Interpreter interpreter;

// fakeInterpret sets the interpreter, for tests. Memory must not have been allocated before.
API void fakeInterpret(int (*load)(const char*), int (*run)(const char*, long long, long long, long long, const unsigned long long*,
                                                             long long, const Range*, long long)) {
  std::lock_guard<std::mutex> guard(device.lock);
  interpreter = {load, run};
  device.memory.notes = true;
}

// interpret runs a launch by the interpreter, and returns whether all was well.
static bool interpret(const Launch& l, size_t parameters) {
  if (l.grid.y != 1 || l.grid.z != 1 || l.block.y != 1 || l.block.z != 1) return false;
  const std::vector<Range> memory = device.memory.ranges();
  return interpreter.run(l.name, l.grid.x, l.block.x, l.shared, reinterpret_cast<const unsigned long long*>(l.arguments), parameters,
                         memory.data(), memory.size()) == 0;
}

// module_of makes a module of an image: every PTX text holds all kernels.
static int module_of(Module** module, const void* image) {
  if (!module || !image) return invalid_value;
  const char* text = static_cast<const char*>(image);
  if (*text == 0x7f) return invalid_image;  // a compiled one
  text += strspn(text, " \t\r\n");
  if (strncmp(text, "//", 2) != 0 && strstr(text, ".version") == nullptr) return invalid_ptx;
  if (interpreter.load && interpreter.load(text)) return invalid_ptx;
  device.modules.emplace_back();
  *module = &device.modules.back();
  return success;
}

API int cuModuleLoadData(Module** module, const void* image) {
  BEGIN(cuModuleLoadData, context);
  return module_of(module, image);
}

API int cuModuleLoadDataEx(Module** module, const void* image, unsigned count, const int* options, void** values) {
  BEGIN(cuModuleLoadDataEx, context);
  if (count && (!options || !values)) return invalid_value;
  const int error = module_of(module, image);
  char* log = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == 5) log = static_cast<char*>(values[i]);                // for errors
    if (options[i] == 6) room = reinterpret_cast<uintptr_t>(values[i]);      // its size
  }
  if (log && room) snprintf(log, room, "%s", error ? "fake cuda: the image is no PTX" : "");
  return error;
}

API int cuModuleUnload(Module* module) {
  RELEASE(cuModuleUnload);
  if (!find(device.modules, module)) return invalid_handle;
  device.modules.remove_if([module](const Module& m) { return &m == module; });
  return call.error;
}

API int cuModuleGetFunction(Function** function, Module* module, const char* name) {
  BEGIN(cuModuleGetFunction, context);
  if (!function || !name) return invalid_value;
  if (!find(device.modules, module)) return invalid_handle;
  for (Function& f : module->functions)
    if (!strcmp(f.kernel->name, name)) {
      *function = &f;
      return success;
    }
  for (const Kernel& k : kernels)
    if (!strcmp(k.name, name)) {
      module->functions.push_back({&k, usual_shared});
      *function = &module->functions.back();
      return success;
    }
  return not_found;
}

API int cuFuncSetAttribute(Function* function, int attribute, int value) {
  BEGIN(cuFuncSetAttribute, context);
  Function* const f = find_function(function);
  if (!f) return invalid_handle;
  if (attribute == 9) return success;  // preferred size of shared memory: only a hint
  if (attribute != 8 || value < 0 || value > allowed_shared) return invalid_value;
  f->shared = value;
  return success;
}

API int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  BEGIN(cuFuncGetAttribute, context);
  Function* const f = find_function(function);
  if (!f) return invalid_handle;
  if (!value) return invalid_value;
  switch (attribute) {
    case 0: *value = most_threads; break;
    case 4: *value = 32; break;  // registers
    case 8: *value = f->shared; break;
    default: *value = 0;
  }
  return success;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads, size_t shared) {
  BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor, context);
  Function* const f = find_function(function);
  if (!f) return invalid_handle;
  if (!blocks || threads < 1 || threads > most_threads) return invalid_value;
  // As on a device of 9.0: 2048 threads and 228 KB, of which a block takes one
  // more.
  const size_t by_threads = 2048 / ((threads + 31) / 32 * 32), by_shared = (228 << 10) / (shared + 1024);
  *blocks = shared > size_t(std::max(f->shared, usual_shared)) ? 0 : std::min({by_threads, by_shared, size_t(32)});
  return success;
}

API int cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters,
                       void** extra) {
  BEGIN(cuLaunchKernel, context);
  Function* const f = find_function(function);
  Stream* const s = device.queues.find(stream);
  if (!f || !s) return invalid_handle;
  const uint64_t threads = uint64_t(block_x) * block_y * block_z;
  if (block_x > 1024 || block_y > 1024 || block_z > 64 || threads < 1 || threads > most_threads || threads % 32)
    return invalid_value;
  if (grid_x < 1 || grid_x > 0x7fffffff || grid_y < 1 || grid_y > 65535 || grid_z < 1 || grid_z > 65535)
    return invalid_value;
  if (shared > unsigned(std::max(f->shared, usual_shared)) || extra || (!parameters && f->kernel->parameters))
    return invalid_value;
  std::vector<uint64_t> arguments(f->kernel->parameters);
  for (size_t i = 0; i < arguments.size(); i++) memcpy(&arguments[i], parameters[i], 8);
  Launch launch = {f->kernel->name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, f->kernel->call, nullptr};
  // A full queue takes the next launch when there is room again.
  if (s->work.size() >= queue_room)
    if (int error = call.finish([s] { return s->work.size() < queue_room; })) return error;
  device.queues.add(s, [launch, arguments]() mutable {
    launch.arguments = arguments.data();
    const bool good = interpreter.run ? interpret(launch, arguments.size()) : run(launch);
    return good ? success : illegal_address;
  });
  return success;
}

}  // namespace host

#pragma GCC visibility pop

// A libcuda with one device, this processor, to test code that calls CUDA on
// machines without it. It has the functions that the backend calls, and refuses
// the same calls as a driver. From netruntime/cuda:
//
//  g++ -O2 -std=c++17 -shared -fPIC -I host -I kernels host/fake.cpp -o libfakecuda.so
//
// Asynchronous work is done only when the program synchronises: see queues.h.
// Blocks and threads run in random order: see block.h. Memory has inaccessible
// pages around it: see pages.h. calls.h lists the environment's variables. Two
// things are stricter than on a device: freeing memory does not wait for work
// that uses it, and every call except the first few needs a current context.
#include "machine.h"
#include "calls.h"
#include "api_context.h"
#include "api_memory.h"
#include "api_module.h"
#include "api_stream.h"

namespace host {

// Driver and device

API int cuInit(unsigned flags) {
  BEGIN(cuInit, nothing);
  if (flags) return invalid_value;
  device.initialized = true;
  return success;
}

API int cuDriverGetVersion(int* version) {
  BEGIN(cuDriverGetVersion, nothing);
  if (device.broken) return device.broken;
  if (!version) return invalid_value;
  *version = 11080;
  return success;
}

API int cuGetErrorName(int error, const char** name) {
  BEGIN(cuGetErrorName, nothing);
  if (!name) return invalid_value;
  *name = nullptr;
  for (const ErrorText& t : error_texts)
    if (t.code == error) *name = t.name;
  return *name ? success : invalid_value;
}

API int cuGetErrorString(int error, const char** text) {
  BEGIN(cuGetErrorString, nothing);
  if (!text) return invalid_value;
  *text = nullptr;
  for (const ErrorText& t : error_texts)
    if (t.code == error) *text = t.text;
  return *text ? success : invalid_value;
}

API int cuDeviceGetCount(int* count) {
  BEGIN(cuDeviceGetCount, counting);
  if (!count) return invalid_value;
  *count = devices();
  return success;
}

API int cuDeviceGet(int* number, int ordinal) {
  BEGIN(cuDeviceGet, unbroken);
  if (!number) return invalid_value;
  if (ordinal < 0 || ordinal >= devices()) return invalid_device;
  *number = ordinal;
  return success;
}

API int cuDeviceGetName(char* name, int room, int number) {
  BEGIN(cuDeviceGetName, unbroken);
  if (!name || room < 1) return invalid_value;
  if (number) return invalid_device;
  snprintf(name, room, "Fake CUDA Device");
  return success;
}

API int cuDeviceGetAttribute(int* value, int attribute, int number) {
  BEGIN(cuDeviceGetAttribute, unbroken);
  if (!value) return invalid_value;
  if (number) return invalid_device;
  switch (attribute) {
    case 16: *value = atoi(variable("FAKE_CUDA_SMS", "4")); break;  // multiprocessors
    case 75: *value = 9; break;                                     // compute capability
    case 97: *value = allowed_shared; break;                        // most shared memory of a block
    default: *value = 0;
  }
  return success;
}

API int cuDeviceTotalMem_v2(size_t* bytes, int number) {
  BEGIN(cuDeviceTotalMem, unbroken);
  if (!bytes) return invalid_value;
  if (number) return invalid_device;
  *bytes = total_memory;
  return success;
}

// For tests

// fakeCalls returns the number of calls of a function, by its name without a
// version, or of all functions for an empty name.
API unsigned long long fakeCalls(const char* name) {
  std::lock_guard<std::mutex> guard(device.lock);
  if (!*name) {
    unsigned long long sum = 0;
    for (const auto& c : device.calls) sum += c.second;
    return sum;
  }
  const auto it = device.calls.find(name);
  return it == device.calls.end() ? 0 : it->second;
}

// fakeLive returns the number of allocations, streams, events and modules.
API long long fakeLive() {
  std::lock_guard<std::mutex> guard(device.lock);
  return device.memory.count() + device.pinned.count() + device.queues.count() + device.events.size() +
         device.modules.size();
}

// fakeHeal ends a permanent error, and reads FAKE_CUDA_FAIL again. A device that
// hung does the work that it has.
API void fakeHeal() {
  std::lock_guard<std::mutex> guard(device.lock);
  if (device.hung) device.queues.run([] { return device.queues.idle(); });
  device.hung = false;
  device.awake.notify_all();
  device.broken = 0;
  device.injection = {};
}

}  // namespace host

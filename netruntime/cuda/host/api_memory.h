// Memory, copies and fills. A driver may wait for all work before it allocates
// or frees.
#pragma once
#include "calls.h"

#pragma GCC visibility push(hidden)

namespace host {

using address = unsigned long long;  // of device memory

static void* at(address a) { return reinterpret_cast<void*>(a); }

API int cuMemAlloc_v2(address* memory, size_t bytes) {
  BEGIN(cuMemAlloc, context);
  call.answer();
  if (!memory || !bytes) return invalid_value;
  void* const p = bytes > total_memory - device.memory.total() ? nullptr : device.memory.take(bytes);
  if (!p) return out_of_memory;
  *memory = reinterpret_cast<address>(p);
  return success;
}

API int cuMemFree_v2(address memory) {
  RELEASE(cuMemFree);
  call.answer();
  if (!device.memory.give(at(memory))) return invalid_value;
  return call.error;
}

API int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  BEGIN(cuMemHostAlloc, context);
  call.answer();
  if (!memory || !bytes) return invalid_value;
  *memory = device.pinned.take(bytes);
  return *memory ? success : out_of_memory;
}

API int cuMemFreeHost(void* memory) {
  RELEASE(cuMemFreeHost);
  call.answer();
  if (!device.pinned.give(memory)) return invalid_value;
  return call.error;
}

API int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned) {
  BEGIN(cuMemHostRegister, context);
  call.answer();
  if (!memory || !bytes) return invalid_value;
  void* const p = device.pinned.share(memory, bytes);
  if (!p) return out_of_memory;
  device.registered[static_cast<char*>(memory)] = {bytes, static_cast<char*>(p)};
  return success;
}

API int cuMemHostUnregister(void* memory) {
  RELEASE(cuMemHostUnregister);
  call.answer();
  const auto it = device.registered.find(static_cast<char*>(memory));
  if (it == device.registered.end()) return invalid_value;
  device.pinned.give(it->second.pages);
  device.registered.erase(it);
  return call.error;
}

API int cuMemGetInfo_v2(size_t* available, size_t* total) {
  BEGIN(cuMemGetInfo, context);
  if (!available || !total) return invalid_value;
  *available = total_memory - device.memory.total();
  *total = total_memory;
  return success;
}

// Side is one side of a copy, in memory of the given kind, if any.
struct Side {
  void* at;
  const Pages* kind;
  bool good(size_t bytes) const { return !kind || kind->holds(at, bytes); }
};

static void add_copy(Stream* s, Side to, Side from, size_t bytes) {
  device.queues.add(s, [=] {
    if (!to.good(bytes) || !from.good(bytes)) {
      fprintf(stderr, "fake cuda: copy of %zu bytes from %p to %p: not inside live memory\n", bytes, from.at, to.at);
      return illegal_address;
    }
    memmove(to.at, from.at, bytes);
    device.memory.wrote(to.at, bytes, from.at);
    return success;
  });
}

// host_side finds the kind of a range of host memory, and returns whether the
// range is valid.
static bool host_side(Side* side, const void* p, size_t bytes) {
  // As a device does, go to the pages that were registered, whatever is at their address now.
  const auto it = device.registered.upper_bound(static_cast<const char*>(p));
  if (it != device.registered.begin()) {
    const auto& [begin, r] = *std::prev(it);
    const size_t offset = static_cast<const char*>(p) - begin;
    if (offset < r.bytes) p = r.pages + offset;
  }
  const bool pinned = device.pinned.holds(p, 1);
  *side = {const_cast<void*>(p), pinned ? &device.pinned : nullptr};
  return p && !device.memory.holds(p, 1) && side->good(bytes);
}

API int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t bytes, void* stream) {
  BEGIN(cuMemcpyHtoDAsync, context);
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  if (!bytes) return success;
  Side source;
  if (!host_side(&source, from, bytes)) return invalid_value;
  if (source.kind) {
    add_copy(s, {at(to), &device.memory}, source, bytes);
    return success;
  }
  // Memory that is not pinned is read at once.
  const char* const begin = static_cast<const char*>(from);
  device.queues.add(s, [to, staged = std::vector<char>(begin, begin + bytes)] {
    if (!device.memory.holds(at(to), staged.size())) {
      fprintf(stderr, "fake cuda: copy of %zu bytes to %p: not inside live memory\n", staged.size(), at(to));
      return illegal_address;
    }
    memcpy(at(to), staged.data(), staged.size());
    device.memory.wrote(at(to), staged.size());
    return success;
  });
  return success;
}

API int cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) {
  BEGIN(cuMemcpyDtoHAsync, context);
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  if (!bytes) return success;
  Side target;
  if (!host_side(&target, to, bytes)) return invalid_value;
  add_copy(s, target, {at(from), &device.memory}, bytes);
  // The call returns after a copy to memory that is not pinned.
  return target.kind ? int(success) : call.finish_stream(s);
}

API int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void* stream) {
  BEGIN(cuMemcpyDtoDAsync, context);
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  if (bytes) add_copy(s, {at(to), &device.memory}, {at(from), &device.memory}, bytes);
  return success;
}

// Copies that wait belong to the default stream.

API int cuMemcpyHtoD_v2(address to, const void* from, size_t bytes) {
  BEGIN(cuMemcpyHtoD, context);
  Side source;
  if (!bytes) return success;
  if (!host_side(&source, from, bytes) || !device.memory.holds(at(to), bytes)) return invalid_value;
  add_copy(device.queues.normal(), {at(to), &device.memory}, source, bytes);
  return call.finish_stream(device.queues.normal());
}

API int cuMemcpyDtoH_v2(void* to, address from, size_t bytes) {
  BEGIN(cuMemcpyDtoH, context);
  Side target;
  if (!bytes) return success;
  if (!host_side(&target, to, bytes) || !device.memory.holds(at(from), bytes)) return invalid_value;
  add_copy(device.queues.normal(), target, {at(from), &device.memory}, bytes);
  return call.finish_stream(device.queues.normal());
}

// fill adds a fill by elements to a stream.
template <class Element>
static int fill(address to, Element value, size_t count, void* stream) {
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  if (to % sizeof value) return invalid_value;
  if (!count) return success;
  device.queues.add(s, [=] {
    if (count > total_memory || !device.memory.holds(at(to), count * sizeof value)) {
      fprintf(stderr, "fake cuda: fill of %zu elements at %p: not inside live memory\n", count, at(to));
      return illegal_address;
    }
    std::fill_n(static_cast<Element*>(at(to)), count, value);
    device.memory.wrote(at(to), count * sizeof value);
    return success;
  });
  return success;
}

API int cuMemsetD8Async(address to, unsigned char value, size_t count, void* stream) {
  BEGIN(cuMemsetD8Async, context);
  return fill(to, value, count, stream);
}

API int cuMemsetD32Async(address to, unsigned value, size_t count, void* stream) {
  BEGIN(cuMemsetD32Async, context);
  return fill(to, value, count, stream);
}

}  // namespace host

#pragma GCC visibility pop

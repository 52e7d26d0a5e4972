// Contexts.
#pragma once
#include "calls.h"

#pragma GCC visibility push(hidden)

namespace host {

// lose ends a context. The last one takes all work with it.
static void lose(Context* c) {
  c->references = 0;
  for (const Context& o : device.contexts)
    if (o.references) return;
  device.queues.drop();
}

static int push(Context* c) {
  if (contexts.used == int(sizeof contexts.at / sizeof *contexts.at)) return invalid_value;
  contexts.at[contexts.used++] = c;
  return success;
}

API int cuDevicePrimaryCtxRetain(Context** c, int number) {
  BEGIN(cuDevicePrimaryCtxRetain, unbroken);
  if (!c) return invalid_value;
  if (number) return invalid_device;
  *c = &device.contexts.front();
  (*c)->references++;
  return success;
}

API int cuDevicePrimaryCtxRelease_v2(int number) {
  Call call("cuDevicePrimaryCtxRelease", unbroken);
  if (call.error && !call.stays) return call.error;
  Context* const c = &device.contexts.front();
  if (number) return invalid_device;
  if (!c->references) return invalid_context;
  if (--c->references == 0) lose(c);
  return call.error;
}

API int cuCtxCreate_v2(Context** c, unsigned, int number) {
  BEGIN(cuCtxCreate, unbroken);
  if (!c) return invalid_value;
  if (number) return invalid_device;
  device.contexts.push_back({1});
  *c = &device.contexts.back();
  return push(*c);
}

API int cuCtxDestroy_v2(Context* c) {
  Call call("cuCtxDestroy", unbroken);
  if (call.error && !call.stays) return call.error;
  if (!find(device.contexts, c) || c == &device.contexts.front() || !c->references) return invalid_context;
  lose(c);
  if (contexts.current() == c) contexts.used--;
  return call.error;
}

API int cuCtxSetCurrent(Context* c) {
  BEGIN(cuCtxSetCurrent, unbroken);
  if (c && (!find(device.contexts, c) || !c->references)) return invalid_context;
  if (contexts.used) contexts.used--;
  return c ? push(c) : success;
}

API int cuCtxGetCurrent(Context** c) {
  BEGIN(cuCtxGetCurrent, unbroken);
  if (!c) return invalid_value;
  *c = contexts.current();
  return success;
}

API int cuCtxPushCurrent_v2(Context* c) {
  BEGIN(cuCtxPushCurrent, unbroken);
  if (!find(device.contexts, c) || !c->references) return invalid_context;
  return push(c);
}

API int cuCtxPopCurrent_v2(Context** c) {
  BEGIN(cuCtxPopCurrent, unbroken);
  if (!contexts.used) return invalid_context;
  if (c) *c = contexts.current();
  contexts.used--;
  return success;
}

API int cuCtxSynchronize() {
  BEGIN(cuCtxSynchronize, context);
  return call.finish([] { return device.queues.idle(); });
}

}  // namespace host

#pragma GCC visibility pop

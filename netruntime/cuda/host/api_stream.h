// Streams and events.
#pragma once
#include "calls.h"

#pragma GCC visibility push(hidden)

namespace host {

API int cuStreamCreate(Stream** stream, unsigned flags) {
  BEGIN(cuStreamCreate, context);
  if (!stream || flags > 1) return invalid_value;
  *stream = device.queues.open(flags == 0);
  return success;
}

// Work that is left in a stream is still done.
API int cuStreamDestroy_v2(void* stream) {
  RELEASE(cuStreamDestroy);
  Stream* const s = device.queues.find(stream);
  if (!s || !stream) return invalid_handle;
  device.queues.close(s);
  return call.error;
}

API int cuStreamSynchronize(void* stream) {
  BEGIN(cuStreamSynchronize, context);
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  return call.finish_stream(s);
}

// A query returns the state of a stream or an event, and then does some work,
// for callers that poll until it ends.
API int cuStreamQuery(void* stream) {
  BEGIN(cuStreamQuery, context);
  Stream* const s = device.queues.find(stream);
  if (!s) return invalid_handle;
  return s->work.empty() ? int(success) : call.poll();
}

API int cuStreamWaitEvent(void* stream, Event* event, unsigned flags) {
  BEGIN(cuStreamWaitEvent, context);
  Stream* const s = device.queues.find(stream);
  if (!s || !find(device.events, event)) return invalid_handle;
  if (flags) return invalid_value;
  device.queues.wait(s, *event);
  return success;
}

API int cuEventCreate(Event** event, unsigned flags) {
  BEGIN(cuEventCreate, context);
  if (!event || flags > 3) return invalid_value;
  device.events.push_back({!(flags & 2), nullptr});
  *event = &device.events.back();
  return success;
}

API int cuEventDestroy_v2(Event* event) {
  RELEASE(cuEventDestroy);
  if (!find(device.events, event)) return invalid_handle;
  device.events.remove_if([event](const Event& e) { return &e == event; });
  return call.error;
}

API int cuEventRecord(Event* event, void* stream) {
  BEGIN(cuEventRecord, context);
  Stream* const s = device.queues.find(stream);
  if (!s || !find(device.events, event)) return invalid_handle;
  device.queues.record(s, event);
  return success;
}

API int cuEventSynchronize(Event* event) {
  BEGIN(cuEventSynchronize, context);
  if (!find(device.events, event)) return invalid_handle;
  return call.finish([event] { return event->done(); });
}

API int cuEventQuery(Event* event) {
  BEGIN(cuEventQuery, context);
  if (!find(device.events, event)) return invalid_handle;
  return event->done() ? int(success) : call.poll();
}

API int cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  BEGIN(cuEventElapsedTime, context);
  if (!milliseconds) return invalid_value;
  for (Event* e : {from, to})
    if (!find(device.events, e) || !e->timed || !e->last) return invalid_handle;
  if (!from->done() || !to->done()) return not_ready;
  *milliseconds = std::chrono::duration<float, std::milli>(to->last->when - from->last->when).count();
  return success;
}

}  // namespace host

#pragma GCC visibility pop

// Streams and events of the fake device. Work waits in its stream until the
// program synchronises. Then streams take turns in random order, within the
// order of each stream and the events. So a missing dependency shows as work
// that comes too early or too late.
#pragma once
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "block.h"

#pragma GCC visibility push(hidden)

namespace host {

// Mark is one record of an event.
struct Mark {
  bool done;
  std::chrono::steady_clock::time_point when;
};

struct Event {
  bool timed;
  std::shared_ptr<Mark> last;  // record; null before the first
  bool done() const { return !last || last->done; }
};

// Work is a computation, the record of an event, or the wait for one.
struct Work {
  std::function<int()> run;  // returns an error code
  std::shared_ptr<Mark> record, wait;
  uint64_t number;  // in order of calls, over all streams
};

struct Stream {
  bool blocking;  // in order with the default stream
  bool open;      // false after cuStreamDestroy; its work is still done
  std::list<Work> work;
};

class Queues {
 public:
  Queues() { streams_.push_back({true, true, {}}); }

  // normal is the stream that callers name 0.
  Stream* normal() { return &streams_.front(); }

  Stream* open(bool blocking) {
    streams_.push_back({blocking, true, {}});
    return &streams_.back();
  }

  // close removes a stream when its work is done.
  void close(Stream* s) {
    s->open = false;
    sweep();
  }

  // find returns the open stream of a caller's handle, or null.
  Stream* find(void* handle) {
    if (!handle) return normal();
    for (Stream& s : streams_)
      if (&s == handle && s.open) return &s;
    return nullptr;
  }

  void add(Stream* s, std::function<int()> run) { s->work.push_back({std::move(run), nullptr, nullptr, ++number_}); }

  void record(Stream* s, Event* e) {
    e->last = std::make_shared<Mark>();
    s->work.push_back({nullptr, e->last, nullptr, ++number_});
  }

  void wait(Stream* s, const Event& e) {
    if (e.last) s->work.push_back({nullptr, nullptr, e.last, ++number_});
  }

  // run does work until the condition holds. The first error ends it, and all
  // other work is dropped.
  template <class Condition>
  int run(Condition done) {
    stay_ = patience();
    while (!done())
      if (int error = step()) return error;
    return 0;
  }

  bool idle() const {
    for (const Stream& s : streams_)
      if (!s.work.empty()) return false;
    return true;
  }

  // step does one piece of work of a random stream. There must be some.
  int step() {
    std::vector<Stream*> ready;
    bool again = false;
    for (Stream& s : streams_)
      if (may_go_on(s)) {
        ready.push_back(&s);
        again |= &s == latest_;
      }
    if (ready.empty()) {
      // A record always comes before the work that waits for it.
      fputs("fake cuda: no stream can go on\n", stderr);
      abort();
    }
    if (!again || (draw() & stay_) == 0) latest_ = ready[draw() % ready.size()];
    const Work work = std::move(latest_->work.front());
    latest_->work.pop_front();
    const int error = work.run ? work.run() : 0;
    if (work.record) *work.record = {true, std::chrono::steady_clock::now()};
    if (error) drop();
    sweep();
    return error;
  }

  // drop removes all work. No work may wait for a record that was dropped.
  void drop() {
    for (Stream& s : streams_) {
      for (Work& w : s.work)
        if (w.record) w.record->done = true;
      s.work.clear();
    }
    sweep();
  }

  long long count() const {
    long long n = -1;  // the default stream belongs to nobody
    for (const Stream& s : streams_) n += s.open;
    return n;
  }

 private:
  bool may_go_on(const Stream& s) {
    if (s.work.empty()) return false;
    const Work& w = s.work.front();
    if (w.wait && !w.wait->done) return false;
    // The default stream waits for earlier work of blocking streams, and they
    // wait for its earlier work.
    if (!s.blocking) return true;
    for (const Stream& o : streams_)
      if (o.blocking && (&o == normal()) != (&s == normal()) && !o.work.empty() && o.work.front().number < w.number)
        return false;
    return true;
  }

  void sweep() {
    streams_.remove_if([](const Stream& s) { return !s.open && s.work.empty(); });
  }

  std::list<Stream> streams_;  // the default stream first
  Stream* latest_ = nullptr;   // the last one that did work
  uint64_t stay_ = 0;          // of latest_: another is drawn once in stay+1 times
  uint64_t number_ = 0;
};

}  // namespace host

#pragma GCC visibility pop

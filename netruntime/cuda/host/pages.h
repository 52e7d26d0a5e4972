// Memory of the fake device, and pinned memory of the host. Every allocation
// has pages of its own. An inaccessible page lies before it, and another
// directly after its end, rounded up to 16 bytes. So it begins at a multiple of
// only 16 bytes; a device's memory begins at one of 256. Freed memory is
// inaccessible too, and its addresses are not used again.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#pragma GCC visibility push(hidden)

namespace host {

// Range is an allocation. A byte of written is not 0 where something was written.
struct Range {
  unsigned long long begin, bytes;
  unsigned char* written;
};

class Pages {
 public:
  bool notes = false;  // what is written, from the next allocation on

  // take returns new memory filled with NaN, or null if there is none.
  void* take(size_t bytes) {
    const size_t page = sysconf(_SC_PAGESIZE);
    const size_t used = (bytes + 15) / 16 * 16, inner = (used + page - 1) / page * page;
    void* p = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    char* const first = static_cast<char*>(p) + page;
    if (mprotect(first, inner, PROT_READ | PROT_WRITE)) {
      munmap(p, inner + 2 * page);
      return nullptr;
    }
    char* const begin = first + inner - used;
    memset(begin, 0xff, used);
    Extent& e = live_[reinterpret_cast<uintptr_t>(begin)] = {bytes, first, inner};
    if (notes) e.written = std::make_unique<unsigned char[]>(bytes);
    total_ += bytes;
    return begin;
  }

  // share returns a second address of shared pages that somebody else mapped, or null if there is
  // none. They live until both addresses are given back.
  void* share(void* p, size_t bytes) {
    const size_t page = sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;
    void* const q = mremap(p, 0, inner, MREMAP_MAYMOVE);
    if (q == MAP_FAILED) return nullptr;
    live_[reinterpret_cast<uintptr_t>(q)] = {bytes, static_cast<char*>(q), inner};
    total_ += bytes;
    return q;
  }

  // give frees memory, and returns whether p was the beginning of an
  // allocation.
  bool give(const void* p) {
    const auto it = live_.find(reinterpret_cast<uintptr_t>(p));
    if (it == live_.end()) return false;
    const Extent& e = it->second;
    // Replace the mapping by a new one: the system gets the memory back.
    mmap(e.first, e.inner, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    total_ -= e.bytes;
    live_.erase(it);
    return true;
  }

  // holds returns whether the range lies inside one allocation.
  bool holds(const void* p, size_t bytes) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    auto it = live_.upper_bound(at);
    if (it == live_.begin()) return false;
    --it;
    const size_t offset = at - it->first;
    return offset <= it->second.bytes && bytes <= it->second.bytes - offset;
  }

  // wrote notes that a range was written, or, from memory of the same kind, what of it.
  void wrote(const void* p, size_t bytes, const void* from = nullptr) {
    unsigned char* const to = written(p);
    if (!to) return;
    const unsigned char* const source = written(from);
    if (source)
      memmove(to, source, bytes);
    else
      memset(to, 1, bytes);
  }

  std::vector<Range> ranges() const {
    std::vector<Range> all;
    for (const auto& [begin, e] : live_) all.push_back({begin, e.bytes, e.written.get()});
    return all;
  }

  size_t total() const { return total_; }
  long long count() const { return live_.size(); }

 private:
  struct Extent {
    size_t bytes;
    char* first;  // page
    size_t inner;
    std::unique_ptr<unsigned char[]> written;
  };

  // written returns what is noted of an address, or null.
  unsigned char* written(const void* p) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    auto it = live_.upper_bound(at);
    if (it == live_.begin()) return nullptr;
    --it;
    return it->second.written && at - it->first < it->second.bytes ? &it->second.written[at - it->first] : nullptr;
  }

  std::map<uintptr_t, Extent> live_;
  size_t total_ = 0;
};

}  // namespace host

#pragma GCC visibility pop

// Allocator of tables that are read at random places.
#ifndef TRAINYARD_DATA_BPE_HUGE_PAGE_ALLOCATOR_H_
#define TRAINYARD_DATA_BPE_HUGE_PAGE_ALLOCATOR_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace trainyard::data {

// Requests huge pages for large tables. With pages of 4 KiB, most look-ups in a table of several
// MiB also miss the TLB.
template <typename T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <typename Other>
  explicit HugePageAllocator(const HugePageAllocator<Other>&) {}

  T* allocate(size_t count) {
    const bool is_large = count * sizeof(T) >= kHugePageBytes;
    const size_t alignment = is_large ? kHugePageBytes : kCacheLineBytes;
    const size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    // Must precede the first access. Huge pages are optional, so a failure does not matter.
    if (is_large) madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  bool operator==(const HugePageAllocator&) const { return true; }

 private:
  static constexpr size_t kHugePageBytes = size_t{2} << 20;
  static constexpr size_t kCacheLineBytes = 64;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_HUGE_PAGE_ALLOCATOR_H_

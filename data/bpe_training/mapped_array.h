// A growing array that is moved by the page table instead of copied. A growing std::vector needs up
// to three times its final size for a moment, which would halve the largest input.
#ifndef TRAINYARD_DATA_BPE_TRAINING_MAPPED_ARRAY_H_
#define TRAINYARD_DATA_BPE_TRAINING_MAPPED_ARRAY_H_

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace trainyard::data {

// Elements are zero until they are written. `T` must be trivially copyable, and valid if all its
// bytes are zero.
template <typename T>
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(MappedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedArray() { Clear(); }

  // Changes the number of elements to `size`, at least 1. Returns false, without a change, if the
  // system has not enough memory.
  [[nodiscard]] bool Resize(size_t size) {
    void* const memory = data_ == nullptr
                             ? mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                             : mremap(data_, bytes(), size * sizeof(T), MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) return false;
    data_ = static_cast<T*>(memory);
    size_ = size;
    // Huge pages cause fewer page faults and TLB misses. A failure only costs time.
    madvise(data_, bytes(), MADV_HUGEPAGE);
    return true;
  }

  void Clear() {
    if (data_ != nullptr) munmap(data_, bytes());
    data_ = nullptr;
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_MAPPED_ARRAY_H_

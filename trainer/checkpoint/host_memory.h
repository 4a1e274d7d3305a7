// Host memory that a GPU copies from and to.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Page-locked where it is for a GPU. Its pages are allocated at the start: allocating them at each
// copy would cost more than the copy.
class HostMemory {
 public:
  // Throws std::bad_alloc.
  HostMemory(size_t bytes, bool for_gpu);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }
  // The reason why memory for a GPU is not page-locked; empty when it is, or is for no GPU.
  const std::string& lock_failure() const { return lock_failure_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  bool locked_ = false;
  std::string lock_failure_;
};

// One sentence for a person: so many bytes for a GPU are not page-locked, the consequence, the
// limit of this process and its remedy.
std::string UnlockedMemoryText(int64_t bytes, const std::string& reason);

// Makes the GPU the current one of the calling thread. A new thread uses GPU 0, whichever GPU its
// process uses: its first CUDA call would create a context on GPU 0, half a gigabyte of a GPU that
// belongs to another rank.
void UseDevice(torch::Device gpu);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

// Host memory for copies from and to a GPU.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Page-locked if for a GPU. Its pages are allocated once: allocating them for each copy would cost
// more than the copy.
class HostMemory {
 public:
  // Throws std::bad_alloc.
  HostMemory(size_t bytes, bool for_gpu);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }
  // Reason why memory for a GPU is not page-locked; "" if it is, or if it is not for a GPU.
  const std::string& lock_failure() const { return lock_failure_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  bool locked_ = false;
  std::string lock_failure_;
};

// One sentence for the user: how many bytes for a GPU are not page-locked, the consequence, the
// limit of this process and the remedy.
std::string UnlockedMemoryText(int64_t bytes, const std::string& reason);

// Makes the GPU current on the calling thread. A new thread uses GPU 0 by default, and its first
// CUDA call would create a context there: half a gigabyte on another rank's GPU.
void UseDevice(torch::Device gpu);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

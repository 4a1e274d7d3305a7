// Host memory for copies to and from a GPU.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Host memory; page-locked if it is for a GPU. The pages are allocated once, because allocating
// them for each copy would take longer than the copy.
class HostMemory {
 public:
  // Throws std::bad_alloc.
  HostMemory(size_t bytes, bool for_gpu);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }
  // The reason why memory for a GPU could not be page-locked; otherwise "".
  const std::string& lock_failure() const { return lock_failure_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  bool locked_ = false;
  std::string lock_failure_;
};

// Returns one sentence for the user: the number of bytes for a GPU that are not page-locked, the
// consequence, the limit of this process and the remedy.
std::string UnlockedMemoryText(int64_t bytes, const std::string& reason);

// Makes the GPU the current device of the calling thread. By default, a new thread uses GPU 0. Its
// first CUDA call would then create a context there, which takes half a gigabyte on a GPU that
// belongs to another rank.
void UseDevice(torch::Device gpu);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_MEMORY_H_

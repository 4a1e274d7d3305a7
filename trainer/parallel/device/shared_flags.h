// Counters in host memory that several processes of one host share, and that their GPUs write and
// wait for.
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_SHARED_FLAGS_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_SHARED_FLAGS_H_

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::trainer {

// All counters are 0 at first. Methods throw TrainerError(kInternal). In host memory, another
// thread can end a GPU's wait with a plain store, even if every CUDA function would block.
class SharedFlags {
 public:
  // Returns an unused name for a new object.
  static std::string NewName();

  // Creates `count` counters under `name`, or opens those that another member has created.
  SharedFlags(const std::string& name, int64_t count, bool creates);
  ~SharedFlags();
  SharedFlags(const SharedFlags&) = delete;
  SharedFlags& operator=(const SharedFlags&) = delete;

  // Makes the counters available to the current device. Must be called before DeviceAddress.
  void Register();

  // Removes the name. The counters remain until every process has closed them.
  void RemoveName();

  void Store(int64_t flag, uint32_t value) { At(flag) = value; }
  // The address of a counter for a GPU.
  CUdeviceptr DeviceAddress(int64_t flag) const {
    return device_address_ + static_cast<CUdeviceptr>(flag) * kDistance;
  }

 private:
  // Each counter has its own cache line.
  static constexpr size_t kDistance = 64;

  std::atomic<uint32_t>& At(int64_t flag) {
    return *reinterpret_cast<std::atomic<uint32_t>*>(memory_ + flag * kDistance);
  }
  const std::string name_;
  const size_t bytes_;
  bool has_name_;
  char* memory_ = nullptr;
  CUdeviceptr device_address_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_SHARED_FLAGS_H_

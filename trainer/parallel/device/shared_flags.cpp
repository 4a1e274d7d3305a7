#include "trainer/parallel/device/shared_flags.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/cuda_event.h"

namespace trainyard::trainer {
namespace {

[[noreturn]] void FailToShare(const char* call) {
  throw TrainerError(ExitCode::kInternal, std::string(call) + " for memory in /dev/shm failed: " +
                                              std::strerror(errno) + ".");
}

}  // namespace

std::string SharedFlags::NewName() {
  std::random_device random;
  return "/trainyard-" + std::to_string(random()) + "-" + std::to_string(random());
}

SharedFlags::SharedFlags(const std::string& name, int64_t count, bool creates)
    : name_(name), bytes_(static_cast<size_t>(count) * kDistance), has_name_(creates) {
  const int descriptor =
      shm_open(name.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT | O_EXCL : 0), 0600);
  if (descriptor < 0) FailToShare("shm_open");
  const bool is_sized = !creates || ftruncate(descriptor, static_cast<off_t>(bytes_)) == 0;
  void* const memory =
      is_sized ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
               : MAP_FAILED;
  const int error = errno;
  close(descriptor);
  if (memory == MAP_FAILED) {
    RemoveName();
    errno = error;
    FailToShare("mmap");
  }
  memory_ = static_cast<char*>(memory);
}

SharedFlags::~SharedFlags() {
  RemoveName();
  if (device_address_ != 0) static_cast<void>(cudaHostUnregister(memory_));
  munmap(memory_, bytes_);
}

void SharedFlags::Register() {
  CheckCuda("cudaHostRegister",
            cudaHostRegister(memory_, bytes_, cudaHostRegisterPortable | cudaHostRegisterMapped));
  void* address = nullptr;
  const cudaError_t result = cudaHostGetDevicePointer(&address, memory_, 0);
  if (result != cudaSuccess) static_cast<void>(cudaHostUnregister(memory_));
  CheckCuda("cudaHostGetDevicePointer", result);
  device_address_ = reinterpret_cast<CUdeviceptr>(address);
}

void SharedFlags::RemoveName() {
  if (has_name_) shm_unlink(name_.c_str());
  has_name_ = false;
}

}  // namespace trainyard::trainer

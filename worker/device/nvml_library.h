// NVIDIA's management library while it is loaded. Prototypes and constants follow nvml.h of CUDA 11
// and newer, whose binary interface is stable.
#ifndef TRAINYARD_WORKER_DEVICE_NVML_LIBRARY_H_
#define TRAINYARD_WORKER_DEVICE_NVML_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/nvml.h"

namespace trainyard::worker {

using NvmlResult = int;  // nvmlReturn_t
inline constexpr NvmlResult kNvmlSuccess = 0;
using NvmlDevice = void*;  // nvmlDevice_t

struct NvmlMemory {  // nvmlMemory_t
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// Loaded and initialised from Load on.
class NvmlLibrary {
 public:
  NvmlLibrary() = default;
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  // NOT_FOUND: no such library. UNAVAILABLE: it does not work.
  absl::Status Load(const std::string& library);

  // 1,024 at most.
  absl::StatusOr<unsigned> Count() const;
  absl::StatusOr<NvmlDevice> Device(unsigned index) const;
  absl::StatusOr<Gpu> Describe(unsigned index) const;
  NvmlResult ReadMemory(NvmlDevice device, NvmlMemory& memory) const {
    return get_memory_(device, &memory);
  }

  // A function that older drivers may lack; false leaves `function` null.
  template <typename Function>
  bool Find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(FindSymbol(name));
    return function != nullptr;
  }

  // UNAVAILABLE with NVML's message when the result is an error.
  absl::Status Check(NvmlResult result, const std::string& what) const;

 private:
  void* FindSymbol(const char* name) const;

  void* library_ = nullptr;
  bool initialised_ = false;
  NvmlResult (*init_)() = nullptr;
  NvmlResult (*shutdown_)() = nullptr;
  const char* (*error_string_)(NvmlResult) = nullptr;
  NvmlResult (*get_count_)(unsigned*) = nullptr;
  NvmlResult (*get_handle_)(unsigned, NvmlDevice*) = nullptr;
  NvmlResult (*get_name_)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlResult (*get_uuid_)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlResult (*get_memory_)(NvmlDevice, NvmlMemory*) = nullptr;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_NVML_LIBRARY_H_

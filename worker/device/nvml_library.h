// Access to NVML, NVIDIA's management library, which is loaded with dlopen. Prototypes and
// constants follow nvml.h of CUDA 11 and newer, whose binary interface is stable.
#ifndef TRAINYARD_WORKER_DEVICE_NVML_LIBRARY_H_
#define TRAINYARD_WORKER_DEVICE_NVML_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/gpu.h"

namespace trainyard::worker {

using NvmlResult = int;  // nvmlReturn_t
inline constexpr NvmlResult kNvmlSuccess = 0;
using NvmlDevice = void*;  // nvmlDevice_t

struct NvmlMemory {  // nvmlMemory_t, in bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// Call Load once. Call the other functions only if Load succeeded. The destructor shuts NVML down
// and unloads the library.
class NvmlLibrary {
 public:
  NvmlLibrary() = default;
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  // NOT_FOUND if the library does not exist. UNAVAILABLE if the library cannot be loaded, lacks
  // functions or cannot be initialized.
  absl::Status Load(const std::string& library);

  // Number of GPUs, at most kMaxSlotsOfNode (proto/contract/limits.h).
  absl::StatusOr<unsigned> Count() const;
  // `index` is from 0 to Count() - 1, in NVML's order (by PCI bus).
  absl::StatusOr<NvmlDevice> Device(unsigned index) const;
  absl::StatusOr<Gpu> Describe(unsigned index) const;
  NvmlResult ReadMemory(NvmlDevice device, NvmlMemory& memory) const {
    return get_memory_(device, &memory);
  }

  // Looks up a function by its C name. If the driver lacks the function, sets `function` to null
  // and returns false.
  template <typename Function>
  bool Find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(FindSymbol(name));
    return function != nullptr;
  }

  // If the result is an error, returns UNAVAILABLE with the text "`what`: NVML's message".
  absl::Status Check(NvmlResult result, const std::string& what) const;

 private:
  void* FindSymbol(const char* name) const;

  void* library_ = nullptr;
  bool initialised_ = false;
  // Functions of NVML, set by Load.
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

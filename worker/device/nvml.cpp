#include "worker/device/nvml.h"

#include <dlfcn.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

using Result = int;  // nvmlReturn_t
constexpr Result kSuccess = 0;
constexpr unsigned kNameBytes = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr unsigned kUuidBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kMaxGpus = 1024;

using Device = void*;  // nvmlDevice_t

struct Memory {  // nvmlMemory_t
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// The library while it is loaded and initialised.
class Nvml {
 public:
  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (initialised_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }

  absl::Status Load(const std::string& library) {
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return absl::NotFoundError(dlerror());
    const bool complete =
        Find("nvmlInit_v2", init_) && Find("nvmlShutdown", shutdown_) &&
        Find("nvmlErrorString", error_string_) && Find("nvmlDeviceGetCount_v2", get_count_) &&
        Find("nvmlDeviceGetHandleByIndex_v2", get_handle_) &&
        Find("nvmlDeviceGetName", get_name_) && Find("nvmlDeviceGetUUID", get_uuid_) &&
        Find("nvmlDeviceGetMemoryInfo", get_memory_);
    if (!complete) {
      return absl::UnavailableError(
          absl::StrCat(library, " lacks functions that the worker needs; is the driver too old?"));
    }
    TRAINYARD_RETURN_IF_ERROR(Check(init_(), "NVML does not start"));
    initialised_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<unsigned> Count() const {
    unsigned count = 0;
    TRAINYARD_RETURN_IF_ERROR(Check(get_count_(&count), "NVML does not count GPUs"));
    return std::min(count, kMaxGpus);
  }

  absl::StatusOr<Gpu> Read(unsigned index) const {
    Device device = nullptr;
    char name[kNameBytes] = "";
    char uuid[kUuidBytes] = "";
    Memory memory = {};
    const std::string gpu = absl::StrCat("GPU ", index, " is left out");
    TRAINYARD_RETURN_IF_ERROR(Check(get_handle_(index, &device), gpu));
    TRAINYARD_RETURN_IF_ERROR(Check(get_name_(device, name, kNameBytes), gpu));
    TRAINYARD_RETURN_IF_ERROR(Check(get_uuid_(device, uuid, kUuidBytes), gpu));
    TRAINYARD_RETURN_IF_ERROR(Check(get_memory_(device, &memory), gpu));
    return Gpu{name, uuid, static_cast<int64_t>(memory.total)};
  }

 private:
  template <typename Function>
  bool Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  absl::Status Check(Result result, const std::string& what) const {
    if (result == kSuccess) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat(what, ": ", error_string_(result), " (NVML error ", result, ")"));
  }

  void* library_ = nullptr;
  bool initialised_ = false;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  const char* (*error_string_)(Result) = nullptr;
  Result (*get_count_)(unsigned*) = nullptr;
  Result (*get_handle_)(unsigned, Device*) = nullptr;
  Result (*get_name_)(Device, char*, unsigned) = nullptr;
  Result (*get_uuid_)(Device, char*, unsigned) = nullptr;
  Result (*get_memory_)(Device, Memory*) = nullptr;
};

}  // namespace

absl::StatusOr<GpuList> ListGpus(const std::string& library) {
  Nvml nvml;
  TRAINYARD_RETURN_IF_ERROR(nvml.Load(library));
  TRAINYARD_ASSIGN_OR_RETURN(const unsigned count, nvml.Count());
  GpuList list;
  for (unsigned index = 0; index < count; ++index) {
    absl::StatusOr<Gpu> gpu = nvml.Read(index);
    if (gpu.ok()) {
      list.gpus.push_back(*std::move(gpu));
    } else {
      list.warnings.emplace_back(gpu.status().message());
    }
  }
  return list;
}

}  // namespace trainyard::worker

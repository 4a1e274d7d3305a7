#include "worker/device/nvml_library.h"

#include <dlfcn.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

constexpr unsigned kNameBytes = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr unsigned kUuidBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE

// Returns NOT_FOUND only if the library does not exist, as on a machine without a driver. The
// driver counts as broken if the library exists but cannot be loaded, such as the empty file in
// some container images.
absl::Status CannotLoad(const std::string& library, const std::string& message) {
  if (absl::StartsWith(message, library + ":") &&
      absl::EndsWith(message, "No such file or directory")) {
    return absl::NotFoundError(message);
  }
  return absl::UnavailableError(message);
}

}  // namespace

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) shutdown_();
  if (library_ != nullptr) dlclose(library_);
}

void* NvmlLibrary::FindSymbol(const char* name) const { return dlsym(library_, name); }

absl::Status NvmlLibrary::Load(const std::string& library) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return CannotLoad(library, dlerror());
  const bool complete =
      Find("nvmlInit_v2", init_) && Find("nvmlShutdown", shutdown_) &&
      Find("nvmlErrorString", error_string_) && Find("nvmlDeviceGetCount_v2", get_count_) &&
      Find("nvmlDeviceGetHandleByIndex_v2", get_handle_) && Find("nvmlDeviceGetName", get_name_) &&
      Find("nvmlDeviceGetUUID", get_uuid_) && Find("nvmlDeviceGetMemoryInfo", get_memory_);
  if (!complete) {
    return absl::UnavailableError(
        absl::StrCat(library,
                     " lacks functions that the worker needs, probably because the driver is too "
                     "old; install a newer NVIDIA driver"));
  }
  TRAINYARD_RETURN_IF_ERROR(Check(init_(), "cannot initialize NVML"));
  initialised_ = true;
  return absl::OkStatus();
}

absl::StatusOr<unsigned> NvmlLibrary::Count() const {
  unsigned count = 0;
  TRAINYARD_RETURN_IF_ERROR(Check(get_count_(&count), "NVML cannot count the GPUs"));
  return std::min(count, static_cast<unsigned>(kMaxSlotsOfNode));
}

absl::StatusOr<NvmlDevice> NvmlLibrary::Device(unsigned index) const {
  NvmlDevice device = nullptr;
  TRAINYARD_RETURN_IF_ERROR(
      Check(get_handle_(index, &device), absl::StrCat("GPU ", index, " is not offered to jobs")));
  return device;
}

absl::StatusOr<Gpu> NvmlLibrary::Describe(unsigned index) const {
  char name[kNameBytes] = "";
  char uuid[kUuidBytes] = "";
  NvmlMemory memory = {};
  const std::string gpu = absl::StrCat("GPU ", index, " is not offered to jobs");
  TRAINYARD_ASSIGN_OR_RETURN(const NvmlDevice device, Device(index));
  TRAINYARD_RETURN_IF_ERROR(Check(get_name_(device, name, kNameBytes), gpu));
  TRAINYARD_RETURN_IF_ERROR(Check(get_uuid_(device, uuid, kUuidBytes), gpu));
  TRAINYARD_RETURN_IF_ERROR(Check(get_memory_(device, &memory), gpu));
  return Gpu{name, uuid, static_cast<int64_t>(memory.total)};
}

absl::Status NvmlLibrary::Check(NvmlResult result, const std::string& what) const {
  if (result == kNvmlSuccess) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(what, ": ", error_string_(result), " (NVML error ", result, ")"));
}

}  // namespace trainyard::worker

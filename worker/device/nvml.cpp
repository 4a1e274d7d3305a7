#include "worker/device/nvml.h"

#include <utility>

#include "proto/support/status_macros.h"
#include "worker/device/nvml_library.h"

namespace trainyard::worker {

absl::StatusOr<GpuList> ListGpus(const std::string& library) {
  NvmlLibrary nvml;
  TRAINYARD_RETURN_IF_ERROR(nvml.Load(library));
  TRAINYARD_ASSIGN_OR_RETURN(const unsigned count, nvml.Count());
  GpuList list;
  for (unsigned index = 0; index < count; ++index) {
    absl::StatusOr<Gpu> gpu = nvml.Describe(index);
    if (gpu.ok()) {
      list.gpus.push_back(*std::move(gpu));
    } else {
      list.warnings.emplace_back(gpu.status().message());
    }
  }
  return list;
}

}  // namespace trainyard::worker

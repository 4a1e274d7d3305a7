#include "worker/device/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/contract/limits.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "worker/device/nvml.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kMaxCpuInfoBytes = 16 << 20;

// Returns the number of cores that this process may use. An affinity mask or a container may allow
// fewer cores than exist.
int UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(CPU_COUNT(&cores), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int64_t MachineMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

// Returns the model name of the first core, for example "Intel(R) ..." from "model name : Intel(R)
// ...". Returns "cpu" if the kernel reports no name, as on Arm.
std::string CpuModel() {
  const absl::StatusOr<std::string> text = ReadSmallFile("/proc/cpuinfo", kMaxCpuInfoBytes);
  if (!text.ok()) return "cpu";
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(field.first) != "model name") continue;
    const absl::string_view model = absl::StripAsciiWhitespace(field.second);
    if (!model.empty()) return ReplaceInvalidUtf8(std::string(model));
  }
  return "cpu";
}

v1::Slot& AddSlot(v1::Inventory& inventory, v1::DeviceKind kind) {
  v1::Slot& slot = *inventory.add_slots();
  slot.set_index(inventory.slots_size() - 1);
  slot.set_kind(kind);
  return slot;
}

void AddGpuSlots(const std::string& nvml_library, DetectedInventory& detected) {
  const absl::StatusOr<GpuList> list = ListGpus(nvml_library);
  if (!list.ok()) {
    // A CPU machine normally has no driver, so NOT_FOUND needs no warning. Only a broken driver
    // needs a warning.
    if (!absl::IsNotFound(list.status())) {
      detected.warnings.emplace_back(list.status().message());
    }
    return;
  }
  for (const Gpu& gpu : list->gpus) {
    v1::Slot& slot = AddSlot(detected.inventory, v1::DEVICE_KIND_GPU);
    slot.set_model(ReplaceInvalidUtf8(gpu.model));
    slot.set_uuid(ReplaceInvalidUtf8(gpu.uuid));
    slot.set_memory_bytes(gpu.memory_bytes);
  }
  detected.warnings.insert(detected.warnings.end(), list->warnings.begin(), list->warnings.end());
}

void AddCpuSlots(int count, v1::Inventory& inventory) {
  if (count == 0) return;
  const std::string model = CpuModel();
  for (int i = 0; i < count; ++i) {
    v1::Slot& slot = AddSlot(inventory, v1::DEVICE_KIND_CPU);
    slot.set_model(model);
    slot.set_memory_bytes(inventory.memory_bytes() / count);
  }
}

}  // namespace

absl::StatusOr<DetectedInventory> DetectInventory(const InventoryOptions& options) {
  if (options.cpu_slots.has_value() &&
      (*options.cpu_slots < 0 || *options.cpu_slots > kMaxSlotsOfNode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        *options.cpu_slots, " CPU slots cannot be offered; set --cpu-slots to a number from 0 to ",
        kMaxSlotsOfNode));
  }
  DetectedInventory detected;
  detected.inventory.set_cpu_cores(UsableCores());
  detected.inventory.set_memory_bytes(MachineMemory());
  AddGpuSlots(options.nvml_library, detected);
  const bool has_gpus = detected.inventory.slots_size() > 0;
  const int default_slots =
      has_gpus ? 0 : std::min(detected.inventory.cpu_cores(), kMaxSlotsOfNode);
  const int cpu_slots = options.cpu_slots.value_or(default_slots);
  const int gpu_slots = detected.inventory.slots_size();
  if (gpu_slots + cpu_slots > kMaxSlotsOfNode) {
    return absl::InvalidArgumentError(absl::StrCat(
        gpu_slots, " GPUs and ", cpu_slots, " CPU slots are too many, because a node has at most ",
        kMaxSlotsOfNode, " slots; set fewer CPU slots"));
  }
  AddCpuSlots(cpu_slots, detected.inventory);
  return detected;
}

}  // namespace trainyard::worker

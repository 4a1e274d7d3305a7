// Slots that this node offers: GPUs found through NVML, else CPU slots.
#ifndef TRAINYARD_WORKER_DEVICE_INVENTORY_H_
#define TRAINYARD_WORKER_DEVICE_INVENTORY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::worker {

struct InventoryOptions {
  // Slots on the CPU; when not given, the number of usable cores on a node without GPUs, else 0.
  std::optional<int> cpu_slots;
  // Loaded with dlopen at run time: the worker runs on machines that have no driver.
  std::string nvml_library = "libnvidia-ml.so.1";
};

struct DetectedInventory {
  // GPU slots first, in NVML's order, then CPU slots; indexes are positions. Start a rank on a GPU
  // slot with CUDA_VISIBLE_DEVICES = the slot's UUID: CUDA's own numbering may differ from NVML's.
  v1::Inventory inventory;
  // Devices that are there but cannot be used, and why; one line each, for the log.
  std::vector<std::string> warnings;
};

// Detects the devices once; takes up to a second on a machine with many GPUs. Not thread-safe.
// INVALID_ARGUMENT for a negative or absurd number of CPU slots.
absl::StatusOr<DetectedInventory> DetectInventory(const InventoryOptions& options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_INVENTORY_H_

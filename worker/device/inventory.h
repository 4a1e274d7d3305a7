// Detects the slots that this node offers: one for each GPU that NVML finds, otherwise CPU slots.
// Each slot is for one rank.
#ifndef TRAINYARD_WORKER_DEVICE_INVENTORY_H_
#define TRAINYARD_WORKER_DEVICE_INVENTORY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::worker {

struct InventoryOptions {
  // The number of CPU slots. If unset, a node with usable GPUs has none. Any other node has one per
  // usable core, up to kMaxSlotsOfNode (proto/contract/limits.h).
  std::optional<int> cpu_slots;
  // The name or path for dlopen. The worker is not linked with the library, because the worker also
  // runs on machines without a driver.
  std::string nvml_library = "libnvidia-ml.so.1";
};

struct DetectedInventory {
  // GPU slots first, in NVML's order, then CPU slots. The index of a slot is its position in this
  // list. To start a rank on a GPU slot, set CUDA_VISIBLE_DEVICES to the slot's UUID, not to its
  // index: CUDA's numbering may differ from NVML's, and a GPU that cannot be used has no slot.
  v1::Inventory inventory;
  // Existing devices that cannot be used, and why. One line per device, for the log.
  std::vector<std::string> warnings;
};

// Detects the devices once. Takes up to a second on a machine with many GPUs. Not thread-safe.
// INVALID_ARGUMENT if cpu_slots is negative or above kMaxSlotsOfNode.
absl::StatusOr<DetectedInventory> DetectInventory(const InventoryOptions& options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_INVENTORY_H_

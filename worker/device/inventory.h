// Slots offered by this node, one rank each: GPUs found through NVML, else CPU slots.
#ifndef TRAINYARD_WORKER_DEVICE_INVENTORY_H_
#define TRAINYARD_WORKER_DEVICE_INVENTORY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::worker {

struct InventoryOptions {
  // Number of CPU slots. Unset: on a node without usable GPUs one per usable core, at most
  // kMaxSlotsOfNode (proto/contract/limits.h); 0 on a node with GPUs.
  std::optional<int> cpu_slots;
  // Name or path for dlopen. Not linked, because the worker also runs on machines without a driver.
  std::string nvml_library = "libnvidia-ml.so.1";
};

struct DetectedInventory {
  // GPU slots first, in NVML's order, then CPU slots; a slot's index is its position here. Start a
  // rank on a GPU slot with CUDA_VISIBLE_DEVICES = the slot's UUID, not its index: CUDA's numbering
  // may differ from NVML's, and a GPU that cannot be used has no slot.
  v1::Inventory inventory;
  // Devices that are present but unusable, and why; one line each, for the log.
  std::vector<std::string> warnings;
};

// Detects the devices once; takes up to a second on a machine with many GPUs. Not thread-safe.
// INVALID_ARGUMENT if cpu_slots is negative or above kMaxSlotsOfNode.
absl::StatusOr<DetectedInventory> DetectInventory(const InventoryOptions& options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_INVENTORY_H_

// Clusters for planning: devices, the links between them, and their published figures.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "controller/planner/step_scale.h"
#include "proto/contract/device_table.h"

namespace trainyard::planner {

// A link between two devices. The bandwidth is in bytes per second, per device and direction.
struct Link {
  std::string_view name;
  double bandwidth = 0;
  double latency = 0;  // Seconds until the first byte of a collective's message arrives.
};

// A kind of GPU, with the figures that predictions need. The rating has peak rates and memory.
struct DeviceSpec {
  const DeviceRating* rating = nullptr;
  double memory_bandwidth = 0;  // Bytes per second (data sheet).
  double power_watts = 0;       // Default power limit.
  // Share of the peak rate that matrix products sustain under training load: the power limit lowers
  // the clock of larger GPUs.
  double sustained_products = 0;
  double fp8_flops = 0;      // Dense FLOP/s (data sheet); 0 without FP8.
  double sustained_fp8 = 0;  // FLOP/s of FP8 products under training load.
  Link node_link;            // To the other devices of the node.
  std::string_view network;  // Usual network of such nodes: a name of KnownNetworks().
};

// nullptr for an unknown device. `name` is a driver's name or a short name, case-insensitive:
// "NVIDIA H200", "h200".
const DeviceSpec* FindDeviceSpec(std::string_view name);
std::span<const DeviceSpec> KnownDeviceSpecs();

// States which device's figures are used for `name`, because a name with the same beginning may be
// another variant. "" if `name` is exactly the device's name.
std::string DeviceNote(std::string_view name, const DeviceSpec& device);

// A CPU slot with rough figures, only for comparing layouts. Its memory is not predicted, so every
// layout fits. It has no bf16.
const DeviceSpec& CpuSlotSpec();

// Networks between nodes, with bandwidths per device. nullptr for an unknown name.
const Link* FindNetwork(std::string_view name);
std::span<const Link> KnownNetworks();

// Storage for token files, as seen by a rank's single reader.
struct Storage {
  std::string_view name;
  double seconds_per_sample = 0;  // Latency of a sample at a random offset.
  double bandwidth = 0;           // Bytes per second.
};
std::span<const Storage> KnownStorages();
// nullptr for an unknown name.
const Storage* FindStorage(std::string_view name);

struct Cluster {
  const DeviceSpec* device = nullptr;
  int64_t nodes = 1;
  int64_t per_node = 8;
  Link network;
  StepScale scale;                   // From a calibration (calibration.h) of such devices.
  const Storage* storage = nullptr;  // nullptr: reading time is ignored.
  // Note on the device used if the requested name is not in the table; else empty.
  std::string device_note;

  int64_t devices() const { return nodes * per_node; }
};

// Text such as "8 nodes of 8 H100".
std::string ClusterText(const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

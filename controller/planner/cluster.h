// Clusters for planning: devices, the links between them, and published performance figures.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "controller/planner/network_tree.h"
#include "controller/planner/step_scale.h"
#include "proto/contract/device_table.h"

namespace trainyard::planner {

// A link between two devices. The bandwidth is in bytes per second, per device and per direction.
struct Link {
  std::string_view name;
  double bandwidth = 0;
  double latency = 0;  // Seconds until the first byte of a collective's message arrives.
};

// A kind of GPU, with the figures that predictions need. `rating` contains peak rates and memory
// size.
struct DeviceSpec {
  const DeviceRating* rating = nullptr;
  double memory_bandwidth = 0;  // Bytes per second (data sheet).
  double power_watts = 0;       // Default power limit.
  // The share of the peak rate that matrix products sustain under training load. The share is below
  // 1, because larger GPUs lower their clock to stay within the power limit.
  double sustained_products = 0;
  double fp8_flops = 0;      // Dense FLOP/s (data sheet). 0 without FP8.
  double sustained_fp8 = 0;  // FLOP/s that FP8 products sustain under training load.
  Link node_link;            // The link to the other devices of the node.
  std::string_view network;  // The usual network of such nodes, a name of KnownNetworks().
};

// Returns nullptr for an unknown device. `name` is the driver's name or a short name, such as
// "NVIDIA H200" or "h200". The case of letters is ignored.
const DeviceSpec* FindDeviceSpec(std::string_view name);
std::span<const DeviceSpec> KnownDeviceSpecs();

// Returns a note naming the device whose figures are used for `name`. Empty if `name` is exactly
// that device's name. Otherwise `name` begins with that name and may be another variant.
std::string DeviceNote(std::string_view name, const DeviceSpec& device);

// Returns a CPU slot with rough figures, which suffice only for comparing layouts. The slot's
// memory use is not predicted, so every layout fits. The slot does not support bf16.
const DeviceSpec& CpuSlotSpec();

// Finds a network between nodes by its name. Returns nullptr if the name is unknown. The network's
// bandwidth is per device.
const Link* FindNetwork(std::string_view name);
std::span<const Link> KnownNetworks();

// Storage of token files, as seen by one rank, which has one reader.
struct Storage {
  std::string_view name;
  double seconds_per_sample = 0;  // Latency of reading a sample at a random offset.
  double bandwidth = 0;           // Bytes per second.
};
std::span<const Storage> KnownStorages();
// Returns nullptr for an unknown name.
const Storage* FindStorage(std::string_view name);

struct Cluster {
  const DeviceSpec* device = nullptr;
  int64_t nodes = 1;
  int64_t per_node = 8;
  Link network;
  StepScale scale;                   // From a calibration of such devices (calibration.h).
  const Storage* storage = nullptr;  // If nullptr, predictions ignore the time for reading.
  // The switches between these nodes. If nullptr, all nodes communicate at the speed of `network`.
  std::shared_ptr<const NetworkTree> tree;
  // If the table does not contain the requested device: a note that names the device whose figures
  // are used. Otherwise empty.
  std::string device_note;

  int64_t devices() const { return nodes * per_node; }
};

// Returns a text such as "8 nodes of 8 H100".
std::string ClusterText(const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

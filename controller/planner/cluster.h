// Clusters that plans are made for: devices, the links between them, and their published figures.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "controller/planner/step_scale.h"
#include "proto/contract/device_table.h"

namespace trainyard::planner {

// A way between two devices. Bytes a second in one direction, for each device.
struct Link {
  std::string_view name;
  double bandwidth = 0;
  double latency = 0;  // Seconds until the first byte of a message of a collective is there.
};

// A kind of GPU as the predictions need it; the peak rates and the memory are the rating's.
struct DeviceSpec {
  const DeviceRating* rating = nullptr;
  double memory_bandwidth = 0;  // Bytes a second, by the data sheet.
  double power_watts = 0;       // Limit as sold.
  // Part of the peak rate that matrix products keep under training load: the power limit lowers the
  // clock of the larger GPUs.
  double sustained_products = 0;
  double fp8_flops = 0;      // FLOP/s by the data sheet, dense; 0: has none.
  double sustained_fp8 = 0;  // FLOP/s of products in FP8 under training load.
  Link node_link;            // To the other devices of a node.
  std::string_view network;  // Usual network of such nodes: a name of KnownNetworks().
};

// nullptr for an unknown device. `name` is a driver's name or a short one, in any case of letters:
// "NVIDIA H200", "h200".
const DeviceSpec* FindDeviceSpec(std::string_view name);
std::span<const DeviceSpec> KnownDeviceSpecs();

// The figures that stand for `name`, where it is not exactly the device's name in the table; ""
// where it is. A name that only begins alike may be another variant.
std::string DeviceNote(std::string_view name, const DeviceSpec& device);

// A CPU slot: rough figures, by which layouts can be compared. Its memory is not predicted, so that
// every layout fits; it has no bf16.
const DeviceSpec& CpuSlotSpec();

// Networks between nodes, for each device. nullptr for an unknown name.
const Link* FindNetwork(std::string_view name);
std::span<const Link> KnownNetworks();

// A place of token files, as the one reader of a rank sees it.
struct Storage {
  std::string_view name;
  double seconds_per_sample = 0;  // Until the first byte of a sample at a random place.
  double bandwidth = 0;           // Bytes a second.
};
std::span<const Storage> KnownStorages();
// nullptr for an unknown name.
const Storage* FindStorage(std::string_view name);

struct Cluster {
  const DeviceSpec* device = nullptr;
  int64_t nodes = 1;
  int64_t per_node = 8;
  Link network;
  StepScale scale;                   // Of a calibration (calibration.h) for such devices.
  const Storage* storage = nullptr;  // nullptr: reading is not counted.
  // What stands for a device that was asked for by another name than the table's; else empty.
  std::string device_note;

  int64_t devices() const { return nodes * per_node; }
};

// "8 nodes of 8 H100".
std::string ClusterText(const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLUSTER_H_

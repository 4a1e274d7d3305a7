#include "controller/planner/mixed_device.h"

#include <algorithm>

namespace trainyard::planner {
namespace {

double SustainedFlops(const DeviceSpec& device) {
  return device.rating->bf16_flops * device.sustained_products;
}

double BandwidthOf(const DeviceSpec& device) {
  const Link* network = FindNetwork(device.network);
  return network == nullptr ? 0 : network->bandwidth;
}

}  // namespace

void MixDevices(std::span<const DeviceSpec* const> devices, MixedDevice& mixed) {
  const DeviceSpec& slowest = **std::min_element(
      devices.begin(), devices.end(), [](const DeviceSpec* left, const DeviceSpec* right) {
        return SustainedFlops(*left) < SustainedFlops(*right);
      });
  DeviceRating rating = *slowest.rating;
  DeviceSpec spec = slowest;
  for (const DeviceSpec* device : devices) {
    rating.memory_bytes = std::min(rating.memory_bytes, device->rating->memory_bytes);
    rating.fp32_flops = std::min(rating.fp32_flops, device->rating->fp32_flops);
    rating.fp16_flops = std::min(rating.fp16_flops, device->rating->fp16_flops);
    spec.memory_bandwidth = std::min(spec.memory_bandwidth, device->memory_bandwidth);
    spec.fp8_flops = std::min(spec.fp8_flops, device->fp8_flops);
    spec.sustained_fp8 = std::min(spec.sustained_fp8, device->sustained_fp8);
    if (device->node_link.bandwidth < spec.node_link.bandwidth) spec.node_link = device->node_link;
    if (BandwidthOf(*device) < BandwidthOf(spec)) spec.network = device->network;
  }
  mixed.rating = rating;
  mixed.spec = spec;
  mixed.spec.rating = &mixed.rating;
}

}  // namespace trainyard::planner

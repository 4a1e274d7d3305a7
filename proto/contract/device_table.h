// Memory and peak rates of the GPUs that ranks run on, from the vendor's data sheets.
#ifndef TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_
#define TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace trainyard {

// One kind of GPU. Peaks are dense, without sparsity, at boost clock.
struct DeviceRating {
  std::string_view name;     // Part of what the driver calls it, such as "H200".
  int64_t memory_bytes = 0;  // As sold: GB of 1e9 bytes. The driver keeps some of it.
  double bf16_flops = 0;     // FLOP/s on tensor cores with fp32 accumulation; 0: has none.
  double fp32_flops = 0;     // FLOP/s without tensor cores.
};

// Every known device. Where one name begins like another, the longer one comes first, because
// FindDevice returns the first match.
std::span<const DeviceRating> KnownDevices();

// The entry that `device_name` names ("NVIDIA H200"); nullptr when none is, as for CPUs.
const DeviceRating* FindDevice(std::string_view device_name);

// True where `entry` is in `device_name` and begins a word there: "H200" names no "GH200".
bool NamesDevice(std::string_view device_name, std::string_view entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

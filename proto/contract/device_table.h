// Memory and peak rates of GPUs, from the vendor's data sheets.
#ifndef TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_
#define TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace trainyard {

// One kind of GPU. Peaks are dense, without sparsity, at boost clock.
struct DeviceRating {
  std::string_view name;     // Part of the name reported by the driver, such as "H200".
  int64_t memory_bytes = 0;  // As sold: GB of 1e9 bytes. The driver keeps some of it.
  double bf16_flops = 0;     // FLOP/s on tensor cores with fp32 accumulation; 0 if it has none.
  double fp32_flops = 0;     // FLOP/s without tensor cores.
};

// Every known device. If one name begins like another, the longer one comes first, because
// FindDevice returns the first match.
std::span<const DeviceRating> KnownDevices();

// The entry for `device_name` ("NVIDIA H200"); nullptr if there is none, as for CPUs.
const DeviceRating* FindDevice(std::string_view device_name);

// True if `entry` occurs in `device_name` at the start of a word: "H200" does not match "GH200".
bool NamesDevice(std::string_view device_name, std::string_view entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

// Memory and peak rates of GPUs, from the vendor's data sheets.
#ifndef TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_
#define TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace trainyard {

// One kind of GPU. Peak rates are for dense data (without sparsity) at boost clock.
struct DeviceRating {
  std::string_view name;     // A part of the driver's name, such as "H200".
  int64_t memory_bytes = 0;  // As sold, in units of 1e9 bytes, or as reported by CUDA.
  double bf16_flops = 0;     // FLOP/s on tensor cores with fp32 accumulation; 0 if none.
  double fp32_flops = 0;     // FLOP/s without tensor cores.
  // Differs from bf16_flops only for GPUs whose tensor cores have no bf16.
  double fp16_flops = bf16_flops;
};

// FindDevice returns the first entry that matches. Therefore, if one name is the beginning of
// another, the longer name comes first.
std::span<const DeviceRating> KnownDevices();

// Returns the entry for `device_name`, such as "NVIDIA H200"; nullptr if there is none, as for
// CPUs.
const DeviceRating* FindDevice(std::string_view device_name);

// True if `entry` occurs in `device_name` at the start of a word: "H200" does not match "GH200".
bool NamesDevice(std::string_view device_name, std::string_view entry);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DEVICE_TABLE_H_

// Errors of NVIDIA devices, identified by the number ("Xid") that the driver writes into the kernel
// log.
// Source: NVIDIA, "XID Errors", https://docs.nvidia.com/deploy/xid-errors/ (catalog for A100 and
// newer: description and immediate action).
#ifndef TRAINYARD_PROTO_CONTRACT_XID_H_
#define TRAINYARD_PROTO_CONTRACT_XID_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class XidBlame {
  // Caused by the program, or a consequence of another error. No evidence against the node.
  kProgram,
  // Caused by the device. It is evidence against the node, although the device may continue to work
  // for a while.
  kDevice,
  // Caused by the device. The device cannot be used before a reset, a reboot of the machine or a
  // repair.
  kFatal,
};

struct Xid {
  int number = 0;
  std::string_view meaning;
  XidBlame blame = XidBlame::kProgram;
};

// Returns the entry for the number; nullopt if it is not in the table.
std::optional<Xid> FindXid(int number);

// A line of the kernel log such as "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
struct XidLine {
  int number = 0;
  // "0000:3b:00".
  std::string device;
};

// Returns nullopt if the line contains no Xid. The line may contain any bytes.
std::optional<XidLine> ParseXidLine(std::string_view line);

// Returns the first device error in a program's output, either a copied Xid line or the CUDA
// runtime's text for a device error (cudaErrorECCUncorrectable and others). Skips errors that are
// the program's fault. Returns nullopt if there is none.
std::optional<Xid> DeviceErrorIn(std::string_view output);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_XID_H_

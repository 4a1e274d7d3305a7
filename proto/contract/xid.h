// Errors of NVIDIA devices by the number ("Xid") that the driver writes into the kernel log.
// Source: NVIDIA, "XID Errors", https://docs.nvidia.com/deploy/xid-errors/ (catalog for A100 and
// newer: description and immediate action).
#ifndef TRAINYARD_PROTO_CONTRACT_XID_H_
#define TRAINYARD_PROTO_CONTRACT_XID_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class XidBlame {
  // Caused by the program, or by another error: no evidence against the node.
  kProgram,
  // Caused by the device, which may continue to work for a while: evidence against the node.
  kDevice,
  // Caused by the device, which needs a reset, a reboot of the machine or a repair before it can be
  // used.
  kFatal,
};

struct Xid {
  int number = 0;
  std::string_view meaning;
  XidBlame blame = XidBlame::kProgram;
};

// The entry of the number; nullopt if it is not in the table.
std::optional<Xid> FindXid(int number);

// A line of the kernel log such as "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
struct XidLine {
  int number = 0;
  // "0000:3b:00".
  std::string device;
};

// nullopt for a line without an Xid. The line may contain any bytes.
std::optional<XidLine> ParseXidLine(std::string_view line);

// The first device error in a program's output, without those that are the program's fault: a
// copied Xid line, or the CUDA runtime's text for a device error (cudaErrorECCUncorrectable and
// others). nullopt if there is none.
std::optional<Xid> DeviceErrorIn(std::string_view output);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_XID_H_

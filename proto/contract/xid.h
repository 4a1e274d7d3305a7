// Errors of NVIDIA devices by the number ("Xid") that the driver writes into the kernel's log.
// Source: NVIDIA, "XID Errors", https://docs.nvidia.com/deploy/xid-errors/ (catalog for A100 and
// newer: description and immediate action).
#ifndef TRAINYARD_PROTO_CONTRACT_XID_H_
#define TRAINYARD_PROTO_CONTRACT_XID_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class XidBlame {
  // The program, or a consequence of something else: no evidence against the node.
  kProgram,
  // The device, which may go on for a while: evidence against the node.
  kDevice,
  // The device, which needs a reset, a restart of the machine or a repair before it can be used.
  kFatal,
};

struct Xid {
  int number = 0;
  std::string_view meaning;
  XidBlame blame = XidBlame::kProgram;
};

// The entry of the number; nothing for one that the table does not name.
std::optional<Xid> FindXid(int number);

// A line of the kernel's log such as "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
struct XidLine {
  int number = 0;
  // "0000:3b:00".
  std::string device;
};

// Nothing for a line without an Xid. Any bytes may come.
std::optional<XidLine> ParseXidLine(std::string_view line);

// The device error that the output of a program names: an Xid line that was copied into it, or what
// the CUDA runtime says for one (cudaErrorECCUncorrectable and others). The first one that is no
// fault of a program; nothing when there is none.
std::optional<Xid> DeviceErrorIn(std::string_view output);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_XID_H_

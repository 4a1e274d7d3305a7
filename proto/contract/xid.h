// Errors of NVIDIA devices, identified by the number ("Xid") that the driver writes to the kernel
// log.
//
// Source: NVIDIA, "XID Errors", https://docs.nvidia.com/deploy/xid-errors/ (the description and
// immediate action of each error, from the catalog for A100 and newer).
#ifndef TRAINYARD_PROTO_CONTRACT_XID_H_
#define TRAINYARD_PROTO_CONTRACT_XID_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class XidBlame {
  // The program or an earlier error caused the error. The error is no evidence against the node.
  kProgram,
  // The device caused the error. The error is evidence against the node, although the device may
  // continue to work for a while.
  kDevice,
  // The device caused the error and cannot be used until it is reset or repaired, or until the
  // machine reboots.
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

// Returns the first device error in a program's output; nullopt if there is none. A device error is
// either a copied Xid line or the CUDA runtime's text for a device error (cudaErrorECCUncorrectable
// and others). Errors that the program caused are skipped.
std::optional<Xid> DeviceErrorIn(std::string_view output);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_XID_H_

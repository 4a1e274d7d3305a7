#include "proto/contract/xid.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {
namespace {

using enum XidBlame;

// Sorted by number.
constexpr std::array kXids = {
    Xid{13, "graphics engine exception, usually an illegal memory access by the program", kProgram},
    Xid{31, "memory page fault, usually an illegal address used by the program", kProgram},
    Xid{32, "corrupted push buffer stream", kProgram},
    Xid{43, "the GPU stopped the program's channel after a fault in the program", kProgram},
    Xid{45, "channels of an exiting program were cleaned up", kProgram},
    Xid{48, "double-bit ECC error", kFatal},
    Xid{61, "breakpoint of the internal microcontroller", kDevice},
    Xid{62, "halt of the internal microcontroller", kFatal},
    Xid{63, "a memory row will be remapped", kDevice},
    Xid{64, "a memory row could not be remapped", kFatal},
    Xid{68, "exception of the video decoder", kProgram},
    Xid{69, "graphics engine class error", kProgram},
    Xid{74, "NVLink error", kDevice},
    Xid{79, "the GPU has fallen off the bus", kFatal},
    Xid{92, "high rate of single-bit ECC errors", kDevice},
    Xid{94, "contained ECC error", kDevice},
    Xid{95, "uncontained ECC error", kFatal},
    Xid{109, "context switch timed out", kProgram},
    Xid{119, "timeout of the GPU system processor", kFatal},
    Xid{120, "error of the GPU system processor", kFatal},
    Xid{140, "unrecovered ECC error", kFatal},
    Xid{143, "the GPU could not be initialized", kFatal},
};

struct Phrase {
  std::string_view text;
  int xid = 0;
};

// The texts that cudaGetErrorString returns for device errors (CUDA Runtime API, cudaError).
constexpr std::array kPhrases = {
    Phrase{"uncorrectable ECC error encountered", 48},
    Phrase{"uncorrectable NVLink error detected", 74},
    Phrase{"GPU has fallen off the bus", 79},
};

constexpr std::string_view kXidMark = "NVRM: Xid (";

}  // namespace

std::optional<Xid> FindXid(int number) {
  const auto found = std::ranges::find(kXids, number, &Xid::number);
  if (found == kXids.end()) return std::nullopt;
  return *found;
}

std::optional<XidLine> ParseXidLine(std::string_view line) {
  const std::size_t mark = line.find(kXidMark);
  if (mark == std::string_view::npos) return std::nullopt;
  line.remove_prefix(mark + kXidMark.size());
  constexpr std::string_view kEnd = "): ";
  const std::size_t end = line.find(kEnd);
  if (end == std::string_view::npos || end > 32) return std::nullopt;
  XidLine parsed;
  std::string_view device = line.substr(0, end);
  if (device.starts_with("PCI:")) device.remove_prefix(4);
  parsed.device = std::string(device);
  line.remove_prefix(end + kEnd.size());
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), parsed.number);
  if (error != std::errc() || parsed.number <= 0) return std::nullopt;
  return parsed;
}

std::optional<Xid> DeviceErrorIn(std::string_view output) {
  const auto is_fault = [](const std::optional<Xid>& xid) {
    return xid.has_value() && xid->blame != kProgram;
  };
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (const auto parsed = ParseXidLine(line)) {
      const std::optional<Xid> xid = FindXid(parsed->number);
      if (is_fault(xid)) return xid;
    }
    for (const Phrase& phrase : kPhrases) {
      if (line.find(phrase.text) != std::string_view::npos) return FindXid(phrase.xid);
    }
  }
  return std::nullopt;
}

}  // namespace trainyard

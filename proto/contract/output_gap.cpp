#include "proto/contract/output_gap.h"

#include <algorithm>
#include <cstddef>

namespace trainyard {
namespace {

constexpr std::string_view kMark = "[trainyard] output dropped here: ";
// The mark that workers before version 0.2 wrote. Stored logs may still contain this mark.
constexpr std::string_view kOldMark = "[trainyard] output given up here: ";
// The maximum length of a gap line. The store splits lines at 64 KiB, so a gap line is never split.
constexpr int64_t kLineBytes = 60'000;

// Appends one line of `bytes` bytes, including its line end. The line is blank if the text does not
// fit.
void AppendGapLine(int64_t bytes, std::string& out) {
  std::string line =
      std::string(kMark) + std::to_string(bytes) + " bytes; the node's disk had no space for them";
  const auto length = static_cast<std::size_t>(bytes - 1);
  if (line.size() > length) line.clear();
  line.resize(length, ' ');
  out.append(line).push_back('\n');
}

}  // namespace

std::string FillGap(int64_t bytes) {
  std::string filled;
  if (bytes <= 0) return filled;
  filled.reserve(static_cast<std::size_t>(bytes));
  filled.push_back('\n');
  for (int64_t left = bytes - 1; left > 0;) {
    const int64_t length = std::min(left, kLineBytes);
    AppendGapLine(length, filled);
    left -= length;
  }
  return filled;
}

std::string_view WithoutGapPadding(std::string_view line) {
  if (!line.starts_with(kMark) && !line.starts_with(kOldMark)) return line;
  const std::size_t last = line.find_last_not_of(' ');
  return line.substr(0, last + 1);
}

}  // namespace trainyard

#include "proto/support/output_gap.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainyard {
namespace {

constexpr std::string_view kMark = "[trainyard] output given up here: ";
// Below the length at which the store splits a line (64 KiB).
constexpr int64_t kLineBytes = 60'000;

// One line of so many bytes with its end; too short a one is blank.
void AppendGapLine(int64_t bytes, std::string& out) {
  std::string line =
      absl::StrCat(std::string(kMark), bytes, " bytes; the node had no room for them");
  const auto room = static_cast<std::size_t>(bytes - 1);
  if (line.size() > room) line.clear();
  line.resize(room, ' ');
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
  if (line.substr(0, kMark.size()) != kMark) return line;
  const std::size_t last = line.find_last_not_of(' ');
  return line.substr(0, last + 1);
}

}  // namespace trainyard

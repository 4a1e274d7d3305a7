// Compares two texts line by line.
#ifndef TRAINYARD_PROTO_CODE_LINE_DIFF_H_
#define TRAINYARD_PROTO_CODE_LINE_DIFF_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard::code {

// Maximum number of lines that are added and removed.
inline constexpr int kMaxEditedLines = 2'000;

// Returns the shortest difference in the unified format, without the two header lines; "" if the
// texts are equal. nullopt if a text contains NUL bytes, or if more than kMaxEditedLines differ.
std::optional<std::string> UnifiedDiff(absl::string_view before, absl::string_view after);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_LINE_DIFF_H_

#include "worker/tail/first_match.h"

#include <algorithm>
#include <cstddef>

#include "worker/tail/file_tail.h"

namespace trainyard::worker {
namespace {

// The maximum bytes per call, so that a call blocks the loop's thread for at most a few
// milliseconds.
constexpr std::size_t kBytesOfACall = 128 << 10;

}  // namespace

void FirstMatch::ReadOn(const LogParser& parser, int64_t kept_from, bool ended) {
  if (found_) return;
  offset_ = std::max(offset_, kept_from);
  const absl::StatusOr<TailLines> read = ReadNewLines(path_, offset_,
                                                      {.long_lines = LongLines::kSplit,
                                                       .returns_end_lines = true,
                                                       .ended = ended,
                                                       .max_bytes = kBytesOfACall});
  // No report is needed here, because the stream sources of the same file report errors.
  if (!read.ok()) return;
  offset_ = read->end_offset;
  lines_ += static_cast<int64_t>(read->lines.size());
  found_ = std::any_of(read->lines.begin(), read->lines.end(), [&](const std::string& line) {
    return parser.Parse(line, context_).has_value();
  });
}

}  // namespace trainyard::worker

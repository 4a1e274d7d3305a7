#include "proto/samples/skip_ranges.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace trainyard {
namespace {

bool ParseInteger(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Reads one range. Returns the problem; empty if there is none.
std::string ReadRange(std::string_view item, SkipRange* range) {
  const std::string quoted = "\"" + std::string(item) + "\"";
  const size_t colon = item.find(':');
  if (colon == std::string_view::npos || !ParseInteger(item.substr(0, colon), &range->begin) ||
      !ParseInteger(item.substr(colon + 1), &range->end)) {
    return quoted + " is not a range";
  }
  if (range->begin < 0 || range->end <= range->begin) return quoted + " is empty or negative";
  // Larger than any position that a run reads. Sums of ranges below this limit cannot overflow.
  constexpr int64_t kLastPosition = int64_t{1} << 53;
  if (range->end > kLastPosition) {
    return quoted + " ends after " + std::to_string(kLastPosition);
  }
  return "";
}

std::vector<SkipRange> SortedAndMerged(std::vector<SkipRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const SkipRange& a, const SkipRange& b) { return a.begin < b.begin; });
  std::vector<SkipRange> merged;
  for (const SkipRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace

SkipRanges ReadSkipRanges(const std::string& text) {
  std::vector<SkipRange> ranges;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string problem = ReadRange(rest.substr(0, comma), &ranges.emplace_back());
    if (!problem.empty()) return {{}, problem};
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return {{}, "it ends with a comma"};
  }
  return {SortedAndMerged(std::move(ranges)), ""};
}

std::string SkipRangesToText(const std::vector<SkipRange>& ranges) {
  std::string text;
  for (const SkipRange& range : ranges) {
    text +=
        (text.empty() ? "" : ",") + std::to_string(range.begin) + ":" + std::to_string(range.end);
  }
  return text;
}

int64_t PositionOf(int64_t sample, const std::vector<SkipRange>& skip) {
  int64_t position = sample;
  for (const SkipRange& range : skip) {
    if (position < range.begin) break;
    position += range.end - range.begin;
  }
  return position;
}

std::vector<SkipRange> WithRangesAhead(std::vector<SkipRange> skip,
                                       const std::vector<SkipRange>& more, int64_t samples) {
  const int64_t next = PositionOf(samples, skip);
  for (const SkipRange& range : more) {
    if (range.end > next) skip.push_back({std::max(range.begin, next), range.end});
  }
  return SortedAndMerged(std::move(skip));
}

std::vector<SkipRange> RangesOutside(const std::vector<SkipRange>& ranges,
                                     const std::vector<SkipRange>& others) {
  std::vector<SkipRange> outside;
  for (const SkipRange& range : ranges) {
    const bool covered = std::any_of(others.begin(), others.end(), [&](const SkipRange& other) {
      return other.begin <= range.begin && range.end <= other.end;
    });
    if (!covered) outside.push_back(range);
  }
  return outside;
}

}  // namespace trainyard

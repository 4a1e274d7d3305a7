#include "proto/contract/rank_set.h"

#include <charconv>

namespace trainyard {
namespace {

// Returns the number of ranks in the longest evenly spaced sequence that begins at index `first`.
// Returns 1 if the sequence has only two ranks.
size_t RunLength(const std::vector<int64_t>& ranks, size_t first) {
  if (first + 2 >= ranks.size()) return 1;
  const int64_t stride = ranks[first + 1] - ranks[first];
  size_t length = 2;
  while (first + length < ranks.size() &&
         ranks[first + length] - ranks[first + length - 1] == stride) {
    ++length;
  }
  return length > 2 ? length : 1;
}

// Removes a number from the front of the text and returns it.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(end - text.data());
  return number;
}

bool Take(std::string_view& text, char sign) {
  if (text.empty() || text.front() != sign) return false;
  text.remove_prefix(1);
  return true;
}

// Removes a text like "4", "0-3" or "0-12/4" from the front of `text` and appends the ranks that it
// describes.
bool TakeRun(std::string_view& text, std::vector<int64_t>& ranks) {
  const std::optional<int64_t> first = TakeNumber(text);
  if (!first.has_value()) return false;
  std::optional<int64_t> last = first, stride = 1;
  if (Take(text, '-')) {
    last = TakeNumber(text);
    if (Take(text, '/')) stride = TakeNumber(text);
  }
  const bool ascends = ranks.empty() || *first > ranks.back();
  if (!last || !stride || *last < *first || *stride == 0 || !ascends) return false;
  if (*last >= kMaxRanksInSet) return false;
  for (int64_t rank = *first; rank <= *last; rank += *stride) ranks.push_back(rank);
  return true;
}

}  // namespace

std::string RankSetText(const std::vector<int64_t>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    if (!text.empty()) text += ",";
    text += std::to_string(ranks[i]);
    const size_t length = RunLength(ranks, i);
    if (length > 1) {
      text += "-" + std::to_string(ranks[i + length - 1]);
      const int64_t stride = ranks[i + 1] - ranks[i];
      if (stride > 1) text += "/" + std::to_string(stride);
    }
    i += length;
  }
  return text;
}

std::optional<std::vector<int64_t>> ParseRankSet(std::string_view text) {
  std::vector<int64_t> ranks;
  do {
    if (!TakeRun(text, ranks)) return std::nullopt;
  } while (Take(text, ','));
  if (!text.empty()) return std::nullopt;
  return ranks;
}

}  // namespace trainyard

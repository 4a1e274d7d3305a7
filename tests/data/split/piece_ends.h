// All piece ends of a text.
#ifndef TRAINYARD_TESTS_DATA_SPLIT_PIECE_ENDS_H_
#define TRAINYARD_TESTS_DATA_SPLIT_PIECE_ENDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/split/piece_scanner.h"

namespace trainyard::data {

inline constexpr SplitRule kAllRules[] = {SplitRule::kGpt2, SplitRule::kLlama3, SplitRule::kQwen3,
                                          SplitRule::kDeepseek3};

inline std::vector<uint32_t> PieceEnds(SplitRule rule, std::string_view text,
                                       size_t capacity = 128) {
  PieceScanner scanner(rule, text);
  std::vector<uint32_t> ends;
  std::vector<uint32_t> next(capacity);
  while (const size_t count = scanner.Next(next.data(), capacity)) {
    ends.insert(ends.end(), next.begin(), next.begin() + static_cast<ptrdiff_t>(count));
  }
  return ends;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_SPLIT_PIECE_ENDS_H_

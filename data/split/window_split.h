// The split rules as operations on bit masks, for 64 bytes at a time.
#ifndef TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_
#define TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/split/split_rule.h"

namespace trainyard::data {

// Returns the ends of the next pieces: bit i is set if a piece ends at `begin` + i. All pieces up
// to the highest bit are complete, and the next window must start there. Returns 0 if the first
// piece is too long for a window; use ScalarPieceEnd then. Requirements as for ScalarPieceEnd.
uint64_t PieceEndsInWindow(SplitRule rule, std::string_view text, size_t begin);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_

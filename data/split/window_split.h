// The split rules as operations on bit masks, for 64 bytes at a time.
#ifndef TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_
#define TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/split/split_rule.h"

namespace trainyard::data {

// Ends of the next pieces. Bit i: a piece ends at `begin` + i. The piece that ends at the highest
// bit is complete; the next window must begin there. 0: the first piece is too long for a window,
// use ScalarPieceEnd. Requirements as for ScalarPieceEnd.
uint64_t PieceEndsInWindow(SplitRule rule, std::string_view text, size_t begin);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_WINDOW_SPLIT_H_

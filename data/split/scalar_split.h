// The split rules character by character: the reference for the fast scanner.
#ifndef TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_
#define TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_

#include <cstddef>
#include <string_view>

#include "data/split/split_rule.h"

namespace trainyard::data {

// Returns the end of the piece that starts at `begin`. `begin` must be 0 or the end of another
// piece, and less than text.size(). The text must be valid UTF-8.
size_t ScalarPieceEnd(SplitRule rule, std::string_view text, size_t begin);

// Returns the length in bytes of the contraction at `at`, or 0 if there is none. text[at] must be
// an apostrophe.
size_t ContractionLength(SplitRule rule, std::string_view text, size_t at);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_

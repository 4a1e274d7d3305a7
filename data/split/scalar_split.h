// The split rules character by character: the reference for the fast scanner.
#ifndef TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_
#define TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_

#include <cstddef>
#include <string_view>

#include "data/split/split_rule.h"

namespace trainyard::data {

// End of the piece that begins at `begin`, which must be 0 or the end of another piece and less
// than text.size(). The text must be valid UTF-8.
size_t ScalarPieceEnd(SplitRule rule, std::string_view text, size_t begin);

// Length in bytes of the contraction at `at`, where text[at] is an apostrophe, or 0.
size_t ContractionLength(SplitRule rule, std::string_view text, size_t at);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_SCALAR_SPLIT_H_

// Positions at which files may be cut into blocks.
#ifndef TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_
#define TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

// Returns the first position in [at, at + 3] that is not within a UTF-8 character, or the size of
// `text` if it is smaller. If `text` is not UTF-8, the position is still not within a valid
// character.
size_t CharacterBoundary(std::string_view text, size_t at);

// The error for text longer than document_bytes_max in which ReadLimits::cuts allows no cut.
absl::Status TooLongWithoutCut(const InputFile& file);

// Returns DataLoss if the block begins a file with the byte order mark of UTF-16.
absl::Status RefuseUtf16(const RawBlock& block);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_

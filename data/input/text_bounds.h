// Positions at which files may be cut into blocks.
#ifndef TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_
#define TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

// Positions between an ASCII letter and the line end after it are the best ones to cut plain text:
// GPT-2, LLaMA-3 and Qwen3 encode the two sides to the same tokens as the whole text. After a line
// end this does not hold, because several line ends may be one token.

// Returns the first such position in [begin, end), or npos. `begin` and `end` may be beyond the end
// of the text.
size_t FirstWordEnd(std::string_view text, size_t begin, size_t end);

// Returns the last such position in [begin, text.size()), or npos.
size_t LastWordEnd(std::string_view text, size_t begin);

// Returns the first position in [at, at + 3] that is not within a UTF-8 character, or the size of
// `text` if it is smaller. If `text` is not UTF-8, the position is still not within a valid
// character.
size_t CharacterBoundary(std::string_view text, size_t at);

// Returns DataLoss if the block begins a file with the byte order mark of UTF-16.
absl::Status RefuseUtf16(const RawBlock& block);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_TEXT_BOUNDS_H_

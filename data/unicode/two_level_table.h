// A table of 2-bit values for all code points. Equal blocks of 256 code points are stored once.
#ifndef TRAINYARD_DATA_UNICODE_TWO_LEVEL_TABLE_H_
#define TRAINYARD_DATA_UNICODE_TWO_LEVEL_TABLE_H_

#include <cstdint>

namespace trainyard::data {

// Code points per block.
constexpr char32_t kCodePointBlock = 256;

// Returns the value of `code_point`, which must be below the limit of the table. `blocks` has the
// number of each block. `words` has 8 words for each number. A word has the values of 32 code
// points, the first in the lowest bits.
inline uint32_t TwoLevelValue(const uint8_t* blocks, const uint64_t* words, char32_t code_point) {
  const uint64_t block = blocks[code_point / kCodePointBlock];
  const uint64_t word = words[block * 8 + (code_point / 32) % 8];
  return (word >> (code_point % 32 * 2)) & 3;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_TWO_LEVEL_TABLE_H_

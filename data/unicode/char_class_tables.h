// Tables of the classes of all code points in two levels, for ClassOf.
#ifndef TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_
#define TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_

#include <cstdint>

namespace trainyard::data {

// Code points per block.
constexpr char32_t kCharClassBlock = 256;
// All code points from here on are kOther.
constexpr char32_t kCharClassLimit = 0x32400;

// Number of each block; equal blocks share a number.
extern const uint8_t kCharClassBlocks[kCharClassLimit / kCharClassBlock];
// 8 words per block number. A word has the classes of 32 code points, 2 bits each, the first in the
// lowest bits.
extern const uint64_t kCharClassWords[];

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_

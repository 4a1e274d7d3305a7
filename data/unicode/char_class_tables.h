// The classes of all code points, for ClassOf.
#ifndef TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_
#define TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_

#include "data/unicode/two_level_table.h"

namespace trainyard::data {

// All code points from here on are kOther.
constexpr char32_t kCharClassLimit = 0x32400;

extern const uint8_t kCharClassBlocks[kCharClassLimit / kCodePointBlock];
extern const uint64_t kCharClassWords[];

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_CHAR_CLASS_TABLES_H_

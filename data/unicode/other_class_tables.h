// The parts of CharClass::kOther, for OtherClassOf.
#ifndef TRAINYARD_DATA_UNICODE_OTHER_CLASS_TABLES_H_
#define TRAINYARD_DATA_UNICODE_OTHER_CLASS_TABLES_H_

#include "data/unicode/two_level_table.h"

namespace trainyard::data {

// All code points from here on are OtherClass::kControl.
constexpr char32_t kOtherClassLimit = 0xE0200;

extern const uint8_t kOtherClassBlocks[kOtherClassLimit / kCodePointBlock];
extern const uint64_t kOtherClassWords[];

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_OTHER_CLASS_TABLES_H_

// Data of Unicode 9.0 for normalization form C.
#ifndef TRAINYARD_DATA_UNICODE_NFC_TABLES_H_
#define TRAINYARD_DATA_UNICODE_NFC_TABLES_H_

#include <cstddef>

#include "data/unicode/two_level_table.h"

namespace trainyard::data {

enum class NfcClass : uint8_t {
  kStarter,     // combining class 0; unchanged by NFC after any text
  kMark,        // another combining class; composes with no character before it
  kChanges,     // never occurs in NFC
  kMayCompose,  // composes with some characters before it
};

// All code points from here on are kStarter.
constexpr char32_t kNfcClassLimit = 0x2FB00;

extern const uint8_t kNfcClassBlocks[kNfcClassLimit / kCodePointBlock];
extern const uint64_t kNfcClassWords[];

// Code points in [begin, end), which have the same combining class.
struct CombiningRange {
  char32_t begin;
  char32_t end;
  uint8_t combining_class;
};

// All combining classes other than 0, sorted by code point.
extern const size_t kCombiningRangesSize;
extern const CombiningRange kCombiningRanges[];

struct Decomposition {
  char32_t code_point;
  char32_t first;
  char32_t second = 0;  // 0: decomposes to one character
};

// Decompositions that NFC reverses, sorted by the two parts. Hangul syllables are not included.
extern const size_t kCompositionsSize;
extern const Decomposition kCompositions[];

// Decompositions that NFC does not reverse, sorted by code point.
extern const size_t kOneWayDecompositionsSize;
extern const Decomposition kOneWayDecompositions[];

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_NFC_TABLES_H_

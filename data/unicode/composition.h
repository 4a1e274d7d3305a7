// Canonical decomposition, combining classes and composition of single characters, by the data of
// Unicode 9.0.
#ifndef TRAINYARD_DATA_UNICODE_COMPOSITION_H_
#define TRAINYARD_DATA_UNICODE_COMPOSITION_H_

#include <cstdint>
#include <string>

#include "data/unicode/nfc_tables.h"

namespace trainyard::data {

inline NfcClass NfcClassOf(char32_t code_point) {
  if (code_point >= kNfcClassLimit) return NfcClass::kStarter;
  return static_cast<NfcClass>(TwoLevelValue(kNfcClassBlocks, kNfcClassWords, code_point));
}

uint8_t CombiningClassOf(char32_t code_point);

// The character composed of `first` and `second`, or 0.
char32_t Compose(char32_t first, char32_t second);

// True if the canonical decomposition of `code_point` is not the character itself.
bool Decomposes(char32_t code_point);

// Appends the full canonical decomposition of `code_point`, which is the character itself for most.
void AppendDecomposition(char32_t code_point, std::u32string* text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_COMPOSITION_H_

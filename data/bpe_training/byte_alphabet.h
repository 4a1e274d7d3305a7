// GPT-2's byte alphabet: one printable character for each byte. Byte-level vocabularies store
// tokens as texts in this alphabet.
#ifndef TRAINYARD_DATA_BPE_TRAINING_BYTE_ALPHABET_H_
#define TRAINYARD_DATA_BPE_TRAINING_BYTE_ALPHABET_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

// Printable bytes of Latin-1 stand for themselves. The other 68 bytes, in ascending order, are
// U+0100 to U+0143.
char32_t AlphabetCharacter(uint8_t byte);

// Returns the text of `bytes` in the alphabet, as UTF-8.
std::string AlphabetText(std::string_view bytes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_BYTE_ALPHABET_H_

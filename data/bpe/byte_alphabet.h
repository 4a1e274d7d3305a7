// The alphabet by which GPT-2's files write bytes as printable characters.
#ifndef TRAINYARD_DATA_BPE_BYTE_ALPHABET_H_
#define TRAINYARD_DATA_BPE_BYTE_ALPHABET_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::data {

// Printable bytes of Latin-1 (0x21 to 0x7E, 0xA1 to 0xAC, 0xAE to 0xFF) stand for themselves. The
// other bytes, in their order, are written as U+0100 and the characters after it.
// GPT-2 and Hugging Face's trainer number the bytes in the order of their characters.
const std::array<char32_t, 256>& CharactersOfBytes();

// Returns the text of `bytes` in the alphabet, as UTF-8.
std::string AlphabetText(std::string_view bytes);

// Returns the bytes that `text` represents, or nullopt if it has a character outside the alphabet
// or is not valid UTF-8.
std::optional<std::string> BytesOfAlphabetText(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_BYTE_ALPHABET_H_

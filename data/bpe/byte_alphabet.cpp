#include "data/bpe/byte_alphabet.h"

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr char32_t kFirstMapped = 0x100;
constexpr char32_t kCharacterLimit = 0x200;

bool IsPrintable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::array<char32_t, 256> MakeCharacters() {
  std::array<char32_t, 256> characters;
  char32_t next = kFirstMapped;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    characters[byte] = IsPrintable(byte) ? byte : next++;
  }
  return characters;
}

// By character: the byte, or -1.
std::array<int16_t, kCharacterLimit> MakeBytes() {
  std::array<int16_t, kCharacterLimit> bytes;
  bytes.fill(-1);
  for (size_t byte = 0; byte < 256; ++byte) {
    bytes[CharactersOfBytes()[byte]] = static_cast<int16_t>(byte);
  }
  return bytes;
}

}  // namespace

const std::array<char32_t, 256>& CharactersOfBytes() {
  static const std::array<char32_t, 256> characters = MakeCharacters();
  return characters;
}

std::string AlphabetText(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    AppendUtf8(CharactersOfBytes()[static_cast<uint8_t>(byte)], &text);
  }
  return text;
}

std::optional<std::string> BytesOfAlphabetText(std::string_view text) {
  static const std::array<int16_t, kCharacterLimit> bytes = MakeBytes();
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    // All characters of the alphabet have one or two bytes in UTF-8.
    char32_t character = static_cast<unsigned char>(text[at++]);
    if (character >= 0x80) {
      if ((character & 0xE0) != 0xC0 || at == text.size()) return std::nullopt;
      const auto tail = static_cast<unsigned char>(text[at++]);
      if ((tail & 0xC0) != 0x80) return std::nullopt;
      character = ((character & 0x1F) << 6) | (tail & 0x3F);
    }
    if (character >= kCharacterLimit || bytes[character] < 0) return std::nullopt;
    result += static_cast<char>(bytes[character]);
  }
  return result;
}

}  // namespace trainyard::data

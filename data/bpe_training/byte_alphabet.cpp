#include "data/bpe_training/byte_alphabet.h"

#include <array>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

// 0xAD is the soft hyphen, which is invisible.
constexpr bool IsPrintable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
}

constexpr std::array<char32_t, 256> MakeAlphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    alphabet[byte] = IsPrintable(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return alphabet;
}

constexpr std::array<char32_t, 256> kAlphabet = MakeAlphabet();

}  // namespace

char32_t AlphabetCharacter(uint8_t byte) { return kAlphabet[byte]; }

std::string AlphabetText(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) AppendUtf8(kAlphabet[static_cast<uint8_t>(byte)], &text);
  return text;
}

}  // namespace trainyard::data

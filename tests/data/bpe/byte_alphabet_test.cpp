#include "data/bpe/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard::data {
namespace {

TEST(ByteAlphabetTest, KeepsPrintableBytes) {
  EXPECT_EQ(AlphabetText("aZ~!"), "aZ~!");
  EXPECT_EQ(CharactersOfBytes()[0xA1], char32_t{0xA1});
  EXPECT_EQ(CharactersOfBytes()[0xFF], char32_t{0xFF});
}

TEST(ByteAlphabetTest, MapsOtherBytesFromU0100InOrder) {
  EXPECT_EQ(CharactersOfBytes()[0], char32_t{0x100});
  EXPECT_EQ(AlphabetText(" \n"), "\u0120\u010A");
  EXPECT_EQ(CharactersOfBytes()[0x7F], char32_t{0x121});
  EXPECT_EQ(CharactersOfBytes()[0xA0], char32_t{0x142});
  EXPECT_EQ(CharactersOfBytes()[0xAD], char32_t{0x143});
}

TEST(ByteAlphabetTest, HasOneCharacterPerByte) {
  std::set<char32_t> characters;
  for (int byte = 0; byte < 256; ++byte) {
    characters.insert(CharactersOfBytes()[static_cast<size_t>(byte)]);
  }
  EXPECT_EQ(characters.size(), 256u);
  EXPECT_EQ(*characters.rbegin(), char32_t{0x143});
}

}  // namespace
}  // namespace trainyard::data

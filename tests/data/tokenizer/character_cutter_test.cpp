#include "data/tokenizer/character_cutter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;

const std::vector<std::string>& Characters() {
  static const std::vector<std::string> characters = {
      std::string(kSpaceSymbol), "a", "b", "1", "\n", "\xC3\xA9", "\xE4\xB8\xAD",
      "\xF0\x9F\x9A\x82"};
  return characters;
}

// Has a token for each character except the last two, which are bytes, and random merges.
CharacterBpe RandomBpe(std::mt19937& random) {
  CharacterBpe bpe;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    bpe.byte_tokens[byte] = byte;
    bpe.vocabulary.Add(byte, "byte " + std::to_string(byte));
  }
  uint32_t id = 256;
  for (size_t i = 0; i + 2 < Characters().size(); ++i) bpe.vocabulary.Add(id++, Characters()[i]);
  for (int i = 0; i < 25; ++i) {
    const uint32_t left = 256 + random() % (id - 256);
    const uint32_t right = 256 + random() % (id - 256);
    const std::string both =
        std::string(bpe.vocabulary.BytesOf(left)) + std::string(bpe.vocabulary.BytesOf(right));
    if (both.size() > 30) continue;
    if (bpe.vocabulary.Find(both) == kNoToken) bpe.vocabulary.Add(id++, both);
    bpe.merges.Add(left, right, bpe.vocabulary.Find(both));
  }
  return bpe;
}

std::vector<std::string> Pieces(const CharacterCutter& cutter, const std::string& text,
                                size_t capacity) {
  std::vector<std::string> pieces;
  std::vector<uint32_t> ends(capacity);
  size_t begin = 0;
  while (const size_t count = cutter.Next(text, begin, ends.data(), capacity)) {
    for (size_t i = 0; i < count; ++i) {
      pieces.push_back(text.substr(begin, ends[i] - begin));
      begin = ends[i];
    }
  }
  return pieces;
}

TEST(CharacterCutterTest, PiecesHaveTheIdsOfTheWholeText) {
  std::mt19937 random(1);
  size_t cuts = 0;
  for (int round = 0; round < 200; ++round) {
    const CharacterBpe bpe = RandomBpe(random);
    const CharacterPieceModel model(bpe);
    const CharacterCutter cutter(bpe);
    std::string text;
    const size_t length = 1 + random() % 100;
    for (size_t i = 0; i < length; ++i) {
      const std::string& character = Characters()[random() % Characters().size()];
      text += character == kSpaceSymbol && random() % 2 == 0 ? " " : character;
    }
    std::vector<uint32_t> whole;
    model.Encode(text, &whole);
    const std::vector<std::string> pieces = Pieces(cutter, text, 1 + random() % 5);
    std::vector<uint32_t> ids;
    for (const std::string& piece : pieces) model.Encode(piece, &ids);
    ASSERT_EQ(ids, whole) << text;
    cuts += pieces.size() - 1;
  }
  EXPECT_GT(cuts, 1000u);
}

TEST(CharacterCutterTest, CutsBeforeRunsOfSpaces) {
  CharacterBpe bpe;
  bpe.byte_tokens.fill(kNoToken);
  bpe.unknown = 0;
  bpe.vocabulary.Add(1, std::string(kSpaceSymbol) + std::string(kSpaceSymbol));
  // Unknown characters are fused, so there are no other cuts.
  EXPECT_THAT(Pieces(CharacterCutter(bpe), "ab\n1  \xC3\xA9 x", 8),
              ElementsAre("ab\n1", "  \xC3\xA9", " x"));
  EXPECT_THAT(Pieces(CharacterCutter(bpe), "", 8), ElementsAre());
}

}  // namespace
}  // namespace trainyard::data

#include "data/prepare/command/text_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/load_tokenizer.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextPiecesTest, EndsDivideTheText) {
  const auto tokenizer = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const TextPieces pieces = PiecesOf(**tokenizer, "gpt2", std::string_view("The train moves"));
  EXPECT_EQ(pieces.text, "The train moves");
  EXPECT_THAT(pieces.ends, ElementsAre(3, 9, 15));
  EXPECT_THAT(pieces.ids, ElementsAre(464, 4512, 6100));
  EXPECT_EQ(pieces.source, "gpt2");
}

TEST(TextPiecesTest, PiecesCanEndWithinCharacters) {
  const TextPieces pieces = PiecesOf(*MakeByteTokenizer(), "byte", std::string_view("\xC3\xA9"));
  EXPECT_THAT(pieces.ends, ElementsAre(1, 2));
}

TEST(TextPiecesTest, AnEmptyTextHasNoPieces) {
  EXPECT_THAT(PiecesOf(*MakeByteTokenizer(), "byte", std::string_view("")).ends, IsEmpty());
}

// Adds a space to the first piece of a segment and removes it again, as tokenizers of LLaMA do.
class SpacePrefix : public Tokenizer {
 public:
  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    ids->assign(text.begin(), text.end());
  }
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    for (const uint32_t id : ids) text += std::string(" ") + static_cast<char>(id);
    return text.empty() ? text : text.substr(1);
  }
  int64_t vocab_size() const override { return 256; }
  uint32_t end_of_document() const override { return 0; }
  std::string kind() const override { return "test"; }
  uint64_t fingerprint() const override { return 1; }
};

TEST(TextPiecesTest, OnlyTheFirstPieceLacksItsSpace) {
  const TextPieces pieces = PiecesOf(SpacePrefix(), "test", std::string_view("abc"));
  EXPECT_EQ(pieces.text, "a b c");
  EXPECT_THAT(pieces.ends, ElementsAre(1, 3, 5));
}

// Decodes pairs of ids together.
class Pairs : public SpacePrefix {
 public:
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    return std::string(ids.size() / 2, 'x');
  }
};

TEST(TextPiecesTest, IdsThatAreDecodedTogetherHaveNoEnds) {
  const TextPieces pieces = PiecesOf(Pairs(), "test", std::string_view("abcd"));
  EXPECT_EQ(pieces.text, "xx");
  EXPECT_THAT(pieces.ends, IsEmpty());
  EXPECT_EQ(pieces.ids.size(), 4u);
}

}  // namespace
}  // namespace trainyard::data

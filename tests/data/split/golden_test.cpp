// Hashes of the piece ends that tokenizers 0.23.2 (npm) gives for the same texts: pre-tokenizer
// ByteLevel for GPT-2, and the splits of the other families' tokenizer.json.
#include <gtest/gtest.h>

#include <string>

#include "data/unicode/code_point.h"
#include "tests/data/split/generated_texts.h"
#include "tests/data/split/piece_ends.h"

namespace trainyard::data {
namespace {

// FNV-1a of the number of pieces and the ends of each text, 4 bytes each in little-endian order.
class EndsHash {
 public:
  void Add(const std::vector<uint32_t>& ends) {
    AddNumber(static_cast<uint32_t>(ends.size()));
    for (const uint32_t end : ends) AddNumber(end);
  }

  uint64_t value() const { return value_; }

 private:
  void AddNumber(uint32_t number) {
    for (int i = 0; i < 4; ++i) {
      value_ = (value_ ^ (number >> (8 * i) & 0xFF)) * 0x100000001B3;
    }
  }

  uint64_t value_ = 0xCBF29CE484222325;
};

uint64_t HashOfGeneratedTexts(SplitRule rule) {
  EndsHash hash;
  for (uint64_t number = 0; number < 20000; ++number) {
    hash.Add(PieceEnds(rule, GeneratedText(number)));
  }
  return hash.value();
}

// Each code point between the classes, and doubled: blocks of 64 code points give one text.
uint64_t HashOfCodePoints(SplitRule rule) {
  EndsHash hash;
  for (char32_t begin = 0; begin < 0x110000; begin += 64) {
    if (begin == 0xD800) begin = 0xE000;
    std::string text;
    for (char32_t c = begin; c < begin + 64; ++c) {
      std::string one;
      AppendUtf8(c, &one);
      text += 'a' + one + "b1" + one + "2 " + one + "(" + one + one + "\n" + one + "x'" + one + "s";
    }
    hash.Add(PieceEnds(rule, text));
  }
  return hash.value();
}

TEST(GoldenTest, GeneratedTextsEqualHuggingFace) {
  EXPECT_EQ(HashOfGeneratedTexts(SplitRule::kGpt2), 0x78250E8D8AAA521F);
  EXPECT_EQ(HashOfGeneratedTexts(SplitRule::kLlama3), 0xFE85E6CC5D0B46BC);
  EXPECT_EQ(HashOfGeneratedTexts(SplitRule::kQwen3), 0xEA3C9D586897EDD6);
  EXPECT_EQ(HashOfGeneratedTexts(SplitRule::kDeepseek3), 0x984A7586C36A678E);
}

TEST(GoldenTest, EveryCodePointEqualsHuggingFace) {
  EXPECT_EQ(HashOfCodePoints(SplitRule::kGpt2), 0x48F8E91F205B8254);
  EXPECT_EQ(HashOfCodePoints(SplitRule::kLlama3), 0x056DD84382C6BFE3);
  EXPECT_EQ(HashOfCodePoints(SplitRule::kQwen3), 0xCAE39AA7784538D3);
  EXPECT_EQ(HashOfCodePoints(SplitRule::kDeepseek3), 0xF5A436FE369D2D92);
}

}  // namespace
}  // namespace trainyard::data

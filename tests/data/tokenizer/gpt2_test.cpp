// GPT-2's tokenizer, which is part of the program, compared with ids of Hugging Face's library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/gpt2/gpt2_merges.h"
#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

std::unique_ptr<Tokenizer> Gpt2(SpecialText special_text = SpecialText::kText) {
  LoadOptions options;
  options.special_text = special_text;
  auto tokenizer = LoadTokenizer("gpt2", options);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

// FNV-1a of the ids as little-endian 32-bit numbers.
class IdHash {
 public:
  void Add(const std::vector<uint32_t>& ids) {
    for (const uint32_t id : ids) {
      for (int shift = 0; shift < 32; shift += 8) {
        hash_ = (hash_ ^ ((id >> shift) & 0xFF)) * 0x100000001B3u;
      }
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325u;
};

TEST(Gpt2Test, HasTheVocabularyOfTheModel) {
  const auto tokenizer = Gpt2();
  EXPECT_EQ(tokenizer->name(), "gpt2");
  EXPECT_EQ(tokenizer->vocab_size(), 50257);
  EXPECT_EQ(tokenizer->end_of_document(), 50256u);
  EXPECT_EQ(tokenizer->begin_of_document(), std::nullopt);
  EXPECT_THAT(Encode(*tokenizer, "Hello world"), ElementsAre(15496, 995));
  EXPECT_EQ(tokenizer->Decode({15496, 995}), "Hello world");
}

TEST(Gpt2Test, SpecialTokenIsTextUnlessRequested) {
  EXPECT_THAT(Encode(*Gpt2(SpecialText::kId), "a<|endoftext|>b"), ElementsAre(64, 50256, 65));
  EXPECT_THAT(Encode(*Gpt2(), "<|endoftext|>"), ElementsAre(27, 91, 437, 1659, 5239, 91, 29));
}

// GPT-2's vocabulary gives equal ids in every file format.
TEST(Gpt2Test, OtherFilesGiveTheSameIds) {
  const auto tokenizer = Gpt2();
  nlohmann::json vocab;
  for (uint32_t id = 0; id < 50256; ++id) vocab[InAlphabet(tokenizer->Decode({id}))] = id;
  vocab["<|endoftext|>"] = 50256;
  const TokenizerDirectory directory;
  directory.Write("vocab.bpe", std::string(Gpt2Merges()));
  const auto other = LoadTokenizer(directory.Write("encoder.json", vocab.dump()), {});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ((*other)->name(), "gpt2");
  EXPECT_EQ((*other)->end_of_document(), 50256u);
  const std::string text =
      "It's  the train-yard's 1234 caf\xC3\xA9s,\n\n\tna\xC3\xAFve \xF0\x9F\x9A\x82!";
  EXPECT_EQ(Encode(**other, text), Encode(*tokenizer, text));
  EXPECT_EQ(tokenizer->Decode(Encode(*tokenizer, text)), text);
}

// Each code point alone, doubled, and between letters, digits, spaces and line ends. The hash of
// Hugging Face's ids (tokenizers 0.23.2) is the same.
TEST(Gpt2Test, EveryCodePointHasTheIdsOfTheReference) {
  const auto tokenizer = Gpt2();
  IdHash hash;
  for (char32_t code_point = 1; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    // Private use planes and most unassigned planes behave alike.
    if (code_point >= 0x30000 && code_point % 257 != 0) continue;
    std::string c;
    AppendUtf8(code_point, &c);
    const std::string text = c + " a" + c + "b 1" + c + "2\n" + c + c + " " + c + "x" + c + "\n";
    const std::vector<uint32_t> ids = Encode(*tokenizer, text);
    ASSERT_EQ(tokenizer->Decode(ids), text);
    hash.Add(ids);
  }
  EXPECT_EQ(hash.value(), 3100640393000904430u);
}

// Words with random endings and white space, from a fixed generator. The hash of Hugging Face's ids
// (tokenizers 0.23.2) is the same.
TEST(Gpt2Test, RandomWordsHaveTheIdsOfTheReference) {
  const auto tokenizer = Gpt2();
  const std::string_view parts[] = {"the",
                                    " train",
                                    "yard",
                                    " ",
                                    "  ",
                                    "\n",
                                    "\n\n",
                                    "'s",
                                    "'ll",
                                    " 'T",
                                    "1",
                                    "2026",
                                    ".",
                                    "...",
                                    " -- ",
                                    "(",
                                    "_",
                                    "\t",
                                    "\r\n",
                                    "\xC3\xA9",
                                    "\xE4\xBD\xA0\xE5\xA5\xBD",
                                    "\xF0\x9F\x9A\x82",
                                    "aaaaaaaaaaaaaaaaaaaa",
                                    "Antidisestablishmentarianism",
                                    "\xC2\xA0",
                                    "ing",
                                    "Re",
                                    "un"};
  uint64_t state = 1;
  IdHash hash;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += parts[(state >> 33) % std::size(parts)];
    }
    const std::vector<uint32_t> ids = Encode(*tokenizer, text);
    ASSERT_EQ(tokenizer->Decode(ids), text);
    hash.Add(ids);
  }
  EXPECT_EQ(hash.value(), 13858611425198454989u);
}

}  // namespace
}  // namespace trainyard::data

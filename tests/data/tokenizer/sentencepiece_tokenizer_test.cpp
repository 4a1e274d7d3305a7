#include "data/tokenizer/sentencepiece_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include "data/tokenizer/sentencepiece_training.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

std::vector<uint32_t> Encode(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<uint32_t> ids;
  tokenizer.Encode(text, &ids);
  return ids;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string TrainOnProse(const std::string& algorithm, int64_t vocab_size) {
  std::string error;
  const std::string model =
      TrainSentencePiece(Lines(Prose(60000, 1)), {algorithm, vocab_size}, &error);
  EXPECT_EQ(error, "");
  return model;
}

// Text with control characters, other scripts, emoji, and spaces in various positions.
const char kHardText[] =
    "  two  spaces\n\n\ttab \r\nthe train yard moves  a wagon \n \n"
    "caf\xC3\xA9 \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x9A\x82 12345 \x01 end ";

class SentencePieceTest : public testing::TestWithParam<const char*> {};

TEST_P(SentencePieceTest, LosesNothing) {
  const std::string model = TrainOnProse(GetParam(), 512);
  std::string error;
  const auto tokenizer = MakeSentencePieceTokenizer(model, &error);
  ASSERT_NE(tokenizer, nullptr) << error;
  EXPECT_EQ(tokenizer->Decode(Encode(*tokenizer, kHardText)), kHardText);
  const std::string prose = Prose(20000, 2);
  const std::vector<uint32_t> ids = Encode(*tokenizer, prose);
  EXPECT_EQ(tokenizer->Decode(ids), prose);
  EXPECT_LT(ids.size(), prose.size() / 3);  // holds only if it has learned the words
  EXPECT_EQ(*std::max_element(ids.begin(), ids.end()) < tokenizer->vocab_size(), true);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer->end_of_document()), 0);
  ASSERT_EQ(tokenizer->files().size(), 1u);
  EXPECT_EQ(tokenizer->files()[0].name, "tokenizer.model");
  EXPECT_EQ(tokenizer->files()[0].contents, model);
  EXPECT_EQ(tokenizer->kind(), "sentencepiece");
}

// Encode handles words one by one and caches them. The ids must equal those of the whole text
// encoded at once.
TEST_P(SentencePieceTest, GivesTheIdsOfTheWholeText) {
  const std::string model = TrainOnProse(GetParam(), 600);
  std::string error;
  const auto tokenizer = MakeSentencePieceTokenizer(model, &error);
  sentencepiece::SentencePieceProcessor processor;
  ASSERT_TRUE(processor.LoadFromSerializedProto(model).ok());
  for (const std::string& text :
       {std::string(kHardText), Prose(30000, 3), std::string("   "), std::string("\n"),
        "x" + std::string(5000, ' ') + "y", std::string(3000, 'e')}) {
    std::vector<int> whole;
    ASSERT_TRUE(processor.Encode(text, &whole).ok());
    EXPECT_EQ(Encode(*tokenizer, text), std::vector<uint32_t>(whole.begin(), whole.end()));
  }
}

TEST_P(SentencePieceTest, TheSameTextGivesTheSameModel) {
  EXPECT_EQ(TrainOnProse(GetParam(), 512), TrainOnProse(GetParam(), 512));
}

INSTANTIATE_TEST_SUITE_P(BothAlgorithms, SentencePieceTest, testing::Values("bpe", "unigram"));

TEST(SentencePieceErrorsTest, AreReturnedAndNotPrinted) {
  std::vector<std::string> characters;
  for (char32_t c = 0x4E00; c < 0x4E00 + 3000; ++c) {
    characters.push_back({static_cast<char>(0xE0 | (c >> 12)),
                          static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
                          static_cast<char>(0x80 | (c & 0x3F))});
  }
  testing::internal::CaptureStderr();
  std::string error;
  EXPECT_EQ(TrainSentencePiece(characters, {"bpe", 600}, &error), "");
  EXPECT_NE(error, "");
  EXPECT_EQ(MakeSentencePieceTokenizer("not a model", &error), nullptr);
  EXPECT_NE(error, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace trainyard::data

#include "data/tokens/output_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/tokens/vocab_only.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

std::string Refusal(OutputFormat format, const Tokenizer& tokenizer) {
  const absl::Status status = CheckFormat(format, tokenizer);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(OutputFormatTest, NamesAreThoseOfTheTrainer) {
  for (const char* name : {"trainyard", "megatron", "nanogpt", "llmc"}) {
    const auto format = FindOutputFormat(name);
    ASSERT_TRUE(format.has_value()) << name;
    EXPECT_STREQ(NameOf(*format), name);
  }
  EXPECT_FALSE(FindOutputFormat("auto").has_value());
}

TEST(OutputFormatTest, NanogptHas16Bits) {
  EXPECT_EQ(Refusal(OutputFormat::kNanogpt, VocabOnly(65536)), "");
  EXPECT_THAT(
      Refusal(OutputFormat::kNanogpt, VocabOnly(65537)),
      HasSubstr("the tokenizer has 65537 ids, and only 65536 fit; choose another --format"));
  EXPECT_EQ(Refusal(OutputFormat::kMegatron, VocabOnly(65537)), "");
  EXPECT_TRUE(CheckFormatOfTrained(OutputFormat::kNanogpt, 65536).ok());
  EXPECT_THAT(std::string(CheckFormatOfTrained(OutputFormat::kNanogpt, 65537).message()),
              HasSubstr("up to 65537 ids"));
}

TEST(OutputFormatTest, LlmcHasTwoTokenizers) {
  EXPECT_EQ(Refusal(OutputFormat::kLlmc, VocabOnly(50257, "gpt2")), "");
  EXPECT_EQ(Refusal(OutputFormat::kLlmc, VocabOnly(128256, "llama3")), "");
  EXPECT_THAT(Refusal(OutputFormat::kLlmc, VocabOnly(50258, "gpt2")),
              HasSubstr("not for gpt2 of 50258 ids; pass --tokenizer gpt2"));
  EXPECT_THAT(Refusal(OutputFormat::kLlmc, VocabOnly(50257, "bpe")), HasSubstr("not for bpe"));
  EXPECT_THAT(std::string(CheckFormatOfTrained(OutputFormat::kLlmc, 50257).message()),
              HasSubstr("not for one that is trained on the inputs"));
}

TEST(OutputFormatTest, MarksSurroundDocuments) {
  const VocabOnly gpt2(50257, "gpt2");
  const VocabOnly llama3(128256, "llama3", 128000);
  EXPECT_EQ(MarksOf(OutputFormat::kMegatron, gpt2).before, std::nullopt);
  EXPECT_EQ(MarksOf(OutputFormat::kMegatron, gpt2).after, 50256u);
  EXPECT_EQ(MarksOf(OutputFormat::kTrainyard, llama3).before, 128000u);
  EXPECT_EQ(MarksOf(OutputFormat::kTrainyard, llama3).after, 128255u);
  EXPECT_EQ(MarksOf(OutputFormat::kLlmc, gpt2).before, 50256u);
  EXPECT_EQ(MarksOf(OutputFormat::kLlmc, gpt2).after, std::nullopt);
  EXPECT_EQ(MarksOf(OutputFormat::kLlmc, llama3).before, 128000u);
  EXPECT_EQ(MarksOf(OutputFormat::kLlmc, llama3).after, std::nullopt);
}

}  // namespace
}  // namespace trainyard::data

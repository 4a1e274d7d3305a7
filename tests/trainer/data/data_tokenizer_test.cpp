#include "trainer/data/data_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/data/token_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTrained[] =
    R"({"kind": "sentencepiece", "vocab_size": 8, "model": "tokenizer.model"})";

TokenFile TrainTokens(const TokenDirectory& directory, int64_t vocab_size = 8) {
  directory.WriteTrain({1, 2, 3}, vocab_size);
  return TokenFile(directory.path(), "train");
}

// The error, or "" if both have the same tokenizer as far as is known.
std::string TokenizerRefusal(const DataTokenizer& reference, const DataTokenizer& other) {
  try {
    CheckSameTokenizer(reference, other);
    return "";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    return error.what();
  }
}

TEST(DataTokenizerTest, IsNamedByTheFilesBesideTheTokens) {
  const TokenDirectory directory;
  directory.WriteText("tokenizer.json", R"({"kind": "byte", "vocab_size": 257})");
  const DataTokenizer tokenizer = TokenizerOf(TrainTokens(directory));
  EXPECT_EQ(tokenizer.name, "byte of 257 ids");
  EXPECT_EQ(tokenizer.vocab_size, 8);
  directory.WriteText("tokenizer.json", kTrained);
  directory.WriteText("tokenizer.model", "pieces");
  EXPECT_THAT(TokenizerOf(TrainTokens(directory)).name,
              StartsWith("sentencepiece of 8 ids with model "));
}

TEST(DataTokenizerTest, ADescriptionOfAnotherProgramTellsNothing) {
  const TokenDirectory directory;
  for (const char* text : {"", "[]", "{", R"({"model": {"type": "BPE"}})", R"({"kind": 5})",
                           R"({"kind": "byte", "vocab_size": "many"})"}) {
    directory.WriteText("tokenizer.json", text);
    EXPECT_EQ(TokenizerOf(TrainTokens(directory)).name, "") << text;
  }
}

TEST(DataTokenizerTest, TwoTrainedModelsAreTwoTokenizers) {
  const TokenDirectory one, two;
  for (const TokenDirectory* directory : {&one, &two}) {
    directory->WriteText("tokenizer.json", kTrained);
    directory->WriteText("tokenizer.model", "pieces");
  }
  EXPECT_EQ(TokenizerRefusal(TokenizerOf(TrainTokens(one)), TokenizerOf(TrainTokens(two))), "");
  two.WriteText("tokenizer.model", "others");
  const DataTokenizer first = TokenizerOf(TrainTokens(one)), second = TokenizerOf(TrainTokens(two));
  EXPECT_THAT(TokenizerRefusal(first, second),
              AllOf(HasSubstr(two.path() + "/train.bin was prepared with another tokenizer"),
                    HasSubstr(first.name), HasSubstr(second.name)));
}

TEST(DataTokenizerTest, ComparesSizesWhereNamesAreNotKnown) {
  EXPECT_THAT(TokenizerRefusal({"a", "", 8}, {"b", "", 9}),
              AllOf(HasSubstr("one of 8 ids"), HasSubstr("one of 9 ids")));
  EXPECT_EQ(TokenizerRefusal({"a", "", 8}, {"b", "", 8}), "");
  EXPECT_EQ(TokenizerRefusal({"a", "byte of 257 ids", 257}, {"b", "", 0}), "")
      << "nanoGPT's say nothing";
  EXPECT_THAT(TokenizerRefusal({"a", "byte of 257 ids", 257}, {"b", "llm.c's of GPT-2", 0}),
              HasSubstr("llm.c's of GPT-2"));
}

}  // namespace
}  // namespace trainyard::trainer

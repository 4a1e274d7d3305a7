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

// Returns the error, or "" if the tokenizers are the same or may be the same.
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

TEST(DataTokenizerTest, FingerprintsDecideIfBothAreKnown) {
  const TokenDirectory directory;
  directory.WriteText("tokenizer.json",
                      R"({"kind": "bpe", "name": "gpt2", "vocab_size": 50257,)"
                      R"( "fingerprint": "0123456789abcdef", "files": ["tokenizer/vocab.json"]})");
  const DataTokenizer described = TokenizerOf(TrainTokens(directory));
  EXPECT_EQ(described.name, "gpt2 of 50257 ids");
  EXPECT_EQ(described.fingerprint, "0123456789abcdef");
  const DataTokenizer renamed = {"b", "bpe of 50257 ids", 8, "0123456789abcdef"};
  EXPECT_EQ(TokenizerRefusal(described, renamed), "");
  const DataTokenizer changed = {"c", "gpt2 of 50257 ids", 8, "fedcba9876543210"};
  EXPECT_THAT(TokenizerRefusal(described, changed),
              AllOf(HasSubstr("0123456789abcdef"), HasSubstr("fedcba9876543210")));
  // Data sets of earlier versions have no fingerprints.
  EXPECT_EQ(TokenizerRefusal(described, {"d", "gpt2 of 50257 ids", 8}), "");
  EXPECT_THAT(TokenizerRefusal(described, {"e", "byte of 257 ids", 8}), HasSubstr("byte of 257"));
}

TEST(DataTokenizerTest, OldAndNewDescriptionsOfOneTokenizerAgree) {
  const TokenDirectory old_set, new_set;
  old_set.WriteText("tokenizer.json", R"({"kind": "byte", "vocab_size": 257})");
  new_set.WriteText("tokenizer.json",
                    R"({"kind": "byte", "name": "byte", "vocab_size": 257, "fingerprint": "01"})");
  EXPECT_EQ(TokenizerRefusal(TokenizerOf(TrainTokens(old_set)), TokenizerOf(TrainTokens(new_set))),
            "");
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

#include "data/report/token_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TokenDocumentTest : public testing::TestWithParam<OutputFormat> {
 protected:
  // The documents {1, 2, 3}, {4} and {5, 6} for training, and {7, 8} for validation.
  void Write(const Tokenizer& tokenizer) {
    WriteDataset(files_.path(), tokenizer, GetParam());
    const auto description = ReadDescription(files_.path());
    ASSERT_TRUE(description.ok()) << description.status();
    description_ = *description;
  }

  absl::StatusOr<TokenDocument> Find(const std::string& name) {
    return FindTokenDocument(files_.path(), description_, name);
  }

  TextDirectory files_;
  DatasetDescription description_;
};

INSTANTIATE_TEST_SUITE_P(Formats, TokenDocumentTest,
                         testing::Values(OutputFormat::kTrainyard, OutputFormat::kMegatron,
                                         OutputFormat::kNanogpt, OutputFormat::kLlmc));

TEST_P(TokenDocumentTest, FindsDocumentsByNumber) {
  Write(VocabOnly(50257, "gpt2"));
  EXPECT_THAT(Find("1")->ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(Find("train:2")->ids, ElementsAre(4));
  const auto last = Find("3");
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(last->ids, ElementsAre(5, 6));
  EXPECT_EQ(last->first_token, 6);
  EXPECT_THAT(Find("val:1")->ids, ElementsAre(7, 8));
}

TEST_P(TokenDocumentTest, FindsTheDocumentOfAToken) {
  Write(VocabOnly(50257, "gpt2"));
  const int64_t numbers[] = {1, 1, 1, 1, 2, 2, 3, 3, 3};
  for (int64_t token = 0; token < 9; ++token) {
    const auto document = Find("train@" + std::to_string(token));
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(document->number, numbers[token]) << token;
    EXPECT_EQ(document->ids.size(), (std::vector<size_t>{3, 1, 2})[numbers[token] - 1]);
  }
}

TEST_P(TokenDocumentTest, RefusesOtherNames) {
  Write(VocabOnly(50257, "gpt2"));
  for (const char* name : {"", "0", "-1", "train:0", "train@-1", "train", "a.txt:", "2x"}) {
    EXPECT_EQ(Find(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_THAT(Find("4").status().message(), HasSubstr("ends at document 3 and token 9"));
  EXPECT_EQ(Find("train@9").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Find("test:1").status().message(), HasSubstr("has no split \"test\""));
}

TEST(TokenDocumentMarksTest, TokensThatBeginDocumentsAreRemoved) {
  const TextDirectory files;
  WriteDataset(files.path(), VocabOnly(100'000, "test", 9), OutputFormat::kTrainyard);
  const auto document = FindTokenDocument(files.path(), *ReadDescription(files.path()), "train@6");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_THAT(document->ids, ElementsAre(4));
  EXPECT_EQ(document->first_token, 5);
}

TEST(TokenDocumentMarksTest, MissingFilesAreErrors) {
  const TextDirectory files;
  WriteDataset(files.path(), VocabOnly(100), OutputFormat::kTrainyard);
  const auto description = *ReadDescription(files.path());
  std::filesystem::remove(files / "train.bin");
  EXPECT_EQ(FindTokenDocument(files.path(), description, "1").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace trainyard::data

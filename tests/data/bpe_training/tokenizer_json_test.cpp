#include "data/bpe_training/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

TrainedBpe Example() {
  return {.tokens = {"[UNK]", "\"", "\\", "\u0120", "\u0120\"", "\u0120\"\\"},
          .special_tokens = 1,
          .merges = {{3, 1}, {4, 2}}};
}

TEST(TokenizerJsonTest, HasVocabularyAndMerges) {
  const nlohmann::json json = nlohmann::json::parse(ToTokenizerJson(Example()));
  EXPECT_EQ(json["version"], "1.0");
  EXPECT_EQ(json["model"]["type"], "BPE");
  EXPECT_EQ(
      json["model"]["vocab"],
      (nlohmann::json{
          {"[UNK]", 0}, {"\"", 1}, {"\\", 2}, {"\u0120", 3}, {"\u0120\"", 4}, {"\u0120\"\\", 5}}));
  EXPECT_EQ(json["model"]["merges"], (nlohmann::json{"\u0120 \"", "\u0120\" \\"}));
}

TEST(TokenizerJsonTest, SplitsAsGpt2AndDecodesBytes) {
  const nlohmann::json json = nlohmann::json::parse(ToTokenizerJson(Example()));
  EXPECT_EQ(json["pre_tokenizer"]["type"], "ByteLevel");
  EXPECT_EQ(json["pre_tokenizer"]["use_regex"], true);
  EXPECT_EQ(json["pre_tokenizer"]["add_prefix_space"], false);
  EXPECT_EQ(json["decoder"]["type"], "ByteLevel");
  EXPECT_TRUE(json["normalizer"].is_null());
  EXPECT_TRUE(json["post_processor"].is_null());
}

TEST(TokenizerJsonTest, ListsSpecialTokens) {
  const nlohmann::json json = nlohmann::json::parse(ToTokenizerJson(Example()));
  ASSERT_EQ(json["added_tokens"].size(), 1u);
  EXPECT_EQ(json["added_tokens"][0]["id"], 0);
  EXPECT_EQ(json["added_tokens"][0]["content"], "[UNK]");
  EXPECT_EQ(json["added_tokens"][0]["special"], true);
  EXPECT_EQ(json["added_tokens"][0]["normalized"], false);
}

TEST(TokenizerJsonTest, IsValidWithoutTokens) {
  const nlohmann::json json = nlohmann::json::parse(ToTokenizerJson({}));
  EXPECT_TRUE(json["model"]["vocab"].empty());
  EXPECT_TRUE(json["model"]["merges"].empty());
  EXPECT_TRUE(json["added_tokens"].empty());
}

TEST(TokenizerJsonTest, ReplacesTheFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("tokenizer.json");
  WriteFile(path, "old");
  ASSERT_TRUE(WriteTokenizerJson(Example(), path).ok());
  EXPECT_EQ(ReadFile(path), ToTokenizerJson(Example()));
}

TEST(TokenizerJsonTest, NamesThePathOnFailure) {
  const absl::Status status = WriteTokenizerJson(Example(), "/nonexistent/tokenizer.json");
  EXPECT_THAT(status.message(), HasSubstr("/nonexistent/tokenizer.json"));
}

}  // namespace
}  // namespace trainyard::data

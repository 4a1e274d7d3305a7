#include "data/tokenizer/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "data/tokenizer/byte_tokenizer.h"
#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

uint64_t FingerprintOfJson(const nlohmann::json& json) {
  const auto tokenizer = LoadJson(json);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? (*tokenizer)->fingerprint() : 0;
}

nlohmann::json ThreeMerges() { return ByteLevelJson({{"a", "b"}, {"b", "c"}, {"ab", "c"}}); }

TEST(FingerprintTest, EveryRuleChangesIt) {
  std::set<uint64_t> fingerprints = {FingerprintOfJson(ThreeMerges()),
                                     MakeByteTokenizer()->fingerprint()};
  const auto expect_new = [&](const nlohmann::json& json) {
    EXPECT_TRUE(fingerprints.insert(FingerprintOfJson(json)).second) << json["pre_tokenizer"];
  };
  expect_new(ByteLevelJson({{"b", "c"}, {"a", "b"}, {"ab", "c"}}));
  expect_new(ByteLevelJson({{"a", "b"}, {"b", "c"}, {"ab", "d"}}));
  nlohmann::json json = ThreeMerges();
  std::swap(json["model"]["merges"][0], json["model"]["merges"][1]);
  expect_new(json);
  json = ThreeMerges();
  json["model"]["ignore_merges"] = true;
  expect_new(json);
  json = ThreeMerges();
  json["pre_tokenizer"]["add_prefix_space"] = true;
  expect_new(json);
  json = ThreeMerges();
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  expect_new(json);
  json["pre_tokenizer"] = DeepseekSplitsJson();
  expect_new(json);
  json["pre_tokenizer"] = SplitRuleJson(kQwen3Pattern);
  expect_new(json);
  json["normalizer"] = {{"type", "NFC"}};
  expect_new(json);
  json = ThreeMerges();
  json["added_tokens"][0]["rstrip"] = true;
  expect_new(json);
  json["added_tokens"][0]["id"] = 300;
  expect_new(json);
}

TEST(FingerprintTest, FormatsOfOneTokenizerAgree) {
  // Merges as pairs instead of text, and as every way to make a token.
  nlohmann::json pairs = ThreeMerges();
  pairs["model"]["merges"] = nlohmann::json::array();
  for (const auto& [left, right] : {std::pair("a", "b"), {"b", "c"}, {"ab", "c"}, {"a", "bc"}}) {
    pairs["model"]["merges"].push_back(nlohmann::json::array({left, right}));
  }
  EXPECT_EQ(FingerprintOfJson(pairs), FingerprintOfJson(ThreeMerges()));
  // The vocabulary with and without its added token.
  nlohmann::json repeated = ThreeMerges();
  repeated["model"]["vocab"]["<|endoftext|>"] = repeated["added_tokens"][0]["id"];
  EXPECT_EQ(FingerprintOfJson(repeated), FingerprintOfJson(ThreeMerges()));
}

// Data sets contain fingerprints, so they may never change.
TEST(FingerprintTest, IsStable) {
  const auto gpt2 = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(gpt2.ok());
  EXPECT_EQ(FingerprintText((*gpt2)->fingerprint()), "46e560418111565b");
  EXPECT_EQ(FingerprintText(MakeByteTokenizer()->fingerprint()), "7472616e79617264");
  EXPECT_EQ(FingerprintText(5), "0000000000000005");
}

}  // namespace
}  // namespace trainyard::data

// Tokenizers whose symbols are bytes, from hand-made files of tokenizer.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kEnd[] = "<|endoftext|>";

std::unique_ptr<Tokenizer> LoadBytes(const nlohmann::json& json, const LoadOptions& options = {}) {
  auto tokenizer = LoadJson(json, options);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

LoadOptions WithSpecialIds() {
  LoadOptions options;
  options.special_text = SpecialText::kId;
  return options;
}

TEST(ByteBpeTokenizerTest, EncodesPiecesIndependently) {
  const auto tokenizer = LoadBytes(ByteLevelJson({{"a", "b"}, {" ", "ab"}, {"b", " "}}));
  // "b" and " " are neighbors, but in different pieces.
  EXPECT_THAT(Encode(*tokenizer, "ab ab"), ElementsAre(256, 257));
  EXPECT_THAT(Encode(*tokenizer, ""), IsEmpty());
  EXPECT_EQ(tokenizer->vocab_size(), 260);
  EXPECT_EQ(tokenizer->end_of_document(), 259u);
  EXPECT_EQ(tokenizer->begin_of_document(), std::nullopt);
  EXPECT_EQ(tokenizer->kind(), "bpe");
  EXPECT_EQ(tokenizer->name(), "bpe");
}

TEST(ByteBpeTokenizerTest, DecodesEveryByte) {
  const auto tokenizer = LoadBytes(ByteLevelJson({{"a", "b"}}));
  const std::string text = std::string("ab\0\xC3\xA9 \xF0\x9F\x9A\x82\xC2\xA0\r\n\t", 16) + "ab";
  EXPECT_EQ(tokenizer->Decode(Encode(*tokenizer, text)), text);
  EXPECT_EQ(tokenizer->Decode({tokenizer->end_of_document(), 99999}), "");
}

TEST(ByteBpeTokenizerTest, SpecialTokensInTextAreTextByDefault) {
  const nlohmann::json json = ByteLevelJson({{"a", "b"}});
  const std::string text = std::string("ab") + kEnd + "ab";
  const auto as_text = LoadBytes(json);
  EXPECT_EQ(Encode(*as_text, text).size(), 15u);
  EXPECT_EQ(as_text->Decode(Encode(*as_text, text)), text);
  EXPECT_THAT(Encode(*LoadBytes(json, WithSpecialIds()), text), ElementsAre(256, 257, 256));
}

// A segment is split into pieces alone: the line end before the token is at the end of its segment.
TEST(ByteBpeTokenizerTest, AddedTokensEndTheText) {
  const auto tokenizer = LoadBytes(ByteLevelJson({{"\n", "\n"}}), WithSpecialIds());
  EXPECT_THAT(Encode(*tokenizer, "\n\na"), ElementsAre('\n', '\n', 'a'));
  EXPECT_THAT(Encode(*tokenizer, std::string("\n\n") + kEnd), ElementsAre(256, 257));
}

TEST(ByteBpeTokenizerTest, FindsTheLongestAddedTokenAndStripsSpace) {
  nlohmann::json json = ByteLevelJson({});
  json["added_tokens"].push_back({{"id", 300}, {"content", "<t>"}, {"special", false}});
  json["added_tokens"].push_back(
      {{"id", 301}, {"content", "<t>x"}, {"special", false}, {"normalized", false}});
  json["added_tokens"].push_back({{"id", 302},
                                  {"content", "[M]"},
                                  {"special", false},
                                  {"normalized", false},
                                  {"lstrip", true},
                                  {"rstrip", true}});
  // Tokens that are not special are found by default too.
  const auto tokenizer = LoadBytes(json);
  EXPECT_THAT(Encode(*tokenizer, "a<t>x<t>y"), ElementsAre('a', 301, 300, 'y'));
  EXPECT_THAT(Encode(*tokenizer, "a \xC2\xA0[M]\n b"), ElementsAre('a', 302, 'b'));
  EXPECT_THAT(Encode(*tokenizer, "<t>[M][M"), ElementsAre(300, 302, '[', 'M'));
  EXPECT_EQ(tokenizer->vocab_size(), 303);
}

TEST(ByteBpeTokenizerTest, FindsTheLongerOfTwoAddedTokens) {
  nlohmann::json json = ByteLevelJson({});
  for (const auto& [id, content] : {std::pair(300, "<t>"), std::pair(301, "<t>x")}) {
    json["added_tokens"].push_back(
        {{"id", id}, {"content", content}, {"special", false}, {"normalized", false}});
  }
  EXPECT_THAT(Encode(*LoadBytes(json), "<t>x<t>y"), ElementsAre(301, 300, 'y'));
}

// Special tokens that are text hide other added tokens inside them.
TEST(ByteBpeTokenizerTest, SkippedTokensHideOthers) {
  nlohmann::json json = ByteLevelJson({});
  json["added_tokens"].push_back(
      {{"id", 300}, {"content", "end"}, {"special", false}, {"normalized", false}});
  const auto tokenizer = LoadBytes(json);
  EXPECT_EQ(Encode(*tokenizer, kEnd).size(), 13u);
  EXPECT_THAT(Encode(*tokenizer, "|endo"), ElementsAre('|', 300, 'o'));
}

TEST(ByteBpeTokenizerTest, IgnoreMergesUsesTokensThatNoMergeMakes) {
  nlohmann::json json = ByteLevelJson({});
  json["model"]["vocab"]["xyz"] = 400;
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  EXPECT_THAT(Encode(*LoadBytes(json), "xyz"), ElementsAre('x', 'y', 'z'));
  json["model"]["ignore_merges"] = true;
  EXPECT_THAT(Encode(*LoadBytes(json), "xyz xyz"), ElementsAre(400, ' ', 'x', 'y', 'z'));
}

TEST(ByteBpeTokenizerTest, UsesThePatternOfTheFile) {
  nlohmann::json json = ByteLevelJson({{"1", "2"}, {"12", "3"}, {"123", "4"}});
  EXPECT_THAT(Encode(*LoadBytes(json), "1234"), ElementsAre(258));
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  EXPECT_THAT(Encode(*LoadBytes(json), "1234"), ElementsAre(257, '4'));
  json["pre_tokenizer"] = SplitRuleJson(kQwen3Pattern);
  EXPECT_THAT(Encode(*LoadBytes(json), "1234"), ElementsAre('1', '2', '3', '4'));
}

TEST(ByteBpeTokenizerTest, NfcIsAppliedIfTheFileRequestsIt) {
  nlohmann::json json = ByteLevelJson({});
  const std::string decomposed = "e\xCC\x81";
  EXPECT_THAT(Encode(*LoadBytes(json), decomposed), ElementsAre('e', 0xCC, 0x81));
  json["normalizer"] = {{"type", "NFC"}};
  EXPECT_THAT(Encode(*LoadBytes(json), decomposed), ElementsAre(0xC3, 0xA9));
}

// U+0338 behind '>' composes to U+226F: a token that is searched after NFC is then absent.
TEST(ByteBpeTokenizerTest, NormalizedTokensAreFoundAfterNfc) {
  nlohmann::json json = ByteLevelJson({});
  json["normalizer"] = {{"type", "NFC"}};
  json["added_tokens"].push_back(
      {{"id", 300}, {"content", "<t>"}, {"special", false}, {"normalized", false}});
  const std::string text = "<t>\xCC\xB8";
  EXPECT_THAT(Encode(*LoadBytes(json), text), ElementsAre(300, 0xCC, 0xB8));
  json["added_tokens"][1]["normalized"] = true;
  EXPECT_THAT(Encode(*LoadBytes(json), text), ElementsAre('<', 't', 0xE2, 0x89, 0xAF));
}

TEST(ByteBpeTokenizerTest, PrefixSpaceIsAddedToEachSegment) {
  nlohmann::json json = ByteLevelJson({});
  json["pre_tokenizer"]["add_prefix_space"] = true;
  const auto tokenizer = LoadBytes(json, WithSpecialIds());
  EXPECT_THAT(Encode(*tokenizer, std::string("a") + kEnd + " b"),
              ElementsAre(' ', 'a', 256, ' ', 'b'));
}

// The documents' own tokenizer knows only the bytes of its training text.
TEST(ByteBpeTokenizerTest, UnknownBytesGetTheUnknownToken) {
  nlohmann::json json = ByteLevelJson({});
  json["model"]["vocab"].erase("z");
  auto without_unknown = LoadJson(json);
  EXPECT_THAT(without_unknown.status().message(), HasSubstr("has no token for byte 0x7A"));
  json["model"]["vocab"]["[UNK]"] = 500;
  json["model"]["unk_token"] = "[UNK]";
  EXPECT_THAT(Encode(*LoadBytes(json), "azza"), ElementsAre('a', 500, 500, 'a'));
  json["model"]["fuse_unk"] = true;
  EXPECT_THAT(Encode(*LoadBytes(json), "azza"), ElementsAre('a', 500, 'a'));
}

TEST(ByteBpeTokenizerTest, DocumentTokensAreChosenByName) {
  nlohmann::json json = ByteLevelJson({});
  json["added_tokens"][0]["content"] = "[stop]";
  EXPECT_THAT(LoadJson(json).status().message(), HasSubstr("--end-of-document"));
  LoadOptions options;
  options.document_tokens = {"[stop]", "a"};
  const auto tokenizer = LoadBytes(json, options);
  EXPECT_EQ(tokenizer->end_of_document(), 256u);
  EXPECT_EQ(tokenizer->begin_of_document(), static_cast<uint32_t>('a'));
  EXPECT_FALSE(tokenizer->begins_documents());
  options.document_tokens.end_of_document = "[go]";
  EXPECT_THAT(LoadJson(json, options).status().message(), HasSubstr("has no token \"[go]\""));
}

TEST(ByteBpeTokenizerTest, ATemplateNamesTheBeginOfDocuments) {
  nlohmann::json json = ByteLevelJson({});
  json["added_tokens"].push_back({{"id", 300}, {"content", "[go]"}, {"special", true}});
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "[go]"}}}}, {{"Sequence", {{"id", "A"}}}}}}};
  const auto tokenizer = LoadBytes(json);
  EXPECT_EQ(tokenizer->begin_of_document(), 300u);
  EXPECT_TRUE(tokenizer->begins_documents());
}

TEST(ByteBpeTokenizerTest, ThreadsGetEqualIds) {
  const auto tokenizer = LoadBytes(ByteLevelJson({{"a", "b"}, {"ab", "c"}, {"c", " "}}));
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "abc" + std::to_string(i % 977) + " ";
  const std::vector<uint32_t> expected = Encode(*tokenizer, text);
  std::vector<std::vector<uint32_t>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<uint32_t>& result : results) {
    threads.emplace_back([&] { tokenizer->Encode(text, &result); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<uint32_t>& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace trainyard::data

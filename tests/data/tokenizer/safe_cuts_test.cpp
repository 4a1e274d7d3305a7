// Compares the ids of parts with those of the whole text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Texts that split rules treat differently, with many line ends among them.
constexpr const char* kFragments[] = {"\n",
                                      "\n",
                                      "\n",
                                      "\r\n",
                                      " ",
                                      "  ",
                                      "\t",
                                      "a",
                                      "word",
                                      "'s",
                                      "'",
                                      "12345",
                                      ".",
                                      "...",
                                      "\xC3\xA9",
                                      "e\xCC\x81",
                                      "\xCC\x81",
                                      "\xE3\x80\x82",
                                      "\xE3\x80\x80",
                                      "\xC2\xA0",
                                      "\xC2\x85",
                                      "\xE4\xB8\xAD",
                                      "<|endoftext|>",
                                      "<s>",
                                      "</s>",
                                      "\xF0\x9F\x98\x80",
                                      "\xE2\x96\x81",
                                      "\xE3\x83\xBB",
                                      "\x01"};

std::string RandomText(uint64_t seed, size_t fragments) {
  std::mt19937_64 random(seed);
  std::string text;
  for (size_t i = 0; i < fragments; ++i) text += kFragments[random() % std::size(kFragments)];
  return text;
}

std::vector<size_t> AllCuts(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<size_t> cuts;
  for (size_t at = 0;; ++at) {
    at = tokenizer.SafeCut(text, at, text.size());
    if (at == std::string_view::npos) return cuts;
    cuts.push_back(at);
  }
}

// Encodes each part between two cuts separately.
std::vector<uint32_t> EncodeParts(const Tokenizer& tokenizer, std::string_view text,
                                  const std::vector<size_t>& cuts) {
  std::vector<uint32_t> ids;
  size_t begin = 0;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const size_t end = i < cuts.size() ? cuts[i] : text.size();
    const std::string_view part = text.substr(begin, end - begin);
    if (begin == 0) tokenizer.Encode(part, &ids);
    if (begin > 0) tokenizer.EncodeAfterCut(part, &ids);
    begin = end;
  }
  return ids;
}

// Checks all cuts of random texts, and returns their number.
size_t CheckCuts(const Tokenizer& tokenizer) {
  size_t number = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = RandomText(seed, 60);
    const std::vector<size_t> cuts = AllCuts(tokenizer, text);
    EXPECT_EQ(EncodeParts(tokenizer, text, cuts), Encode(tokenizer, text)) << seed;
    number += cuts.size();
  }
  return number;
}

nlohmann::json LetterJson() {
  return ByteLevelJson({{"\n", "\n"},
                        {" ", "\n"},
                        {".", "\n"},
                        {"\n", " "},
                        {"w", "o"},
                        {"\n\n", "\n"},
                        {".\n", "\n"},
                        {" ", "w"},
                        {" ", " "},
                        {"1", "2"}});
}

std::unique_ptr<Tokenizer> Loaded(const nlohmann::json& json, SpecialText special_text) {
  auto tokenizer = LoadJson(json, {"", {}, special_text});
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

TEST(SafeCutsTest, PartsOfByteBpeHaveTheIdsOfTheWhole) {
  for (const SpecialText special_text : {SpecialText::kText, SpecialText::kId}) {
    nlohmann::json json = LetterJson();
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
    json["pre_tokenizer"]["add_prefix_space"] = true;
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
    json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
    json["pre_tokenizer"] = DeepseekSplitsJson();
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
    json["pre_tokenizer"] = SplitRuleJson(kQwen3Pattern);
    json["normalizer"] = {{"type", "NFC"}};
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
  }
}

TEST(SafeCutsTest, PartsOfGpt2HaveTheIdsOfTheWhole) {
  const auto gpt2 = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(gpt2.ok()) << gpt2.status();
  EXPECT_GT(CheckCuts(**gpt2), 1000u);
}

TEST(SafeCutsTest, PartsOfCharacterBpeHaveTheIdsOfTheWhole) {
  const std::string space = "\xE2\x96\x81";
  const nlohmann::json json =
      CharacterJson({space, "a", "w", "o", "\n", space + "a", space + space, "wo", "\n" + space},
                    {{space, "a"}, {"w", "o"}, {space, space}, {"\n", space}});
  for (const SpecialText special_text : {SpecialText::kText, SpecialText::kId}) {
    EXPECT_GT(CheckCuts(*Loaded(json, special_text)), 1000u);
  }
}

// Added tokens change the text beside them, so no cut may be there.
TEST(SafeCutsTest, CutsKeepAwayFromAddedTokens) {
  nlohmann::json json = LetterJson();
  const int id = json["added_tokens"][0]["id"];
  for (const char* text : {"word\nword", "word", "\n\na"}) {
    json["added_tokens"][0]["content"] = text;
    json["added_tokens"][0]["special"] = false;
    const auto tokenizer = LoadJson(json, {"", {text, ""}, SpecialText::kText});
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    EXPECT_GT(CheckCuts(**tokenizer), 500u) << text << id;
  }
  const auto tokenizer = LoadJson(json, {"", {"\n\na", ""}, SpecialText::kText});
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(AllCuts(**tokenizer, "x\nb\n\nab\nc"), ElementsAre(1, 7));
}

TEST(SafeCutsTest, AddedTokensThatTakeWhiteSpace) {
  nlohmann::json json = LetterJson();
  json["added_tokens"][0]["lstrip"] = true;
  json["added_tokens"][0]["rstrip"] = true;
  EXPECT_GT(CheckCuts(*Loaded(json, SpecialText::kId)), 1000u);
  json["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_EQ(CheckCuts(*Loaded(json, SpecialText::kId)), 0u);
}

TEST(SafeCutsTest, RulesOfTheSplits) {
  const std::string text =
      "a\nb.\nc \nd\n\ne\n\xE3\x80\x80"
      "f7\n";
  nlohmann::json json = LetterJson();
  EXPECT_THAT(AllCuts(*Loaded(json, SpecialText::kText), text), ElementsAre(1, 4, 9, 12, 18));
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  EXPECT_THAT(AllCuts(*Loaded(json, SpecialText::kText), text),
              ElementsAre(1, 2, 5, 8, 9, 11, 12, 18));
}

TEST(SafeCutsTest, LinesMayEndWithCrLf) {
  const std::string text = "a\r\nb.\r\n\r\nc\rd\r\n";
  nlohmann::json json = LetterJson();
  EXPECT_THAT(AllCuts(*Loaded(json, SpecialText::kText), text), ElementsAre(1, 5, 12));
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  EXPECT_THAT(AllCuts(*Loaded(json, SpecialText::kText), text), ElementsAre(1, 3, 9, 12));
}

// The blocks of a file look for the same cuts from different positions.
TEST(SafeCutsTest, RangesDivideTheCuts) {
  const auto gpt2 = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(gpt2.ok());
  const std::string text = RandomText(3, 60) + "\r\na\r\n\n";
  const std::vector<size_t> cuts = AllCuts(**gpt2, text);
  for (size_t begin = 0; begin <= text.size(); ++begin) {
    for (size_t end = begin; end <= text.size(); ++end) {
      const auto first = std::lower_bound(cuts.begin(), cuts.end(), begin);
      const bool is_found = first != cuts.end() && *first < end;
      EXPECT_EQ((*gpt2)->SafeCut(text, begin, end), is_found ? *first : std::string_view::npos);
    }
  }
}

// Plain text is cut before invalid bytes are refused or replaced.
TEST(SafeCutsTest, InvalidUtf8IsNotBesideACut) {
  const auto gpt2 = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(gpt2.ok());
  EXPECT_THAT(AllCuts(**gpt2, "\xFF\n"), IsEmpty());
  EXPECT_THAT(AllCuts(**gpt2, "a\xE3\x80\n"), IsEmpty());
  EXPECT_THAT(AllCuts(**gpt2, "\x80\x80\x80\x80\x80\na\n"), ElementsAre(7));
}

// A block of a file sees only this much text around a cut.
TEST(SafeCutsTest, TheContextIsEnough) {
  const auto gpt2 = LoadTokenizer("gpt2", {});
  ASSERT_TRUE(gpt2.ok());
  const std::string text = RandomText(7, 2000);
  for (const size_t cut : AllCuts(**gpt2, text)) {
    const size_t begin = cut - std::min(cut, Tokenizer::kCutContext);
    const std::string_view around =
        std::string_view(text).substr(begin, cut - begin + Tokenizer::kCutContext);
    EXPECT_EQ((*gpt2)->SafeCut(around, cut - begin, cut - begin + 1), cut - begin);
  }
  nlohmann::json json = LetterJson();
  json["added_tokens"][0]["content"] = std::string(300, 'x');
  const auto long_token = LoadJson(json, {"", {std::string(300, 'x'), ""}, SpecialText::kText});
  ASSERT_TRUE(long_token.ok()) << long_token.status();
  EXPECT_THAT(AllCuts(**long_token, text), IsEmpty());
}

}  // namespace
}  // namespace trainyard::data

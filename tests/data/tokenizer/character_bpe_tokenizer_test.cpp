// Tokenizers whose symbols are characters, from hand-made tokenizer.json and tokenizer.model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

#define S "\xE2\x96\x81"  // U+2581

constexpr uint32_t kByte0 = 3;         // id of <0x00>
constexpr uint32_t kFirst = 3 + 256;   // id of the first token behind the bytes
constexpr uint32_t kSpace = kFirst;    // U+2581
constexpr uint32_t kA = kFirst + 1;    // a
constexpr uint32_t kB = kFirst + 2;    // b
constexpr uint32_t kSA = kFirst + 3;   // U+2581 a
constexpr uint32_t kSS = kFirst + 4;   // U+2581 U+2581
constexpr uint32_t kAB = kFirst + 5;   // ab
constexpr uint32_t kSAB = kFirst + 6;  // U+2581 ab

nlohmann::json SmallJson() {
  return CharacterJson({S, "a", "b", S "a", S S, "ab", S "ab"},
                       {{"a", "b"}, {S, "ab"}, {S, "a"}, {S, S}});
}

std::unique_ptr<Tokenizer> LoadCharacters(const nlohmann::json& json,
                                          const LoadOptions& options = {}) {
  auto tokenizer = LoadJson(json, options);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

TEST(CharacterBpeTokenizerTest, PutsASpaceBeforeTheText) {
  const auto tokenizer = LoadCharacters(SmallJson());
  EXPECT_THAT(Encode(*tokenizer, "ab"), ElementsAre(kSAB));
  EXPECT_THAT(Encode(*tokenizer, "a ab"), ElementsAre(kSA, kSAB));
  EXPECT_THAT(Encode(*tokenizer, ""), IsEmpty());
  EXPECT_EQ(tokenizer->end_of_document(), 2u);
  EXPECT_EQ(tokenizer->begin_of_document(), 1u);
}

// The merge of two spaces is the last one, so the space before a letter joins the letter.
TEST(CharacterBpeTokenizerTest, RunsOfSpacesMergeLast) {
  const auto tokenizer = LoadCharacters(SmallJson());
  EXPECT_THAT(Encode(*tokenizer, " a"), ElementsAre(kSpace, kSA));
  EXPECT_THAT(Encode(*tokenizer, "  a"), ElementsAre(kSS, kSA));
  EXPECT_THAT(Encode(*tokenizer, "a   b"), ElementsAre(kSA, kSS, kSpace, kB));
  EXPECT_THAT(Encode(*tokenizer, "a" S "a"), ElementsAre(kSA, kSA));
}

TEST(CharacterBpeTokenizerTest, OtherCharactersAreBytes) {
  const auto tokenizer = LoadCharacters(SmallJson());
  EXPECT_THAT(Encode(*tokenizer, "a\n"), ElementsAre(kSA, kByte0 + '\n'));
  EXPECT_THAT(Encode(*tokenizer, std::string_view("\0", 1)), ElementsAre(kSpace, kByte0));
  EXPECT_THAT(Encode(*tokenizer, "\xC3\xA9"), ElementsAre(kSpace, kByte0 + 0xC3, kByte0 + 0xA9));
}

TEST(CharacterBpeTokenizerTest, DecodesToTheText) {
  const auto tokenizer = LoadCharacters(SmallJson());
  for (const std::string text :
       {"ab", " ab", "  a  b  ", "\n a", "\xC3\xA9 a\xF0\x9F\x9A\x82", "\r\n\r\n b", " "}) {
    EXPECT_EQ(tokenizer->Decode(Encode(*tokenizer, text)), text);
  }
  EXPECT_EQ(tokenizer->Decode({2}), "");
}

// The text before and behind a special token are encoded as two texts.
TEST(CharacterBpeTokenizerTest, EachSegmentGetsASpace) {
  LoadOptions options;
  options.special_text = SpecialText::kId;
  const auto tokenizer = LoadCharacters(SmallJson(), options);
  EXPECT_THAT(Encode(*tokenizer, "a<s>ab</s>"), ElementsAre(kSA, 1, kSAB, 2));
  EXPECT_EQ(tokenizer->Decode({kSA, 1, kSAB}), "aab");
  EXPECT_EQ(Encode(*LoadCharacters(SmallJson()), "a<s>").size(), 4u);
}

TEST(CharacterBpeTokenizerTest, MetaspaceSparesTextThatBeginsWithASpace) {
  nlohmann::json json = SmallJson();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", S}, {"prepend_scheme", "first"}, {"split", false}};
  LoadOptions options;
  options.special_text = SpecialText::kId;
  const auto tokenizer = LoadCharacters(json, options);
  EXPECT_THAT(Encode(*tokenizer, "a"), ElementsAre(kSA));
  EXPECT_THAT(Encode(*tokenizer, " a"), ElementsAre(kSA));
  EXPECT_THAT(Encode(*tokenizer, "a<s>a"), ElementsAre(kSA, 1, kA));
  json["pre_tokenizer"]["prepend_scheme"] = "never";
  EXPECT_THAT(Encode(*LoadCharacters(json), "a"), ElementsAre(kA));
  json["pre_tokenizer"]["split"] = true;
  EXPECT_THAT(LoadJson(json).status().message(), HasSubstr("Metaspace"));
}

// Text is cut at pairs of characters that no token joins. The ids must equal those of the whole.
TEST(CharacterBpeTokenizerTest, CutsChangeNoIds) {
  const std::vector<std::string> tokens = {S,
                                           "a",
                                           "b",
                                           "c",
                                           "\xE4\xB8\xAD",
                                           S "a",
                                           "ab",
                                           "bc",
                                           "c" S,
                                           "\xE4\xB8\xAD"
                                           "a"};
  const nlohmann::json json =
      CharacterJson(tokens, {{"c", S}, {"b", "c"}, {"a", "b"}, {S, "a"}, {"\xE4\xB8\xAD", "a"}});
  const auto tokenizer = LoadCharacters(json);
  const uint32_t a = kFirst + 1;
  const uint32_t c_space = kFirst + 8;
  const uint32_t chinese = kFirst + 4;
  // A token joins c and a space, so there is no cut before this space.
  EXPECT_THAT(Encode(*tokenizer, "c a"), ElementsAre(kFirst, c_space, a));
  EXPECT_THAT(Encode(*tokenizer,
                     "\xE4\xB8\xAD\xE4\xB8\xAD"
                     "a"),
              ElementsAre(kFirst, chinese, kFirst + 9));
  EXPECT_THAT(Encode(*tokenizer, "abc"), ElementsAre(kFirst + 5, kFirst + 7));
}

TEST(CharacterBpeTokenizerTest, UnknownCharactersAreFusedAcrossCuts) {
  nlohmann::json json = SmallJson();
  json["model"]["byte_fallback"] = false;
  const auto tokenizer = LoadCharacters(json);
  EXPECT_THAT(Encode(*tokenizer, "axyz\n\xC3\xA9 a"), ElementsAre(kSA, 0, kSA));
  json["model"]["fuse_unk"] = false;
  EXPECT_THAT(Encode(*LoadCharacters(json), "axy"), ElementsAre(kSA, 0, 0));
  json["model"].erase("unk_token");
  EXPECT_THAT(LoadJson(json).status().message(), HasSubstr("neither unk_token nor"));
}

// Builds a serialized message of protobuf.
class Message {
 public:
  Message& Varint(uint32_t field, uint64_t value) {
    Raw(field << 3);
    Raw(value);
    return *this;
  }
  Message& Bytes(uint32_t field, std::string_view bytes) {
    Raw(field << 3 | 2);
    Raw(bytes.size());
    text_ += bytes;
    return *this;
  }
  Message& Float(uint32_t field, float value) {
    Raw(field << 3 | 5);
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    text_.append(bytes, sizeof(bytes));
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

struct TestPiece {
  std::string text;
  float score = 0;
  uint64_t type = 1;
};

std::string ModelFile(const std::vector<TestPiece>& pieces, uint64_t model_type = 2,
                      uint64_t removes_spaces = 0, const std::string& character_map = "") {
  Message model;
  for (const TestPiece& piece : pieces) {
    model.Bytes(1,
                Message().Bytes(1, piece.text).Float(2, piece.score).Varint(3, piece.type).text());
  }
  model.Bytes(2, Message().Varint(3, model_type).Varint(35, 1).text());
  Message normalizer;
  normalizer.Bytes(1, "identity").Varint(3, 1).Varint(4, removes_spaces);
  if (!character_map.empty()) normalizer.Bytes(2, character_map);
  model.Bytes(3, normalizer.text());
  return model.text();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadModel(const std::string& text) {
  const TokenizerDirectory directory;
  directory.Write("tokenizer.model", text);
  return LoadTokenizer(directory.path(), {});
}

std::vector<TestPiece> SmallPieces() {
  return {{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}, {S, -100}, {"a", -101},
          {"b", -102},     {"ab", -1},    {S "a", -2},    {S S, -3}};
}

TEST(SentencePieceModelTest, HighestScoreMergesFirst) {
  const auto tokenizer = LoadModel(ModelFile(SmallPieces()));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "ab"), ElementsAre(3, 6));
  EXPECT_THAT(Encode(**tokenizer, "a a"), ElementsAre(7, 7));
  EXPECT_THAT(Encode(**tokenizer, "  a"), ElementsAre(8, 7));
  EXPECT_THAT(Encode(**tokenizer, "xy"), ElementsAre(3, 0));
  EXPECT_EQ((*tokenizer)->end_of_document(), 2u);
  EXPECT_EQ((*tokenizer)->begin_of_document(), 1u);
  EXPECT_EQ((*tokenizer)->vocab_size(), 9);
  ASSERT_EQ((*tokenizer)->files().size(), 1u);
  EXPECT_EQ((*tokenizer)->files()[0].contents, ModelFile(SmallPieces()));
}

TEST(SentencePieceModelTest, LeftmostMergesFirstAmongEqualScores) {
  std::vector<TestPiece> pieces = SmallPieces();
  pieces[6].score = pieces[7].score = -1;
  const auto tokenizer = LoadModel(ModelFile(pieces));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "ab"), ElementsAre(7, 5));
}

TEST(SentencePieceModelTest, BytePiecesEncodeUnknownCharacters) {
  std::vector<TestPiece> pieces = SmallPieces();
  pieces.push_back({"<0xC3>", 0, 6});
  pieces.push_back({"<0xA9>", 0, 6});
  const auto tokenizer = LoadModel(ModelFile(pieces));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "a\xC3\xA9"), ElementsAre(7, 9, 10));
  EXPECT_EQ((*tokenizer)->Decode({7, 9, 10}), "a\xC3\xA9");
}

TEST(SentencePieceModelTest, RejectsModelsThatItCannotRepresent) {
  EXPECT_THAT(LoadModel(ModelFile(SmallPieces(), 1)).status().message(),
              HasSubstr("another type than BPE is not supported; tokenize with spm_encode"));
  EXPECT_THAT(LoadModel(ModelFile(SmallPieces(), 2, 1)).status().message(),
              HasSubstr("remove_extra_whitespaces"));
  EXPECT_THAT(LoadModel(ModelFile(SmallPieces(), 2, 0, "map")).status().message(),
              HasSubstr("normalization rule"));
  std::vector<TestPiece> pieces = SmallPieces();
  pieces.push_back({"user", 0, 4});
  EXPECT_THAT(LoadModel(ModelFile(pieces)).status().message(),
              HasSubstr("user-defined or unused piece \"user\""));
}

TEST(SentencePieceModelTest, RejectsDamagedFiles) {
  const std::string whole = ModelFile(SmallPieces());
  for (const std::string& text : {std::string(), std::string("no model"), whole.substr(0, 20),
                                  whole.substr(0, whole.size() - 1)}) {
    EXPECT_THAT(LoadModel(text).status().message(), HasSubstr("is damaged"));
  }
  std::vector<TestPiece> pieces = SmallPieces();
  pieces[4].text = "\xE2\x96";
  EXPECT_THAT(LoadModel(ModelFile(pieces)).status().message(), HasSubstr("not valid UTF-8"));
  pieces = SmallPieces();
  pieces[4].text = "b";
  EXPECT_THAT(LoadModel(ModelFile(pieces)).status().message(), HasSubstr("occurs twice"));
  pieces = SmallPieces();
  pieces.push_back({"ac", -9});
  EXPECT_THAT(LoadModel(ModelFile(pieces)).status().message(),
              HasSubstr("a character that is no piece"));
}

#undef S

}  // namespace
}  // namespace trainyard::data

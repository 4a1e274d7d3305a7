#include "data/documents/text_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/text/utf8.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

struct Decoded {
  absl::Status status;
  std::vector<TextPart> parts;
};

Decoded Decode(const std::string& bytes, InputKind kind, const std::string& field = "text") {
  const InputFile file = {"/in/file", kind, static_cast<int64_t>(bytes.size())};
  RawBlock block = {&file, 1000, 7, bytes, false, true};
  Decoded decoded;
  PodTexts pods;
  decoded.status = DecodeBlock(block, field, pods, &decoded.parts);
  return decoded;
}

std::string ErrorOf(const std::string& bytes, InputKind kind) {
  const Decoded decoded = Decode(bytes, kind);
  EXPECT_TRUE(absl::IsDataLoss(decoded.status)) << decoded.status;
  return std::string(decoded.status.message());
}

TEST(TextPartsTest, TextStaysAsItIs) {
  const Decoded decoded = Decode("# Title\n\n  `code` \xC3\xA9\r\n", InputKind::kText);
  ASSERT_EQ(decoded.parts.size(), 1u);
  EXPECT_EQ(decoded.parts[0].text, "# Title\n\n  `code` \xC3\xA9\r\n");
  EXPECT_FALSE(decoded.parts[0].begins_document);
  EXPECT_TRUE(decoded.parts[0].ends_document);
}

TEST(TextPartsTest, EachJsonLineIsADocument) {
  const Decoded decoded = Decode(
      "{\"text\": \"one\\nline\", \"n\": 1}\n\n  \r\n{\"text\":\"\"}\n{\"text\":\"\\u00e9\"}",
      InputKind::kJsonLines);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status;
  ASSERT_EQ(decoded.parts.size(), 3u);
  EXPECT_EQ(decoded.parts[0].text, "one\nline");
  EXPECT_EQ(decoded.parts[1].text, "");
  EXPECT_EQ(decoded.parts[2].text, "\xC3\xA9");
  for (const TextPart& part : decoded.parts) {
    EXPECT_TRUE(part.begins_document && part.ends_document);
  }
  EXPECT_EQ(Decode("{\"body\":\"b\"}", InputKind::kJsonLines, "body").parts.at(0).text, "b");
}

TEST(TextPartsTest, BadLinesAreNamedByNumber) {
  EXPECT_THAT(ErrorOf("{\"text\":\"a\"}\n{\"text\":\n", InputKind::kJsonLines),
              HasSubstr("/in/file:8: not valid JSON"));
  EXPECT_THAT(ErrorOf("[1]\n", InputKind::kJsonLines), HasSubstr("/in/file:7: not a JSON object"));
  EXPECT_THAT(ErrorOf("{\"body\":\"a\"}\n", InputKind::kJsonLines),
              HasSubstr("/in/file:7: no field \"text\"; pass the name of the field that contains "
                        "the text with --field"));
  EXPECT_THAT(ErrorOf("{\"text\":5}\n", InputKind::kJsonLines), HasSubstr("is not a string"));
  EXPECT_THAT(ErrorOf("{\"text\":\"\\ud800\"}\n", InputKind::kJsonLines), HasSubstr("not valid"));
  std::string deep(200000, '[');
  EXPECT_THAT(ErrorOf(deep, InputKind::kJsonLines), HasSubstr("not valid JSON"));
}

TEST(TextPartsTest, WhatIsNotUtf8IsNamedByOffset) {
  for (const InputKind kind : {InputKind::kText, InputKind::kJsonLines}) {
    const std::string error = ErrorOf("good\n\xFF\xFE bad", kind);
    EXPECT_THAT(error, HasSubstr("/in/file: not UTF-8 at byte 1005 (0xff)"));
    EXPECT_THAT(error, HasSubstr("iconv"));
  }
}

TEST(TextPartsTest, APodFileIsOneDocumentOfText) {
  const TextDirectory directory;
  directory.Write("a.pod", "=head1 Caf\xC3\xA9\n");
  const InputFile file = {directory / "a.pod", InputKind::kPod, 0};
  const RawBlock block = {&file, 0, 1, "", true, true};
  PodTexts pods;
  std::vector<TextPart> parts;
  ASSERT_TRUE(DecodeBlock(block, "text", pods, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].text, "Caf\xC3\xA9\n");
  EXPECT_TRUE(parts[0].begins_document && parts[0].ends_document);
}

TEST(TextPartsTest, ByteOrderMarkGoes) {
  const InputFile file = {"f", InputKind::kText, 4};
  const RawBlock block = {&file, 0, 1, "\xEF\xBB\xBFx", true, true};
  std::vector<TextPart> parts;
  PodTexts pods;
  EXPECT_TRUE(DecodeBlock(block, "text", pods, &parts).ok());
  EXPECT_EQ(parts.at(0).text, "x");
}

TEST(TextPartsTest, LongTextsAreCutAfterLines) {
  std::string text;
  while (text.size() < 200000) text += "some line of text\n";
  const std::vector<std::string_view> stretches = CutIntoStretches(text);
  EXPECT_GT(stretches.size(), 4u);
  std::string all;
  for (const std::string_view stretch : stretches) {
    EXPECT_EQ(stretch.back(), '\n');
    EXPECT_LE(stretch.size(), size_t{40000});
    all += stretch;
  }
  EXPECT_EQ(all, text);
  EXPECT_EQ(CutIntoStretches("").size(), 1u);
  EXPECT_EQ(CutIntoStretches("short").size(), 1u);
}

TEST(TextPartsTest, TextWithoutLinesIsCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 300000) text += "\xF0\x9F\x98\x80";
  std::string all;
  for (const std::string_view stretch : CutIntoStretches(text)) {
    EXPECT_FALSE(FirstInvalidUtf8(stretch).has_value());
    all += stretch;
  }
  EXPECT_EQ(all, text);
}

}  // namespace
}  // namespace trainyard::data

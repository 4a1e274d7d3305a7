#include "data/documents/block_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Part {
  std::string text;
  bool begins_document = false;
  bool ends_document = false;
};

struct Decoded {
  absl::Status status;
  BlockLines lines;
  std::vector<Part> parts;

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Part& part : parts) all.push_back(part.text);
    return all;
  }
};

// Decodes a block in the middle of a file, unless `begins_file`.
Decoded Decode(const std::string& bytes, InputKind kind, const DecodeSettings& settings = {},
               bool begins_file = false, bool omitted_line = false) {
  const InputFile file = {"/in/file", kind, 0, Compression::kNone};
  RawBlock block;
  block.file = &file;
  block.begins_file = begins_file;
  block.ends_file = true;
  block.offset = 1000;
  block.bytes = bytes;
  block.omitted_line = omitted_line;
  PodTexts pods;
  Decoded decoded;
  auto lines = BlockDecoder(settings, &pods).Decode(&block, [&](const TextPart& part) {
    decoded.parts.push_back({std::string(part.text), part.begins_document, part.ends_document});
  });
  decoded.status = lines.status();
  if (lines.ok()) decoded.lines = *std::move(lines);
  return decoded;
}

DecodeSettings Replacing() { return {"text", true}; }

TEST(BlockDecoderTest, TextStaysAsItIs) {
  const std::string text("# Title\n\n  `code` \xC3\xA9\0\r\n", 23);
  const Decoded decoded = Decode(text, InputKind::kText);
  ASSERT_EQ(decoded.parts.size(), 1u);
  EXPECT_EQ(decoded.parts[0].text, text);
  EXPECT_FALSE(decoded.parts[0].begins_document);
  EXPECT_TRUE(decoded.parts[0].ends_document);
  EXPECT_EQ(decoded.lines.repaired, 0);
}

TEST(BlockDecoderTest, LongTextIsOneDocumentOfSeveralParts) {
  std::string text;
  while (text.size() < 200000) text += "some line of text\n";
  const Decoded decoded = Decode(text, InputKind::kText, {}, true);
  ASSERT_GT(decoded.parts.size(), 4u);
  std::string all;
  for (size_t i = 0; i < decoded.parts.size(); ++i) {
    EXPECT_EQ(decoded.parts[i].begins_document, i == 0);
    EXPECT_EQ(decoded.parts[i].ends_document, i + 1 == decoded.parts.size());
    all += decoded.parts[i].text;
  }
  EXPECT_EQ(all, text);
}

TEST(BlockDecoderTest, AShortFileIsOnePart) {
  std::string text;
  while (text.size() < 100000) text += "some line of text\n";
  DecodeSettings settings;
  settings.whole_bytes = text.size();
  const Decoded whole = Decode(text, InputKind::kText, settings, true);
  ASSERT_EQ(whole.parts.size(), 1u);
  EXPECT_EQ(whole.parts[0].text, text);
  EXPECT_TRUE(whole.parts[0].begins_document && whole.parts[0].ends_document);
  EXPECT_GT(Decode(text, InputKind::kText, settings, false).parts.size(), 1u)
      << "a part of a longer file";
  settings.whole_bytes = text.size() - 1;
  EXPECT_GT(Decode(text, InputKind::kText, settings, true).parts.size(), 1u);
}

TEST(BlockDecoderTest, EachJsonLineIsOneWholeDocument) {
  const std::string large(300000, 'x');
  const Decoded decoded =
      Decode("{\"text\": \"one\\nline\", \"n\": 1}\n\n  \r\n{\"text\":\"\"}\n{\"text\":\"" + large +
                 "\"}\r\n{\"text\":\"no line end\"}",
             InputKind::kJsonLines);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status;
  EXPECT_THAT(decoded.texts(), ElementsAre("one\nline", "", large, "no line end"));
  for (const Part& part : decoded.parts) {
    EXPECT_TRUE(part.begins_document && part.ends_document);
  }
  EXPECT_EQ(decoded.lines.line_ends, 6);
  EXPECT_EQ(decoded.lines.lines, 4);
  EXPECT_TRUE(decoded.lines.bad.empty());
  EXPECT_THAT(Decode("{\"body\":\"b\"}", InputKind::kJsonLines, {"body", false}).texts(),
              ElementsAre("b"));
}

TEST(BlockDecoderTest, BadLinesAreCountedFromTheStartOfTheBlock) {
  const Decoded decoded = Decode("{\"text\":\"a\"}\n\n{\"text\":\n{\"text\":\"b\"}\n{}",
                                 InputKind::kJsonLines, {}, false, true);
  EXPECT_THAT(decoded.texts(), ElementsAre("a", "b"));
  ASSERT_EQ(decoded.lines.bad.size(), 3u);
  EXPECT_EQ(decoded.lines.bad[0].line, 2);
  EXPECT_EQ(decoded.lines.bad[0].kind, BadLineKind::kNotJson);
  EXPECT_EQ(decoded.lines.bad[1].line, 4);
  EXPECT_EQ(decoded.lines.bad[1].kind, BadLineKind::kFieldMissing);
  EXPECT_EQ(decoded.lines.bad[2].line, 5);
  EXPECT_EQ(decoded.lines.bad[2].kind, BadLineKind::kTooLong);
  EXPECT_EQ(decoded.lines.bad[2].cause, "longer than 256 MiB");
  EXPECT_EQ(decoded.lines.line_ends, 6);
  EXPECT_EQ(decoded.lines.lines, 5);
}

TEST(BlockDecoderTest, ALineThatIsNotUtf8IsBadOrRepaired) {
  const std::string bytes = "{\"text\":\"a\xFF\xE4\xBD\"}\n{\"text\":\"b\"}\n{\xFF}\n";
  const Decoded strict = Decode(bytes, InputKind::kJsonLines);
  EXPECT_THAT(strict.texts(), ElementsAre("b"));
  ASSERT_EQ(strict.lines.bad.size(), 2u);
  EXPECT_EQ(strict.lines.bad[0].kind, BadLineKind::kNotUtf8);
  EXPECT_EQ(strict.lines.repaired, 0);
  const Decoded repaired = Decode(bytes, InputKind::kJsonLines, Replacing());
  EXPECT_THAT(repaired.texts(), ElementsAre("a\xEF\xBF\xBD\xEF\xBF\xBD", "b"));
  ASSERT_EQ(repaired.lines.bad.size(), 1u);  // repaired, but not JSON
  EXPECT_EQ(repaired.lines.bad[0].kind, BadLineKind::kNotJson);
  EXPECT_EQ(repaired.lines.bad[0].line, 2);
  EXPECT_EQ(repaired.lines.repaired, 2);
}

TEST(BlockDecoderTest, TextThatIsNotUtf8IsRefusedOrRepaired) {
  const Decoded strict = Decode("good\n\xFF\xFE bad", InputKind::kText);
  EXPECT_TRUE(absl::IsDataLoss(strict.status));
  const std::string error(strict.status.message());
  EXPECT_THAT(error, HasSubstr("/in/file: not UTF-8 at byte 1005 (0xff)"));
  EXPECT_THAT(error, HasSubstr("iconv"));
  EXPECT_THAT(error, HasSubstr("--utf8 replace"));
  const Decoded repaired = Decode("good\n\xFF\xFE bad", InputKind::kText, Replacing());
  EXPECT_THAT(repaired.texts(), ElementsAre("good\n\xEF\xBF\xBD\xEF\xBF\xBD bad"));
  EXPECT_EQ(repaired.lines.repaired, 1);
}

TEST(BlockDecoderTest, AByteOrderMarkIsCutAtTheStartOfAFile) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(Decode(mark + "x", InputKind::kText, {}, true).texts(), ElementsAre("x"));
  EXPECT_THAT(Decode(mark + "x", InputKind::kText, {}, false).texts(), ElementsAre(mark + "x"));
  EXPECT_THAT(Decode(mark + "{\"text\":\"x\"}", InputKind::kJsonLines, {}, true).texts(),
              ElementsAre("x"));
}

TEST(BlockDecoderTest, APodFileIsOneDocumentOfText) {
  const Decoded decoded = Decode("=head1 Caf\xC3\xA9\n", InputKind::kPod);
  ASSERT_EQ(decoded.parts.size(), 1u);
  EXPECT_EQ(decoded.parts[0].text, "Caf\xC3\xA9\n");
  EXPECT_TRUE(decoded.parts[0].begins_document && decoded.parts[0].ends_document);
}

TEST(BlockDecoderTest, PartsOfJsonLinesContainTheLineAndItsNumber) {
  const InputFile file = {"/in/file", InputKind::kJsonLines, 0, Compression::kNone};
  RawBlock block;
  block.file = &file;
  block.bytes = "{\"text\":\"a\"}\n\n[]\n {\"id\":1,\"text\":\"b\xFF\"}\r\n";
  PodTexts pods;
  std::vector<std::string> lines;
  const auto take = [&](const TextPart& part) {
    lines.push_back(std::to_string(part.line) + std::string(part.json));
  };
  ASSERT_TRUE(BlockDecoder(Replacing(), &pods).Decode(&block, take).ok());
  EXPECT_THAT(lines, ElementsAre("0{\"text\":\"a\"}", "3 {\"id\":1,\"text\":\"b\xEF\xBF\xBD\"}\r"));
}

// The rows of a Parquet page: text, null, no UTF-8, empty.
RawBlock PageBlock(const InputFile& file) {
  auto page = std::make_shared<TextPage>();
  page->values = {"one", std::nullopt,
                  "b\xFF"
                  "ad",
                  ""};
  RawBlock block;
  block.file = &file;
  block.rows = page;
  return block;
}

TEST(BlockDecoderTest, RowsAreDocuments) {
  const InputFile file = {"/in/file", InputKind::kParquet, 0, Compression::kNone};
  RawBlock block = PageBlock(file);
  PodTexts pods;
  BlockDecoder decoder({"body"}, &pods);
  std::vector<std::string> fields;
  decoder.ObserveFields([&](std::string_view key, JsonType type) {
    fields.push_back(std::string(key) + (type == JsonType::kNull ? ":null" : ""));
  });
  std::vector<std::string> rows;
  const auto lines = decoder.Decode(&block, [&](const TextPart& part) {
    EXPECT_TRUE(part.begins_document && part.ends_document && part.json.empty());
    rows.push_back(std::to_string(part.line) + std::string(part.text));
  });
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(rows, ElementsAre("0one", "3"));
  EXPECT_THAT(fields, ElementsAre("body", "body:null", "body", "body"));
  EXPECT_EQ(lines->line_ends, 4);
  EXPECT_EQ(lines->lines, 4);
  ASSERT_EQ(lines->bad.size(), 2u);
  EXPECT_EQ(lines->bad[0].line, 1);
  EXPECT_EQ(lines->bad[0].kind, BadLineKind::kFieldNull);
  EXPECT_EQ(lines->bad[0].cause, "column \"body\" is null");
  EXPECT_EQ(lines->bad[1].line, 2);
  EXPECT_EQ(lines->bad[1].kind, BadLineKind::kNotUtf8);
  EXPECT_THAT(lines->bad[1].cause, HasSubstr("not UTF-8 at byte 1 of the text; pass --utf8"));
}

TEST(BlockDecoderTest, RepairsRows) {
  const InputFile file = {"/in/file", InputKind::kParquet, 0, Compression::kNone};
  RawBlock block = PageBlock(file);
  PodTexts pods;
  std::vector<std::string> rows;
  const auto lines = BlockDecoder(Replacing(), &pods).Decode(&block, [&](const TextPart& part) {
    rows.emplace_back(part.text);
  });
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(rows, ElementsAre("one",
                                "b\xEF\xBF\xBD"
                                "ad",
                                ""));
  EXPECT_EQ(lines->repaired, 1);
  EXPECT_EQ(lines->bad.size(), 1u);
}

}  // namespace
}  // namespace trainyard::data

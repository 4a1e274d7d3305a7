#include "data/parquet/text_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/parquet/thrift_bytes.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A page of version 1 that is not compressed.
PageSource Source(int64_t values, const std::string& bytes, int64_t encoding = 0) {
  PageSource source;
  source.codec = 0;
  source.header.type = 0;
  source.header.values = values;
  source.header.encoding = encoding;
  source.header.definition_encoding = 3;
  source.header.uncompressed_bytes = static_cast<int64_t>(bytes.size());
  return source;
}

std::shared_ptr<const TextDictionary> Dictionary(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) bytes += Plain(text);
  auto dictionary = DecodeDictionary(Source(static_cast<int64_t>(texts.size()), bytes), bytes);
  EXPECT_TRUE(dictionary.ok()) << dictionary.status();
  return dictionary.ok() ? *dictionary : nullptr;
}

std::string ErrorOf(const PageSource& source, const std::string& bytes,
                    std::shared_ptr<const TextDictionary> dictionary = nullptr) {
  const auto page = DecodeDataPage(source, bytes, std::move(dictionary));
  EXPECT_FALSE(page.ok());
  return std::string(page.status().message());
}

TEST(TextPageTest, ReadsPlainValues) {
  const std::string bytes = Plain("one") + Plain("") + Plain("three");
  const auto page = DecodeDataPage(Source(3, bytes), bytes, nullptr);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT((*page)->values, ElementsAre("one", "", "three"));
}

TEST(TextPageTest, ReadsNulls) {
  const std::string levels = Varint(1 << 1 | 1) + "\x05";  // 1, 0, 1, and five unused ones
  const std::string bytes = Plain(levels) + Plain("one") + Plain("three");
  PageSource source = Source(3, bytes);
  source.is_optional = true;
  const auto page = DecodeDataPage(source, bytes, nullptr);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT((*page)->values, ElementsAre("one", std::nullopt, "three"));
  source.header.definition_encoding = 4;
  EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("BIT_PACKED are not supported; write the file"));
  source.header.definition_encoding = 3;
  source.header.values = 30;
  EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("its definition levels"));
}

TEST(TextPageTest, ReadsDictionaryIndices) {
  const std::string bytes =
      "\x02" + Varint(2 << 1) + "\x01" + Varint(1 << 1) + std::string(1, '\0');
  for (const int64_t encoding : {2, 8}) {
    const auto page = DecodeDataPage(Source(3, bytes, encoding), bytes, Dictionary({"a", "bc"}));
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_THAT((*page)->values, ElementsAre("bc", "bc", "a"));
  }
  EXPECT_THAT(ErrorOf(Source(3, bytes, 8), bytes), HasSubstr("its dictionary is missing"));
  EXPECT_THAT(ErrorOf(Source(3, bytes, 8), bytes, Dictionary({"a"})),
              HasSubstr("its dictionary indices"));
  EXPECT_THAT(ErrorOf(Source(4, bytes, 8), bytes, Dictionary({"a", "bc"})),
              HasSubstr("its dictionary indices"));
  EXPECT_THAT(ErrorOf(Source(1, "\x21", 8), "\x21", Dictionary({"a"})), HasSubstr("the width"));
}

TEST(TextPageTest, ReadsPagesOfVersion2) {
  const std::string levels = Varint(1 << 1 | 1) + "\x02";  // 0, 1
  const std::string bytes = levels + Plain("two");
  PageSource source = Source(2, bytes);
  source.is_optional = true;
  source.header.type = 3;
  source.header.definition_bytes = 2;
  source.header.repetition_bytes = 0;
  source.header.is_compressed = false;
  source.codec = 6;  // zstd, which this page does not use
  const auto page = DecodeDataPage(source, bytes, nullptr);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT((*page)->values, ElementsAre(std::nullopt, "two"));
  source.header.is_compressed = true;
  EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("damaged page: its zstd data"));
  source.header.definition_bytes = 100;
  EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("the lengths of its levels"));
}

TEST(TextPageTest, RefusesDamagedValues) {
  const std::string bytes = Plain("one");
  EXPECT_THAT(ErrorOf(Source(2, bytes), bytes), HasSubstr("the lengths of its values"));
  const std::string cut = bytes.substr(0, 6);
  EXPECT_THAT(ErrorOf(Source(1, cut), cut), HasSubstr("the lengths of its values"));
  PageSource source = Source(1, bytes);
  source.header.crc = 1;
  EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("its checksum is wrong; copy or write the file"));
  for (const int64_t codec : {1, 2, 6}) {
    source = Source(1, bytes);
    source.codec = codec;
    EXPECT_THAT(ErrorOf(source, bytes), HasSubstr("data; copy"));
  }
  EXPECT_THAT(ErrorOf(Source(1, bytes, 6), bytes),
              HasSubstr("the encoding DELTA_LENGTH_BYTE_ARRAY is not supported; write the file"));
}

// The length in the compressed bytes must not decide how many bytes are written.
TEST(TextPageTest, RefusesAnotherLengthThanThatOfTheHeader) {
  const std::string page = Plain("hello");
  // A length of 9 bytes, then 9 literal bytes.
  const std::string snappy = "\x09\x20" + page;
  PageSource source = Source(1, page);
  source.codec = 1;
  const auto decoded = DecodeDataPage(source, snappy, nullptr);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_THAT((*decoded)->values, ElementsAre("hello"));
  for (const int64_t bytes : {0, 8, 10, 1000}) {
    source.header.uncompressed_bytes = bytes;
    EXPECT_THAT(ErrorOf(source, snappy), HasSubstr("its snappy data"));
  }
}

TEST(TextPageTest, LimitsTheValuesAndTheTextOfAPage) {
  const std::string all = std::string(1, '\0') + Varint(uint64_t{1} << 31);
  EXPECT_THAT(ErrorOf(Source(kPageValuesMax + 1, all, 8), all, Dictionary({"a"})),
              HasSubstr("values, more than 4194304"));
  // 4,194,304 times 100 bytes.
  EXPECT_THAT(ErrorOf(Source(kPageValuesMax, all, 8), all, Dictionary({std::string(100, 'x')})),
              HasSubstr("more than 256 MiB of text"));
  const auto page = DecodeDataPage(Source(kPageValuesMax, all, 8), all, Dictionary({"a"}));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ((*page)->values.size(), static_cast<size_t>(kPageValuesMax));
}

}  // namespace
}  // namespace trainyard::data

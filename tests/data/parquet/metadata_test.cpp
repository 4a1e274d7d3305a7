#include "data/parquet/metadata.h"

#include <gtest/gtest.h>

#include "tests/data/parquet/thrift_bytes.h"

namespace trainyard::data {
namespace {

TEST(ParquetMetadataTest, ReadsTheColumnOfAFooter) {
  SmallParquet file{.values = 9};
  const auto footer = ParseFooter(file.Footer(), "text");
  ASSERT_TRUE(footer);
  ASSERT_EQ(footer->schema.size(), 3u);
  EXPECT_EQ(footer->schema[0].children, 2);
  EXPECT_EQ(footer->schema[2].name, "text");
  EXPECT_EQ(footer->schema[2].type, 6);
  EXPECT_EQ(footer->rows, 9);
  ASSERT_EQ(footer->row_groups.size(), 1u);
  EXPECT_EQ(footer->row_groups[0].rows, 9);
  ASSERT_TRUE(footer->row_groups[0].column);
  EXPECT_EQ(footer->row_groups[0].column->values, 9);
  EXPECT_EQ(footer->row_groups[0].column->data_page, 4);
  EXPECT_FALSE(ParseFooter(file.Footer(), "other")->row_groups[0].column);
}

TEST(ParquetMetadataTest, RefusesDamagedFooters) {
  const std::string footer = SmallParquet{.values = 9}.Footer();
  for (size_t size = 0; size < footer.size(); ++size) {
    EXPECT_FALSE(ParseFooter(std::string_view(footer).substr(0, size), "text")) << size;
  }
  EXPECT_FALSE(ParseFooter(ThriftStruct().Int(3, 1).bytes(), "text"));
}

// An empty struct has one byte, so that 1 MiB could fill 100 MiB of memory.
TEST(ParquetMetadataTest, LimitsTheNumberOfElements) {
  const auto with_groups = [](size_t count) {
    ThriftStruct root, file;
    root.Text(4, "schema");
    file.List(2, 12, {root.bytes()});
    file.Field(4, 9, "\xFC" + Varint(count) + std::string(count, '\0'));
    return ParseFooter(file.bytes(), "text").has_value();
  };
  EXPECT_TRUE(with_groups(kRowGroupsMax));
  EXPECT_FALSE(with_groups(kRowGroupsMax + 1));
  const auto with_schema = [](size_t count) {
    ThriftStruct file;
    file.Field(2, 9, "\xFC" + Varint(count) + std::string(count, '\0'));
    return ParseFooter(file.bytes(), "text").has_value();
  };
  EXPECT_TRUE(with_schema(kSchemaElementsMax));
  EXPECT_FALSE(with_schema(kSchemaElementsMax + 1));
}

TEST(ParquetMetadataTest, ReadsPageHeaders) {
  size_t bytes = 0;
  const std::string page = PlainPage({"one", "two"});
  const auto header = ParsePageHeader(page, &bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(bytes, page.size() - 14);
  EXPECT_EQ(header->compressed_bytes, 14);
  EXPECT_EQ(header->values, 2);
  EXPECT_FALSE(header->crc);
  EXPECT_FALSE(ParsePageHeader(page.substr(0, bytes - 1), &bytes));

  ThriftStruct data, v2;
  data.Int(1, 5).Int(2, 1).Int(3, 5).Int(4, 8).Int(5, 3).Int(6, 0).Field(7, 2, "");
  v2.Int(1, 3).Int(2, 10).Int(3, 9).Int(4, -1).Struct(8, data);
  const auto second = ParsePageHeader(v2.bytes(), &bytes);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, 3);
  EXPECT_EQ(second->encoding, 8);
  EXPECT_EQ(second->definition_bytes, 3);
  EXPECT_FALSE(second->is_compressed);
  EXPECT_EQ(second->crc, 0xFFFFFFFF);
}

}  // namespace
}  // namespace trainyard::data

#include "data/parquet/thrift_reader.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/data/parquet/thrift_bytes.h"

namespace trainyard::data {
namespace {

TEST(ThriftReaderTest, ReadsFieldsOfAllTypesThatParquetUses) {
  ThriftStruct inner;
  inner.Int(1, 7);
  ThriftStruct fields;
  fields.Int(1, -3)
      .Text(2, "name")
      .Field(3, 1, "")  // true
      .List(4, 5, {ZigZag(1), ZigZag(300)})
      .Struct(5, inner)
      .Int(6, std::numeric_limits<int64_t>::min());
  const std::string bytes = fields.bytes();
  ThriftReader reader(bytes);
  ThriftField field = reader.NextField({});
  EXPECT_EQ(reader.Integer(field), -3);
  field = reader.NextField(field);
  EXPECT_EQ(reader.Binary(field), "name");
  field = reader.NextField(field);
  EXPECT_TRUE(reader.Boolean(field));
  field = reader.NextField(field);
  EXPECT_EQ(reader.ListOf(field, ThriftType::kInt32), 2u);
  EXPECT_EQ(reader.Integer({0, ThriftType::kInt32}), 1);
  EXPECT_EQ(reader.Integer({0, ThriftType::kInt32}), 300);
  field = reader.NextField(field);
  EXPECT_TRUE(reader.IsStruct(field));
  EXPECT_EQ(reader.Integer(reader.NextField({})), 7);
  EXPECT_EQ(reader.NextField({1, ThriftType::kInt32}).type, ThriftType::kStop);
  field = reader.NextField(field);
  EXPECT_EQ(reader.Integer(field), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(reader.NextField(field).type, ThriftType::kStop);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.position(), bytes.size());
}

TEST(ThriftReaderTest, SkipsValuesOfAllTypes) {
  ThriftStruct inner;
  inner.Text(1, "x").Field(2, 2, "");
  ThriftStruct fields;
  fields.Field(1, 3, "b")
      .Field(2, 7, "12345678")
      .List(3, 12, {inner.bytes(), inner.bytes()})
      .List(4, 2, {"\1", "\2"})                                        // booleans
      .Field(5, 11, Varint(1) + "\x58" + ZigZag(9) + Varint(1) + "v")  // map of int32 to text
      .Field(6, 11, Varint(0))
      .Int(7, 42);
  const std::string bytes = fields.bytes();
  ThriftReader reader(bytes);
  ThriftField field;
  for (int i = 0; i < 6; ++i) {
    field = reader.NextField(field);
    reader.Skip(field);
  }
  field = reader.NextField(field);
  EXPECT_EQ(field.id, 7);
  EXPECT_EQ(reader.Integer(field), 42);
  EXPECT_TRUE(reader.ok());
}

TEST(ThriftReaderTest, RefusesCutAndImpossibleValues) {
  const auto skips = [](const std::string& bytes) {
    ThriftReader reader(bytes);
    reader.Skip({1, ThriftType::kStruct});
    return reader.ok();
  };
  ThriftStruct fields;
  fields.Text(1, "name").List(2, 5, {ZigZag(1)});
  const std::string sound = fields.bytes();
  EXPECT_TRUE(skips(sound));
  for (size_t size = 0; size < sound.size(); ++size) EXPECT_FALSE(skips(sound.substr(0, size)));
  EXPECT_FALSE(skips(ThriftStruct().Field(1, 8, Varint(~uint64_t{0}) + "x").bytes()));
  EXPECT_FALSE(skips(ThriftStruct().Field(1, 9, "\xF5" + Varint(1u << 30)).bytes()));
  EXPECT_FALSE(skips(ThriftStruct().Field(1, 13, "").bytes()));  // no such type
  EXPECT_FALSE(skips(ThriftStruct().Field(1, 5, std::string(11, '\xFF')).bytes()));
  EXPECT_FALSE(skips(std::string(1000, '\x1C')));                   // 1,000 levels
  EXPECT_FALSE(skips(ThriftStruct().Field(1, 9, "\x50").bytes()));  // five elements of no type
}

TEST(ThriftReaderTest, RefusesAnotherTypeThanExpected) {
  const std::string bytes = ThriftStruct().Int(1, 5).bytes();
  ThriftReader text(bytes);
  EXPECT_EQ(text.Binary(text.NextField({})), "");
  EXPECT_FALSE(text.ok());
  EXPECT_EQ(text.NextField({}).type, ThriftType::kStop);
  ThriftReader list(bytes);
  EXPECT_EQ(list.ListOf(list.NextField({}), ThriftType::kStruct), 0u);
  EXPECT_FALSE(list.ok());
  ThriftReader boolean(bytes);
  boolean.Boolean(boolean.NextField({}));
  EXPECT_FALSE(boolean.ok());
}

}  // namespace
}  // namespace trainyard::data

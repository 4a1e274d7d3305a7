#include "data/input/parquet_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "data/input/block_reader.h"
#include "tests/data/parquet/thrift_bytes.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::optional<std::string>>;

// The rule of golden_parquet/write.mjs.
std::optional<std::string> TextOfRow(int i) {
  if (i % 7 == 3) return std::nullopt;
  if (i % 11 == 5) return "";
  return "text " + std::to_string(i % 13) + " äöü 漢字 " +
         std::string(static_cast<size_t>(i % 5), 'x');
}

Rows AllRows() {
  Rows rows;
  for (int i = 0; i < 120; ++i) rows.push_back(TextOfRow(i));
  return rows;
}

std::string Golden(const std::string& name) { return std::string(PARQUET_FILES "/") + name; }

InputFile FileAt(const std::string& path) {
  return {path, InputKind::kParquet, static_cast<int64_t>(std::filesystem::file_size(path)),
          Compression::kNone};
}

void AddRows(const RawBlock& block, Rows* rows) {
  if (block.rows == nullptr) return;
  for (const auto& value : block.rows->values) {
    rows->push_back(value ? std::optional<std::string>(*value) : std::nullopt);
  }
}

absl::StatusOr<Rows> RowsOf(const InputFile& file, const std::string& field = "text") {
  const std::vector<InputFile> files = {file};
  ReadLimits limits;
  limits.field = field;
  BlockReader reader(files, limits);
  Rows rows;
  int64_t position = 0;
  bool ended = false;
  for (;;) {
    RawBlock block;
    const auto more = reader.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) break;
    EXPECT_EQ(block.begins_file, position == 0);
    EXPECT_EQ(block.range_begin, position);
    position = block.range_end;
    ended = block.ends_file;
    const absl::Status loaded = LoadBlock(&block, limits);
    if (!loaded.ok()) return loaded;
    AddRows(block, &rows);
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(position, file.bytes);
  return rows;
}

std::string ErrorOf(const InputFile& file, const std::string& field = "text") {
  const absl::Status status = RowsOf(file, field).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(file.path));
  return std::string(status.message());
}

TEST(ParquetColumnTest, ReadsTheFilesOfOtherWriters) {
  for (const char* name :
       {"arrow_v1_plain", "arrow_v1_dictionary_snappy", "arrow_v1_plain_gzip",
        "arrow_v2_plain_zstd", "arrow_v2_dictionary_gzip", "arrow_v2_dictionary_none",
        "duckdb_v1_snappy", "duckdb_v1_zstd", "hyparquet_snappy"}) {
    const auto rows = RowsOf(FileAt(Golden(name) + ".parquet"));
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(*rows, AllRows()) << name;
  }
}

TEST(ParquetColumnTest, ReadsColumnsWithoutNulls) {
  const auto rows = RowsOf(FileAt(Golden("hyparquet_required.parquet")));
  ASSERT_TRUE(rows.ok()) << rows.status();
  Rows expected = AllRows();
  for (auto& row : expected) row = row.value_or("none");
  EXPECT_EQ(*rows, expected);
}

TEST(ParquetColumnTest, RefusesWhatIsNotSupported) {
  EXPECT_THAT(ErrorOf(FileAt(Golden("arrow_v1_dictionary_brotli.parquet"))),
              HasSubstr("compressed with brotli; supported are snappy, zstd and gzip; write"));
  EXPECT_THAT(ErrorOf(FileAt(Golden("duckdb_v2_delta.parquet"))),
              HasSubstr("DELTA_LENGTH_BYTE_ARRAY is not supported; write the file again"));
  const InputFile nested = FileAt(Golden("duckdb_nested.parquet"));
  EXPECT_THAT(ErrorOf(nested), HasSubstr("column \"text\" is nested (a list or a struct)"));
  EXPECT_THAT(ErrorOf(nested, "document"), HasSubstr("\"document\" is nested"));
  EXPECT_THAT(ErrorOf(nested, "number"), HasSubstr("\"number\" does not contain strings"));
  EXPECT_THAT(ErrorOf(nested, "list"),
              HasSubstr("no column \"list\"; pass the column that contains the text with --field; "
                        "the columns are text, document, number"));
}

// Each row group must be in exactly one range, as blocks of stages need it.
TEST(ParquetColumnTest, RangesDivideTheRows) {
  const InputFile file = FileAt(Golden("arrow_v1_dictionary_snappy.parquet"));
  for (const int64_t step : {100, 700, 100000}) {
    Rows rows;
    size_t ranges_with_rows = 0;
    for (int64_t begin = 0; begin < file.bytes; begin += step) {
      const size_t before = rows.size();
      auto column = ParquetColumn::Open(file, "text", {begin, std::min(begin + step, file.bytes)});
      ASSERT_TRUE(column.ok()) << column.status();
      for (RawBlock block; block.range_end == 0 || block.page != nullptr;) {
        block = RawBlock();
        ASSERT_TRUE((*column)->NextBlock(&block).ok());
        ASSERT_TRUE(LoadBlock(&block).ok());
        AddRows(block, &rows);
      }
      ranges_with_rows += rows.size() > before ? 1 : 0;
    }
    EXPECT_EQ(rows, AllRows()) << step;
    EXPECT_EQ(ranges_with_rows, step == 100000 ? 1u : 3u) << step;
  }
}

class SmallParquetTest : public testing::Test {
 protected:
  InputFile WriteBytes(const std::string& bytes) const {
    return FileAt(directory_.Write("small.parquet", bytes));
  }
  InputFile Write(const SmallParquet& file) const { return WriteBytes(file.Bytes()); }

  const TextDirectory directory_;
};

TEST_F(SmallParquetTest, ReadsSeveralPages) {
  const auto rows = RowsOf(
      Write({.pages = {PlainPage({"a", "b"}), PlainPage({}), PlainPage({"c"})}, .values = 3}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre("a", "b", "c"));
  const auto none = RowsOf(Write({.pages = {PlainPage({})}, .values = 0}));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_THAT(*none, ElementsAre());
}

TEST_F(SmallParquetTest, RefusesFilesThatAreNotParquet) {
  EXPECT_THAT(ErrorOf(WriteBytes("")), HasSubstr("too short for a Parquet file; copy or write"));
  EXPECT_THAT(ErrorOf(WriteBytes(std::string(100, 'x'))), HasSubstr("not a Parquet file"));
  const std::string sound = SmallParquet{.pages = {PlainPage({"a"})}, .values = 1}.Bytes();
  EXPECT_THAT(ErrorOf(WriteBytes(sound.substr(0, sound.size() - 1))),
              HasSubstr("its end is missing"));
  EXPECT_THAT(ErrorOf(WriteBytes("PAR1" + std::string(100, '\0') + "PAR1")),
              HasSubstr("damaged Parquet footer"));
  EXPECT_THAT(ErrorOf(Write({.mark = "PARE"})), HasSubstr("encrypted"));
  EXPECT_THAT(ErrorOf(Write({.pages = {PlainPage({"a"})}, .values = 1, .is_encrypted = true})),
              HasSubstr("an encrypted Parquet file"));
}

TEST_F(SmallParquetTest, RefusesMetadataThatContradictsThePages) {
  const auto with = [](SmallParquet file) {
    if (file.pages.empty()) file.pages = {PlainPage({"a", "b"})};
    return file;
  };
  EXPECT_THAT(ErrorOf(Write(with({.values = 1}))), HasSubstr("more values than its row group"));
  EXPECT_THAT(ErrorOf(Write(with({.values = 3}))), HasSubstr("page at byte"));
  EXPECT_THAT(ErrorOf(Write(with({.values = 2, .rows = 3}))),
              HasSubstr("row group 0: damaged description of column \"text\""));
  EXPECT_THAT(ErrorOf(Write(with({.values = 2, .repetition = 2}))), HasSubstr("nested"));
  EXPECT_THAT(ErrorOf(Write(with({.values = 2, .type = 1}))), HasSubstr("not contain strings"));
  EXPECT_THAT(ErrorOf(Write(with({.values = 2, .codec = 9}))), HasSubstr("number 9"));
  ThriftStruct large;
  large.Int(1, 0).Int(2, kPageBytesMax + 1).Int(3, 0).Struct(5, ThriftStruct().Int(1, 1));
  EXPECT_THAT(ErrorOf(Write({.pages = {large.bytes()}, .values = 1})),
              HasSubstr("page at byte 4: larger than 256 MiB; write the file again"));
  ThriftStruct behind;
  behind.Int(1, 0).Int(2, 5).Int(3, 500).Struct(5, ThriftStruct().Int(1, 1));
  EXPECT_THAT(ErrorOf(Write({.pages = {behind.bytes()}, .values = 1})),
              HasSubstr("page at byte 4: damaged sizes"));
}

TEST_F(SmallParquetTest, RefusesAFileThatChangesItsSize) {
  InputFile file = Write({.pages = {PlainPage({"a"})}, .values = 1});
  ++file.bytes;
  EXPECT_THAT(ErrorOf(file), HasSubstr("its size changed during the run"));
}

// A damaged file must give an error or rows. The sanitizer build detects reads outside of buffers.
TEST_F(SmallParquetTest, NoDamageCrashes) {
  uint64_t random = 1;
  const auto pick = [&random](uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  };
  int refused = 0;
  for (const char* name : {"arrow_v1_dictionary_snappy", "arrow_v2_plain_zstd", "duckdb_v1_zstd",
                           "hyparquet_required"}) {
    std::stringstream sound;
    sound << std::ifstream(Golden(name) + ".parquet", std::ios::binary).rdbuf();
    for (int round = 0; round < 150; ++round) {
      std::string bytes = sound.str();
      for (uint64_t i = pick(3); i > 0; --i) {
        bytes[pick(bytes.size())] = static_cast<char>(pick(256));
      }
      if (pick(4) == 0) bytes.erase(pick(bytes.size()), 1 + pick(8));
      const auto rows = RowsOf(WriteBytes(bytes));
      refused += rows.ok() ? 0 : 1;
      EXPECT_FALSE(rows.status().message().empty() && !rows.ok());
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace trainyard::data

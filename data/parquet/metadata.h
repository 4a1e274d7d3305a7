// The metadata of Parquet files: the footer and the headers of pages.
#ifndef TRAINYARD_DATA_PARQUET_METADATA_H_
#define TRAINYARD_DATA_PARQUET_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::data {

// Numbers of the format (parquet.thrift).
enum class ParquetType : int64_t { kByteArray = 6 };
enum class Repetition : int64_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class Codec : int64_t { kNone = 0, kSnappy = 1, kGzip = 2, kZstd = 6 };
enum class Encoding : int64_t { kPlain = 0, kPlainDictionary = 2, kRle = 3, kRleDictionary = 8 };
enum class PageType : int64_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

// Numbers that are absent in a file are -1. They have been read, but not checked.

struct SchemaElement {
  std::string name;
  int64_t type = -1;  // -1 for groups
  int64_t repetition = -1;
  int64_t children = 0;
};

// The part of a row group that contains one column.
struct ColumnChunk {
  bool is_top_level = false;  // a column with the name that was searched, outside of any group
  bool in_other_file = false;
  bool is_encrypted = false;
  int64_t codec = -1;
  int64_t values = -1;     // including nulls
  int64_t data_page = -1;  // byte offsets in the file
  int64_t dictionary_page = -1;
};

struct RowGroup {
  std::optional<ColumnChunk> column;
  int64_t rows = -1;
};

struct Footer {
  std::vector<SchemaElement> schema;  // in depth-first order, beginning with the root
  std::vector<RowGroup> row_groups;
  int64_t rows = -1;
  bool is_encrypted = false;
};

struct PageHeader {
  int64_t type = -1;
  int64_t uncompressed_bytes = -1;
  int64_t compressed_bytes = -1;
  std::optional<uint32_t> crc;  // of the bytes behind the header
  // For data pages and dictionary pages:
  int64_t values = -1;  // including nulls
  int64_t encoding = -1;
  // For data pages of version 1:
  int64_t definition_encoding = -1;
  // For data pages of version 2:
  int64_t definition_bytes = -1;
  int64_t repetition_bytes = -1;
  bool is_compressed = true;
};

// Reads the row groups with only the column `name`. Returns nullopt if `bytes` are not the footer
// of a Parquet file, or if it has more than kSchemaElementsMax elements or kRowGroupsMax row
// groups. The limits bound the memory, because an element of a hostile footer has only one byte.
std::optional<Footer> ParseFooter(std::string_view bytes, std::string_view name);
inline constexpr size_t kSchemaElementsMax = 1 << 16;
inline constexpr size_t kRowGroupsMax = 1 << 20;

// Sets `header_bytes` to the length of the header at the start of `bytes`. Returns nullopt if the
// header is damaged or longer than `bytes`.
std::optional<PageHeader> ParsePageHeader(std::string_view bytes, size_t* header_bytes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PARQUET_METADATA_H_

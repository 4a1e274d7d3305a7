// Reads the text column of a Parquet file page by page.
#ifndef TRAINYARD_DATA_INPUT_PARQUET_COLUMN_H_
#define TRAINYARD_DATA_INPUT_PARQUET_COLUMN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/input_files.h"
#include "data/input/raw_block.h"
#include "data/parquet/metadata.h"
#include "data/parquet/text_page.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// An open file. Thread-safe.
class ParquetFile {
 public:
  // Returns DataLoss if the size differs from file.bytes.
  static absl::StatusOr<std::shared_ptr<const ParquetFile>> Open(const InputFile& file);

  // Replaces `output` by the bytes [offset, offset + count), which must be in the file.
  absl::Status Read(int64_t offset, size_t count, std::string* output) const;
  absl::Status Error(const std::string& cause) const;

  int64_t bytes() const { return bytes_; }

 private:
  ParquetFile(std::string path, int64_t bytes, UniqueFd fd)
      : path_(std::move(path)), bytes_(bytes), fd_(std::move(fd)) {}

  const std::string path_;
  const int64_t bytes_;
  const UniqueFd fd_;
};

// The place of a data page in its file.
struct ParquetPage {
  std::shared_ptr<const ParquetFile> file;
  std::shared_ptr<const TextDictionary> dictionary;  // of the row group; may be null
  PageSource source;
  int64_t offset = 0;  // of the bytes behind the header
};

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// Not thread-safe. Keeps the list of row groups and one dictionary in memory.
class ParquetColumn {
 public:
  // Selects the row groups whose first page of the column `name` begins in `range`. Each row group
  // is in one of several ranges that cover the file. `file` must outlive the column.
  //
  // Errors name the file: NotFound and PermissionDenied if it cannot be opened; DataLoss if it is
  // damaged, has no such column, has another type or an unsupported part of the format.
  static absl::StatusOr<std::unique_ptr<ParquetColumn>> Open(const InputFile& file,
                                                             const std::string& name,
                                                             ByteRange range);

  // Sets the page of the next block. The last block of the range has no page, is loaded, and sets
  // ends_file if the range ends with the file.
  absl::Status NextBlock(RawBlock* block);

 private:
  ParquetColumn(std::shared_ptr<const ParquetFile> file, std::string name, ByteRange range)
      : file_(std::move(file)), name_(std::move(name)), range_(range), block_end_(range.begin) {}

  absl::Status ReadFooter();
  absl::Status CheckSchema(const Footer& footer);
  absl::Status CheckElement(const SchemaElement& element);
  absl::Status SelectGroups(const Footer& footer);
  absl::Status CheckGroup(size_t number, const RowGroup& group) const;
  // Returns null at the end of the row groups.
  absl::StatusOr<std::shared_ptr<const ParquetPage>> NextPage();
  absl::StatusOr<PageHeader> ReadHeader(size_t* header_bytes) const;
  absl::Status ReadDictionary(const PageSource& source, int64_t offset);

  const std::shared_ptr<const ParquetFile> file_;
  const std::string name_;
  const ByteRange range_;
  int64_t footer_begin_ = 0;
  bool is_optional_ = false;
  std::vector<ColumnChunk> chunks_;
  size_t chunk_ = 0;  // index of the current one
  bool in_chunk_ = false;
  int64_t values_left_ = 0;  // of the current chunk
  int64_t position_ = 0;     // of the next page header
  std::shared_ptr<const TextDictionary> dictionary_;
  int64_t block_end_ = 0;  // range_end of the last block
};

// Reads and decodes the page of a block. Thread-safe for different blocks. Errors: DataLoss, with
// the file and the position of the page.
absl::Status LoadPage(RawBlock* block);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_PARQUET_COLUMN_H_

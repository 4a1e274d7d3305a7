#include "data/input/parquet_column.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/input/system_error.h"
#include "data/parquet/page_codec.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// A file begins with the mark. It ends with the footer, its length in 4 bytes, and the mark.
constexpr std::string_view kMark = "PAR1";
constexpr std::string_view kEncryptedMark = "PARE";
constexpr int64_t kTailBytes = 8;
// Files of 10,000 row groups with statistics of 20 columns have about 30 MiB.
constexpr int64_t kFooterBytesMax = int64_t{128} << 20;
// Most headers have 20 to 100 bytes. Some writers store the smallest and the largest text in them.
constexpr size_t kHeaderBytes = 4096;
constexpr size_t kHeaderBytesMax = 16 << 20;
constexpr size_t kColumnsNamed = 20;

constexpr char kHowToRepair[] = "; copy or write the file again";

uint32_t LittleEndian32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

// Returns the indices of the columns and groups below the root. Returns an empty list if the
// numbers of children are damaged.
std::vector<size_t> TopLevel(const std::vector<SchemaElement>& schema) {
  std::vector<size_t> top;
  int64_t nested = 0;  // elements left of the group that is skipped
  for (size_t i = 1; i < schema.size(); ++i) {
    if (schema[i].children < 0 || schema[i].children > static_cast<int64_t>(schema.size()))
      return {};
    if (nested == 0) {
      top.push_back(i);
    } else {
      --nested;
    }
    nested += schema[i].children;
  }
  return top;
}

std::string NamesOf(const std::vector<SchemaElement>& schema, const std::vector<size_t>& top) {
  std::string names;
  for (size_t i = 0; i < std::min(top.size(), kColumnsNamed); ++i) {
    names += (i == 0 ? "" : ", ") + schema[top[i]].name.substr(0, 100);
  }
  return top.size() > kColumnsNamed ? names + ", ..." : names;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ParquetFile>> ParquetFile::Open(const InputFile& file) {
  UniqueFd fd(open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("cannot open " + file.path, errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return SystemError("cannot read " + file.path, errno);
  std::shared_ptr<const ParquetFile> opened(new ParquetFile(file.path, file.bytes, std::move(fd)));
  if (status.st_size == file.bytes) return opened;
  return opened->Error(
      "its size changed during the run; wait until the file is complete, then start again");
}

absl::Status ParquetFile::Read(int64_t offset, size_t count, std::string* output) const {
  output->resize(count);
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(fd_.get(), output->data() + done, count - done,
                              static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read " + path_, errno);
    if (got == 0) return Error("became shorter during the run; start again");
    done += static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::Status ParquetFile::Error(const std::string& cause) const {
  return absl::DataLossError(path_ + ": " + cause);
}

absl::StatusOr<std::unique_ptr<ParquetColumn>> ParquetColumn::Open(const InputFile& file,
                                                                   const std::string& name,
                                                                   ByteRange range) {
  TRAINYARD_ASSIGN_OR_RETURN(auto opened, ParquetFile::Open(file));
  std::unique_ptr<ParquetColumn> column(new ParquetColumn(std::move(opened), name, range));
  TRAINYARD_RETURN_IF_ERROR(column->ReadFooter());
  return column;
}

absl::Status ParquetColumn::ReadFooter() {
  const int64_t bytes = file_->bytes();
  std::string text;
  if (bytes < static_cast<int64_t>(kMark.size()) + kTailBytes) {
    return file_->Error(std::string("too short for a Parquet file") + kHowToRepair);
  }
  TRAINYARD_RETURN_IF_ERROR(file_->Read(bytes - kTailBytes, kTailBytes, &text));
  const std::string_view mark = std::string_view(text).substr(4);
  if (mark == kEncryptedMark) {
    return file_->Error("an encrypted Parquet file; write the file without encryption");
  }
  const int64_t length = LittleEndian32(text);
  footer_begin_ = bytes - kTailBytes - length;
  if (mark != kMark || footer_begin_ < static_cast<int64_t>(kMark.size())) {
    return file_->Error(std::string("not a Parquet file, or its end is missing") + kHowToRepair);
  }
  if (length > kFooterBytesMax) {
    return file_->Error("a footer of " + std::to_string(length) +
                        " bytes, more than 128 MiB; write the file with larger row groups");
  }
  TRAINYARD_RETURN_IF_ERROR(file_->Read(footer_begin_, static_cast<size_t>(length), &text));
  const std::optional<Footer> footer = ParseFooter(text, name_);
  if (!footer) return file_->Error(std::string("damaged Parquet footer") + kHowToRepair);
  if (footer->is_encrypted) {
    return file_->Error("an encrypted Parquet file; write the file without encryption");
  }
  TRAINYARD_RETURN_IF_ERROR(CheckSchema(*footer));
  return SelectGroups(*footer);
}

absl::Status ParquetColumn::CheckSchema(const Footer& footer) {
  const std::vector<size_t> top = TopLevel(footer.schema);
  for (const size_t i : top) {
    if (footer.schema[i].name == name_) return CheckElement(footer.schema[i]);
  }
  if (top.empty()) return file_->Error(std::string("no columns") + kHowToRepair);
  return file_->Error("no column \"" + name_ +
                      "\"; pass the column that contains the text with "
                      "--field; the columns are " +
                      NamesOf(footer.schema, top));
}

absl::Status ParquetColumn::CheckElement(const SchemaElement& element) {
  is_optional_ = element.repetition == static_cast<int64_t>(Repetition::kOptional);
  const bool is_required = element.repetition == static_cast<int64_t>(Repetition::kRequired);
  if (element.children > 0 || (!is_optional_ && !is_required)) {
    return file_->Error("column \"" + name_ +
                        "\" is nested (a list or a struct), which is not supported; write its text "
                        "as a column of strings, and pass this column with --field");
  }
  if (element.type == static_cast<int64_t>(ParquetType::kByteArray)) return absl::OkStatus();
  return file_->Error("column \"" + name_ +
                      "\" does not contain strings; pass the column that contains the text with "
                      "--field");
}

absl::Status ParquetColumn::SelectGroups(const Footer& footer) {
  for (size_t i = 0; i < footer.row_groups.size(); ++i) {
    const RowGroup& group = footer.row_groups[i];
    TRAINYARD_RETURN_IF_ERROR(CheckGroup(i, group));
    ColumnChunk chunk = *group.column;
    // Some writers store 0 for a missing dictionary.
    if (chunk.dictionary_page > 0) {
      chunk.data_page = std::min(chunk.data_page, chunk.dictionary_page);
    }
    if (chunk.data_page < range_.begin || chunk.data_page >= range_.end) continue;
    if (chunk.values > 0) chunks_.push_back(chunk);
  }
  return absl::OkStatus();
}

absl::Status ParquetColumn::CheckGroup(size_t number, const RowGroup& group) const {
  const std::string where = "row group " + std::to_string(number) + ": ";
  if (!group.column || group.column->values < 0 || group.column->values != group.rows ||
      group.column->data_page < static_cast<int64_t>(kMark.size()) ||
      group.column->data_page >= footer_begin_) {
    return file_->Error(where + "damaged description of column \"" + name_ + "\"" + kHowToRepair);
  }
  if (group.column->is_encrypted || group.column->in_other_file) {
    return file_->Error(where + "column \"" + name_ + "\" is encrypted or in another file" +
                        kHowToRewrite);
  }
  if (IsSupportedCodec(group.column->codec)) return absl::OkStatus();
  return file_->Error("column \"" + name_ + "\" is compressed with " +
                      CodecName(group.column->codec) + "; supported are snappy, zstd and gzip" +
                      kHowToRewrite);
}

absl::Status ParquetColumn::NextBlock(RawBlock* block) {
  TRAINYARD_ASSIGN_OR_RETURN(block->page, NextPage());
  block->range_begin = block_end_;
  if (block->page == nullptr) {
    block_end_ = range_.end;
    block->loaded = true;
    block->ends_file = range_.end == file_->bytes();
  } else {
    // Row groups may be in any order in the file.
    block_end_ = std::clamp(position_, block_end_, std::max(block_end_, range_.end));
  }
  block->range_end = block_end_;
  block->offset = block->page == nullptr ? block_end_ : block->page->offset;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const ParquetPage>> ParquetColumn::NextPage() {
  while (chunk_ < chunks_.size()) {
    const ColumnChunk& chunk = chunks_[chunk_];
    if (!in_chunk_) {
      in_chunk_ = true;
      values_left_ = chunk.values;
      position_ = chunk.data_page;
      dictionary_ = nullptr;
    }
    if (values_left_ == 0) {
      ++chunk_;
      in_chunk_ = false;
      continue;
    }
    size_t header_bytes = 0;
    TRAINYARD_ASSIGN_OR_RETURN(const PageHeader header, ReadHeader(&header_bytes));
    const PageSource source = {header, chunk.codec, is_optional_};
    const int64_t offset = position_ + static_cast<int64_t>(header_bytes);
    if (header.type == static_cast<int64_t>(PageType::kDictionary)) {
      TRAINYARD_RETURN_IF_ERROR(ReadDictionary(source, offset));
    }
    position_ = offset + header.compressed_bytes;
    const bool has_rows = header.type == static_cast<int64_t>(PageType::kData) ||
                          header.type == static_cast<int64_t>(PageType::kDataV2);
    if (!has_rows) continue;
    if (header.values < 0 || header.values > values_left_) {
      return file_->Error("page at byte " + std::to_string(offset) +
                          ": has more values than its row group" + kHowToRepair);
    }
    values_left_ -= header.values;
    return std::make_shared<ParquetPage>(ParquetPage{file_, dictionary_, source, offset});
  }
  return nullptr;
}

absl::StatusOr<PageHeader> ParquetColumn::ReadHeader(size_t* header_bytes) const {
  const auto left = static_cast<size_t>(std::max<int64_t>(footer_begin_ - position_, 0));
  const std::string where = "page at byte " + std::to_string(position_) + ": ";
  std::string bytes;
  for (size_t count = kHeaderBytes;; count *= 16) {
    TRAINYARD_RETURN_IF_ERROR(file_->Read(position_, std::min(count, left), &bytes));
    const std::optional<PageHeader> header = ParsePageHeader(bytes, header_bytes);
    if (header) {
      const int64_t behind = static_cast<int64_t>(left - *header_bytes);
      if (header->compressed_bytes < 0 || header->compressed_bytes > behind ||
          header->uncompressed_bytes < 0) {
        return file_->Error(where + "damaged sizes" + kHowToRepair);
      }
      if (std::max(header->compressed_bytes, header->uncompressed_bytes) > kPageBytesMax) {
        return file_->Error(where + "larger than 256 MiB" + kHowToRewrite);
      }
      return *header;
    }
    if (count >= left || count >= kHeaderBytesMax) break;
  }
  return file_->Error(where + "damaged header" + kHowToRepair);
}

absl::Status ParquetColumn::ReadDictionary(const PageSource& source, int64_t offset) {
  std::string bytes;
  TRAINYARD_RETURN_IF_ERROR(
      file_->Read(offset, static_cast<size_t>(source.header.compressed_bytes), &bytes));
  auto dictionary = DecodeDictionary(source, bytes);
  if (!dictionary.ok()) {
    return file_->Error("dictionary at byte " + std::to_string(offset) + ": " +
                        std::string(dictionary.status().message()));
  }
  dictionary_ = *std::move(dictionary);
  return absl::OkStatus();
}

absl::Status LoadPage(RawBlock* block) {
  const ParquetPage& page = *block->page;
  std::string bytes;
  TRAINYARD_RETURN_IF_ERROR(page.file->Read(
      page.offset, static_cast<size_t>(page.source.header.compressed_bytes), &bytes));
  auto rows = DecodeDataPage(page.source, bytes, page.dictionary);
  if (!rows.ok()) {
    return page.file->Error("page at byte " + std::to_string(page.offset) + ": " +
                            std::string(rows.status().message()));
  }
  block->rows = *std::move(rows);
  block->loaded = true;
  return absl::OkStatus();
}

}  // namespace trainyard::data

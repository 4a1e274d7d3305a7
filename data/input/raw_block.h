// The unit of work of the pipeline: a part of an input file.
#ifndef TRAINYARD_DATA_INPUT_RAW_BLOCK_H_
#define TRAINYARD_DATA_INPUT_RAW_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "data/input/input_files.h"
#include "data/parquet/text_page.h"

namespace trainyard::data {

// Returns the first position in [begin, end) at which plain text may be cut; npos if there is none.
// The position depends only on the `context` bytes before and after it, which `text` includes
// unless the file begins or ends there. Thread-safe.
struct TextCuts {
  std::function<size_t(std::string_view text, size_t begin, size_t end)> find;
  size_t context = 0;
};

struct ReadLimits {
  size_t block_bytes = size_t{1} << 20;
  // A JSON line is omitted if it is longer, including its line end. A longer .pod file is an error.
  // At least block_bytes.
  size_t document_bytes_max = size_t{256} << 20;
  // Cuts of plain text. Without `find`, text is cut at line ends, and long lines between
  // characters.
  TextCuts cuts;
  // The column of Parquet files.
  std::string field = "text";
};

// Bytes that are allocated behind the end of RawBlock::bytes, because simdjson reads beyond the end
// of a line.
inline constexpr size_t kBlockPadding = 64;

// A block of a plain file is a function of the file and of the block's position, so that threads
// can read blocks in any order:
//   JSON lines: the lines that begin in the range. None if one line covers the whole range.
//   Plain text: from the first line that begins in the range to the first one that begins after it.
//       Text without a line end in a whole range is cut between two characters.
//   Plain text with ReadLimits::cuts: from the first cut in the range to the first one behind it.
//       None if there is no cut in the range. More than document_bytes_max without a cut is an
//       error.
//   POD: the whole file.
//   Parquet: a data page of the column. The last block of a file has no page.
// A block of a compressed file follows the previous one. It ends at the same kinds of positions.
struct ParquetPage;

struct RawBlock {
  const InputFile* file = nullptr;
  // Range of the file in bytes on disk. For compressed files, the bytes that were read for this
  // block. For Parquet files, the bytes from the end of the previous page to the end of this one.
  int64_t range_begin = 0;
  int64_t range_end = 0;
  bool begins_file = false;
  bool ends_file = false;
  std::shared_ptr<const ParquetPage> page;  // set by BlockReader for Parquet files

  // The members below are set by LoadBlock.

  bool loaded = false;
  std::string bytes;   // without the padding
  int64_t offset = 0;  // of `bytes`, in the decompressed file
  // One line longer than document_bytes_max followed `bytes` and was omitted.
  bool omitted_line = false;
  std::shared_ptr<const TextPage> rows;  // of a Parquet page
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_RAW_BLOCK_H_

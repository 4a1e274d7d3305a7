// The unit of work of the pipeline: a part of an input file.
#ifndef TRAINYARD_DATA_INPUT_RAW_BLOCK_H_
#define TRAINYARD_DATA_INPUT_RAW_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/input/input_files.h"

namespace trainyard::data {

struct ReadLimits {
  size_t block_bytes = size_t{1} << 20;
  // A JSON line is omitted if it is longer, including its line end. A longer .pod file is an error.
  // At least block_bytes.
  size_t document_bytes_max = size_t{256} << 20;
};

// Bytes that are allocated behind the end of RawBlock::bytes, because simdjson reads beyond the end
// of a line.
inline constexpr size_t kBlockPadding = 64;

// A block of a plain file is a function of the file and of the block's position, so that threads
// can read blocks in any order:
//   JSON lines: the lines that begin in the range. None if one line covers the whole range.
//   Plain text: from the first line end after a letter in the range to the first one after it. Text
//       without such a line end in a whole range is cut after another line end, or between two
//       characters.
//   POD: the whole file.
// A block of a compressed file follows the previous one. It ends at the same kinds of positions.
struct RawBlock {
  const InputFile* file = nullptr;
  // Range of the file in bytes on disk. For compressed files, the bytes that were read for this
  // block.
  int64_t range_begin = 0;
  int64_t range_end = 0;
  bool begins_file = false;
  bool ends_file = false;

  // The members below are set by LoadBlock.

  bool loaded = false;
  std::string bytes;   // without the padding
  int64_t offset = 0;  // of `bytes`, in the decompressed file
  // One line longer than document_bytes_max followed `bytes` and was omitted.
  bool omitted_line = false;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_RAW_BLOCK_H_

// Reads the documents of a block.
#ifndef TRAINYARD_DATA_STAGES_BLOCK_DOCUMENTS_H_
#define TRAINYARD_DATA_STAGES_BLOCK_DOCUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/stages/plan.h"

namespace trainyard::data {

struct Document {
  // A JSON object without a line end: the whole input line, or {"text": ..., "source": PATH} for
  // other files, with DecodeSettings::field as the first key.
  std::string_view json;
  std::string_view text;
  size_t file = 0;   // in the plan
  int64_t line = 0;  // counted from 0 at the first line of the block in this file
  size_t block = 0;  // in the plan; set by RunStageOnBlock
};

// The lines of one file in a block.
struct FileLines {
  size_t file = 0;  // in the plan
  BlockLines lines;
};

// Called for each document of a block, in order. The views are valid during the call.
using TakeDocument = std::function<absl::Status(const Document&)>;
// Called about once per MiB with the number of bytes read on disk since the last call. An error
// ends the reading.
using Advance = std::function<absl::Status(int64_t bytes)>;

// Maximum number of bad lines that FileLines lists per file. Others are only counted.
inline constexpr size_t kBadLinesListed = 1000;

// Returns the lines of the block's files, without files of plain text that needed no repair. Needs
// memory for about 1 MiB of lines, for a page of a Parquet file and for the longest document.
// `settings.cuts` must be empty, because documents are not cut. Errors: those of LoadBlock,
// BlockDecoder, `take` and `advance`; DataLoss if a file differs from the plan. Thread-safe.
absl::StatusOr<std::vector<FileLines>> ReadDocuments(const Plan& plan, const PlanBlock& block,
                                                     const DecodeSettings& settings,
                                                     const TakeDocument& take,
                                                     const Advance& advance);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_BLOCK_DOCUMENTS_H_

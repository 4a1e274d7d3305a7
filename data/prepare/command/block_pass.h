// One pass over all documents of the inputs, on all threads.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_BLOCK_PASS_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_BLOCK_PASS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/documents/json_line.h"
#include "data/documents/text_parts.h"
#include "data/input/block_pipeline.h"
#include "data/input/block_reader.h"
#include "data/input/raw_block.h"
#include "data/prepare/command/job.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

// The block of a result.
struct PassedBlock {
  const InputFile& file;
  int64_t first_line = 0;  // number of line ends or rows of the file before the block
};

// Calls `work` for each part, in any order, on `job.threads` threads. Its first argument is the
// index of the thread, its last one the result of the part's block. Calls `take` for the result of
// each block in the order of the input, on the caller's thread. Bad lines are added to `log`.
// Plain text is cut as `cuts` allows. `take_field`, if set, is called for the fields of JSON lines.
template <typename Result>
absl::Status ForEachPart(
    const Job& job, const TextCuts& cuts, BadLineLog* log,
    const std::function<void(int, const TextPart&, Result*)>& work,
    const std::function<absl::Status(const PassedBlock&, const Result&)>& take,
    const std::function<void(std::string_view, JsonType, Result*)>& take_field = nullptr) {
  struct Done {
    RawBlock block;  // without its bytes
    BlockLines lines;
    Result result;
  };
  std::vector<std::unique_ptr<BlockDecoder>> decoders;
  for (int thread = 0; thread < job.threads; ++thread) {
    decoders.push_back(std::make_unique<BlockDecoder>(job.decode_settings(cuts), &job.pods));
  }
  ReadLimits limits;
  limits.cuts = cuts;
  limits.field = job.options.field;
  BlockReader reader(job.files, limits);
  const auto next = [&](RawBlock* block) -> absl::StatusOr<bool> {
    if (job.cancelled) return absl::CancelledError("interrupted; nothing was kept");
    return reader.Next(block);
  };
  const auto process = [&](int thread, RawBlock block) -> absl::StatusOr<Done> {
    TRAINYARD_RETURN_IF_ERROR(LoadBlock(&block, limits));
    Done done;
    BlockDecoder& decoder = *decoders[static_cast<size_t>(thread)];
    if (take_field) {
      decoder.ObserveFields(
          [&](std::string_view key, JsonType type) { take_field(key, type, &done.result); });
    }
    TRAINYARD_ASSIGN_OR_RETURN(done.lines, decoder.Decode(&block, [&](const TextPart& part) {
      work(thread, part, &done.result);
    }));
    block.bytes = std::string();
    block.rows = nullptr;
    done.block = std::move(block);
    return done;
  };
  const auto finish = [&](Done done) -> absl::Status {
    const int64_t first_line = done.block.begins_file ? 0 : log->file_lines();
    TRAINYARD_RETURN_IF_ERROR(log->Add(done.block, std::move(done.lines)));
    TRAINYARD_RETURN_IF_ERROR(take({*done.block.file, first_line}, done.result));
    job.progress->Advance(done.block.range_end - done.block.range_begin);
    return absl::OkStatus();
  };
  BlockPipeline<RawBlock, Done> pipeline(job.threads);
  TRAINYARD_RETURN_IF_ERROR(pipeline.Run(next, process, finish));
  return log->Finish();
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_BLOCK_PASS_H_

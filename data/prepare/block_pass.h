// One pass over all documents of the inputs, on all threads.
#ifndef TRAINYARD_DATA_PREPARE_BLOCK_PASS_H_
#define TRAINYARD_DATA_PREPARE_BLOCK_PASS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/documents/pod_text.h"
#include "data/documents/text_parts.h"
#include "data/input/block_pipeline.h"
#include "data/input/block_reader.h"
#include "data/input/input_files.h"
#include "data/input/raw_block.h"
#include "data/prepare/prepare_options.h"
#include "data/prepare/progress.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

// Settings and input files that all passes share.
struct Job {
  const PrepareOptions& options;
  const std::vector<InputFile> files;
  const int64_t bytes;  // of the files on disk
  const int threads;
  Progress* const progress;
  const std::atomic<bool>& cancelled;
  PodTexts& pods;

  DecodeSettings decode_settings() const { return {options.field, options.utf8 == "replace"}; }
  BadLinePolicy bad_line_policy() const { return {options.bad == "stop", options.bad_fraction}; }
};

// Calls `work` for each part, in any order, on `job.threads` threads. Its first argument is the
// index of the thread, its last one the result of the part's block. Calls `take` for the result of
// each block in the order of the input, on the caller's thread. Bad lines are added to `log`.
template <typename Result>
absl::Status ForEachPart(const Job& job, BadLineLog* log,
                         const std::function<void(int, const TextPart&, Result*)>& work,
                         const std::function<absl::Status(const Result&)>& take) {
  struct Done {
    RawBlock block;  // without its bytes
    BlockLines lines;
    Result result;
  };
  std::vector<std::unique_ptr<BlockDecoder>> decoders;
  for (int thread = 0; thread < job.threads; ++thread) {
    decoders.push_back(std::make_unique<BlockDecoder>(job.decode_settings(), &job.pods));
  }
  BlockReader reader(job.files);
  const auto next = [&](RawBlock* block) -> absl::StatusOr<bool> {
    if (job.cancelled) return absl::CancelledError("interrupted; nothing was kept");
    return reader.Next(block);
  };
  const auto process = [&](int thread, RawBlock block) -> absl::StatusOr<Done> {
    TRAINYARD_RETURN_IF_ERROR(LoadBlock(&block));
    Done done;
    TRAINYARD_ASSIGN_OR_RETURN(
        done.lines, decoders[static_cast<size_t>(thread)]->Decode(
                        &block, [&](const TextPart& part) { work(thread, part, &done.result); }));
    block.bytes = std::string();
    done.block = std::move(block);
    return done;
  };
  const auto finish = [&](Done done) -> absl::Status {
    TRAINYARD_RETURN_IF_ERROR(log->Add(done.block, std::move(done.lines)));
    TRAINYARD_RETURN_IF_ERROR(take(done.result));
    job.progress->Advance(done.block.range_end - done.block.range_begin);
    return absl::OkStatus();
  };
  BlockPipeline<RawBlock, Done> pipeline(job.threads);
  TRAINYARD_RETURN_IF_ERROR(pipeline.Run(next, process, finish));
  return log->Finish();
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_BLOCK_PASS_H_

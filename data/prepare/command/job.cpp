#include "data/prepare/command/job.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Typical ratio of text to its compressed size.
constexpr int64_t kCompressionRatio = 4;

int ThreadsOf(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

absl::StatusOr<Job> Job::Create(const InputOptions& options, Progress* progress,
                                const std::atomic<bool>& cancelled, PodTexts* pods) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, FindInputFiles(options.inputs));
  Job job = Of(std::move(files), options, progress, cancelled, pods);
  progress->PrintLine("reading " + ReadableCount(static_cast<int64_t>(job.files.size())) +
                      " files, " + ReadableBytes(job.bytes));
  return job;
}

Job Job::Of(std::vector<InputFile> files, const InputOptions& options, Progress* progress,
            const std::atomic<bool>& cancelled, PodTexts* pods) {
  int64_t bytes = 0;
  for (const InputFile& file : files) bytes += file.bytes;
  return Job{options, std::move(files), bytes, ThreadsOf(options.jobs), progress, cancelled, *pods};
}

int64_t TextBytes(const std::vector<InputFile>& files) {
  int64_t bytes = 0;
  for (const InputFile& file : files) {
    bytes += file.bytes * (file.compression == Compression::kNone ? 1 : kCompressionRatio);
  }
  return bytes;
}

TextCuts CutsOf(const Tokenizer& tokenizer) {
  if (!tokenizer.needs_safe_cuts()) return {};
  return {[&tokenizer](std::string_view text, size_t begin, size_t end) {
            return tokenizer.SafeCut(text, begin, end);
          },
          Tokenizer::kCutContext};
}

}  // namespace trainyard::data

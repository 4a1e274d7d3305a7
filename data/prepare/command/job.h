// The input files of a command and how to read them.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_JOB_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/documents/pod_text.h"
#include "data/input/input_files.h"
#include "data/input/raw_block.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// The settings and input files of a command. Each pass over the input uses them.
struct Job {
  // Finds the input files. The arguments must outlive the job.
  static absl::StatusOr<Job> Create(const InputOptions& options, Progress* progress,
                                    const std::atomic<bool>& cancelled, PodTexts* pods);
  // Uses `files` instead of the inputs of `options`.
  static Job Of(std::vector<InputFile> files, const InputOptions& options, Progress* progress,
                const std::atomic<bool>& cancelled, PodTexts* pods);

  const InputOptions& options;
  const std::vector<InputFile> files;
  const int64_t bytes;  // of the files on disk
  const int threads;
  Progress* const progress;
  const std::atomic<bool>& cancelled;
  PodTexts& pods;
  size_t whole_bytes = 0;  // DecodeSettings::whole_bytes

  DecodeSettings decode_settings(const TextCuts& cuts) const {
    return {options.field, options.utf8 == "replace", cuts, whole_bytes};
  }
  BadLinePolicy bad_line_policy() const { return {options.bad == "stop", options.bad_fraction}; }
};

// Returns an estimate for compressed files.
int64_t TextBytes(const std::vector<InputFile>& files);

// Cuts that do not change the ids of a document. The tokenizer must outlive them.
TextCuts CutsOf(const Tokenizer& tokenizer);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_JOB_H_

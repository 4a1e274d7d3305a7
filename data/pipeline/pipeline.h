// A pipeline: what `trainyard data run` does, as read from a file.
#ifndef TRAINYARD_DATA_PIPELINE_PIPELINE_H_
#define TRAINYARD_DATA_PIPELINE_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "proto/contract/data_config.h"

namespace trainyard::data {

// The options of each step. The members of InputOptions, `out`, `force` and `memory_mib` are not
// used: the pipeline sets them for all steps. In TokenizeStep, `tokenizer` is empty for the
// tokenizer that the pipeline trains, and `val` is empty for Pipeline::validation.
// CountOptions::tokenizers may also be empty.
struct TokenizeStep : PrepareOptions {};
struct MixStep {
  DataConfig data;          // `blend` with absolute paths, and `blend_stages`
  int64_t tokens = 0;       // as in MixOptions
  int64_t step_tokens = 0;  // as in MixOptions
};
using StepOptions = std::variant<FilterOptions, DedupOptions, DecontaminateOptions,
                                 TrainTokenizerOptions, CountOptions, TokenizeStep, MixStep>;

// True if the output of the step is documents.
bool WritesDocuments(const StepOptions& options);

struct PipelineStep {
  std::string name;  // also the name of the directory below Pipeline::out
  StepOptions options;
  // The documents that the step reads: either those of earlier steps, as indices of
  // Pipeline::steps, or absolute paths of files and directories. Empty for MixStep.
  std::vector<size_t> sources;
  std::vector<std::string> inputs;
};

struct Pipeline {
  std::string out;                      // absolute
  InputOptions input;                   // `inputs` are absolute paths; may be empty
  std::vector<std::string> validation;  // files and directories that are not used for training
  int64_t block_bytes = int64_t{16} << 20;
  int64_t memory_mib = 4096;
  std::vector<PipelineStep> steps;
  std::string hash;  // of the text of the file
};

// README.md describes the format. Relative paths are relative to `directory`. Errors are
// InvalidArgument and begin with "display_name:line: ".
absl::StatusOr<Pipeline> ParsePipeline(std::string_view yaml, const std::string& display_name,
                                       const std::string& directory);

// Reads and parses a file of at most 1 MiB.
absl::StatusOr<Pipeline> ReadPipeline(const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_PIPELINE_H_

#include "data/prepare/splits/prepare.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/documents/pod_text.h"
#include "data/prepare/splits/provenance.h"
#include "data/prepare/splits/sample.h"
#include "data/prepare/splits/split_hash.h"
#include "data/prepare/splits/split_jobs.h"
#include "data/prepare/splits/splits.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "data/tokenizer/sentencepiece_training.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/output_directory.h"
#include "data/tokens/output_file.h"
#include "data/tokens/output_format.h"
#include "data/tokens/tokenizer_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<std::unique_ptr<Tokenizer>> TrainOnInputs(const Job& job,
                                                         const PrepareOptions& options) {
  // With --val, all text of the inputs is used for training.
  const double held_out = options.val.empty() ? options.val_fraction : 0;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> sentences,
                             SampleText(job, ThresholdOf(held_out)));
  if (sentences.empty()) return absl::DataLossError("the inputs contain no text");
  SentencePieceSettings settings;
  settings.algorithm = options.tokenizer == "unigram" ? "unigram" : "bpe";
  settings.vocab_size = options.vocab_size;
  job.progress->PrintLine("training a " + settings.algorithm + " tokenizer of " +
                          ReadableCount(settings.vocab_size) + " tokens on " +
                          ReadableCount(static_cast<int64_t>(sentences.size())) + " lines");
  std::string error;
  const std::string model = TrainSentencePiece(sentences, settings, &error);
  std::unique_ptr<Tokenizer> tokenizer;
  if (!model.empty()) tokenizer = MakeSentencePieceTokenizer(model, &error);
  if (tokenizer == nullptr) {
    return absl::InvalidArgumentError("cannot train a tokenizer on this text: " + error +
                                      "; try another --vocab-size, or --tokenizer byte");
  }
  return tokenizer;
}

absl::Status WriteBadLines(const BadLineLog& lines, const std::string& directory) {
  if (lines.bad() == 0) return absl::OkStatus();
  return WriteWholeFile(directory + "/bad.jsonl", lines.ToJsonLines());
}

// Returns InvalidArgument if the format is unknown or cannot contain a tokenizer that will be
// trained on the inputs.
absl::StatusOr<OutputFormat> FormatOf(const PrepareOptions& options) {
  const std::optional<OutputFormat> format = FindOutputFormat(options.format);
  if (!format) {
    return absl::InvalidArgumentError("--format " + options.format +
                                      " is unknown; use trainyard, megatron, nanogpt or llmc");
  }
  if (IsTrainedOnInputs(options.tokenizer)) {
    TRAINYARD_RETURN_IF_ERROR(CheckFormatOfTrained(*format, options.vocab_size));
  }
  return *format;
}

// Reads the tokenizer, unless it is trained on the inputs.
absl::StatusOr<std::unique_ptr<Tokenizer>> ReadTokenizer(const PrepareOptions& options,
                                                         OutputFormat format) {
  if (IsTrainedOnInputs(options.tokenizer)) return nullptr;
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                             ChooseTokenizer(options.tokenizer, options.tokenizer_options));
  TRAINYARD_RETURN_IF_ERROR(CheckFormat(format, *tokenizer));
  return tokenizer;
}

absl::Status WriteDescriptions(const PrepareOptions& options, OutputFormat format,
                               const Tokenizer& tokenizer, const SplitsResult& splits,
                               const std::string& directory) {
  TRAINYARD_RETURN_IF_ERROR(
      WriteDescription(directory, format, tokenizer, splits.train, splits.val));
  TRAINYARD_RETURN_IF_ERROR(
      WriteTokenizer(tokenizer, options.tokenizer_options.special_text, directory));
  return WriteBadLines(splits.lines, directory);
}

DataSummary Summarize(const PrepareOptions& options, const SplitJobs& jobs,
                      const Tokenizer& tokenizer, const SplitsResult& splits) {
  DataSummary summary;
  summary.files = static_cast<int64_t>(jobs.train.files.size());
  if (jobs.val) summary.files += static_cast<int64_t>(jobs.val->files.size());
  summary.format = options.format;
  summary.tokenizer = tokenizer.name();
  summary.vocab_size = tokenizer.vocab_size();
  summary.train = splits.train;
  summary.val = splits.val;
  summary.special_documents = splits.special_documents;
  summary.special_text = options.tokenizer_options.special_text;
  if (splits.lines.bad() > 0) summary.bad_lines = splits.lines.Summary();
  summary.repaired = splits.lines.repaired();
  return summary;
}

}  // namespace

absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const OutputFormat format, FormatOf(options));
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(options.out, options.force));
  PodTexts pods;
  // Files of a tokenizer are read before the inputs, so that a mistake in them fails at once.
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, ReadTokenizer(options, format));
  TRAINYARD_ASSIGN_OR_RETURN(const SplitJobs jobs,
                             CreateSplitJobs(options, progress, cancelled, &pods));
  if (tokenizer == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(tokenizer, TrainOnInputs(jobs.train, options));
  }
  TRAINYARD_ASSIGN_OR_RETURN(
      const SplitsResult splits,
      WriteSplits(jobs, *tokenizer, options.val_fraction, format, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteDescriptions(options, format, *tokenizer, splits, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteProvenance(options, jobs, *tokenizer, splits, output->path()));
  if (cancelled) return absl::CancelledError("interrupted; nothing was kept");
  TRAINYARD_RETURN_IF_ERROR(output->Publish());
  DataSummary summary = Summarize(options, jobs, *tokenizer, splits);
  summary.directory = output->target();
  return summary;
}

}  // namespace trainyard::data

#include "data/prepare/prepare.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/documents/pod_text.h"
#include "data/prepare/choose_tokenizer.h"
#include "data/prepare/job.h"
#include "data/prepare/sample.h"
#include "data/prepare/split_hash.h"
#include "data/prepare/splits.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "data/tokenizer/sentencepiece_training.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_directory.h"
#include "data/tokens/token_writer.h"
#include "data/tokens/tokenizer_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<std::unique_ptr<Tokenizer>> TrainOnInputs(const Job& job,
                                                         const PrepareOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> sentences,
                             SampleText(job, ThresholdOf(options.val_fraction)));
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

}  // namespace

absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(options.out, options.force));
  PodTexts pods;
  // Files of a tokenizer are read before the inputs, so that a mistake in them fails at once.
  std::unique_ptr<Tokenizer> tokenizer;
  if (!IsTrainedOnInputs(options.tokenizer)) {
    TRAINYARD_ASSIGN_OR_RETURN(tokenizer,
                               ChooseTokenizer(options.tokenizer, options.tokenizer_options));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  if (tokenizer == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(tokenizer, TrainOnInputs(job, options));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const SplitsResult splits,
                             WriteSplits(job, *tokenizer, options.val_fraction, output->path()));
  TRAINYARD_RETURN_IF_ERROR(
      WriteTokenizer(*tokenizer, options.tokenizer_options.special_text, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteBadLines(splits.lines, output->path()));
  DataSummary summary;
  summary.directory = output->target();
  summary.files = static_cast<int64_t>(job.files.size());
  summary.tokenizer = tokenizer->name();
  summary.vocab_size = tokenizer->vocab_size();
  summary.train = splits.train;
  summary.val = splits.val;
  summary.special_documents = splits.special_documents;
  summary.special_text = options.tokenizer_options.special_text;
  if (splits.lines.bad() > 0) summary.bad_lines = splits.lines.Summary();
  summary.repaired = splits.lines.repaired();
  if (cancelled) return absl::CancelledError("interrupted; nothing was kept");
  TRAINYARD_RETURN_IF_ERROR(output->Publish());
  return summary;
}

}  // namespace trainyard::data

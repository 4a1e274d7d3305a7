#include "data/prepare/prepare.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "data/input/input_files.h"
#include "data/prepare/block_pass.h"
#include "data/prepare/sample.h"
#include "data/prepare/split_hash.h"
#include "data/prepare/splits.h"
#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "data/tokenizer/sentencepiece_training.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_directory.h"
#include "data/tokens/token_writer.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(const Job& job, uint64_t val_threshold) {
  if (job.options.tokenizer == "byte") return MakeByteTokenizer();
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> sentences,
                             SampleText(job, val_threshold));
  if (sentences.empty()) return absl::DataLossError("the inputs contain no text");
  SentencePieceSettings settings;
  settings.algorithm = job.options.tokenizer == "unigram" ? "unigram" : "bpe";
  settings.vocab_size = job.options.vocab_size;
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

absl::Status WriteTokenizer(const Tokenizer& tokenizer, const std::string& directory) {
  nlohmann::ordered_json description = {{"kind", tokenizer.kind()},
                                        {"vocab_size", tokenizer.vocab_size()}};
  if (!tokenizer.model().empty()) {
    description["model"] = "tokenizer.model";
    TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(directory + "/tokenizer.model", tokenizer.model()));
  }
  return WriteWholeFile(directory + "/tokenizer.json", description.dump(2) + "\n");
}

absl::Status WriteBadLines(const BadLineLog& lines, const std::string& directory) {
  if (lines.bad() == 0) return absl::OkStatus();
  return WriteWholeFile(directory + "/bad.jsonl", lines.ToJsonLines());
}

int ThreadsOf(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(options.out, options.force));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, FindInputFiles(options.inputs));
  int64_t bytes = 0;
  for (const InputFile& file : files) bytes += file.bytes;
  PodTexts pods;
  const Job job = {options,  std::move(files), bytes, ThreadsOf(options.jobs),
                   progress, cancelled,        pods};
  progress->PrintLine("reading " + ReadableCount(static_cast<int64_t>(job.files.size())) +
                      " files, " + ReadableBytes(bytes));

  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                             MakeTokenizer(job, ThresholdOf(options.val_fraction)));
  TRAINYARD_ASSIGN_OR_RETURN(const SplitsResult splits,
                             WriteSplits(job, *tokenizer, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteTokenizer(*tokenizer, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteBadLines(splits.lines, output->path()));
  DataSummary summary;
  summary.directory = output->target();
  summary.files = static_cast<int64_t>(job.files.size());
  summary.tokenizer = tokenizer->kind();
  summary.vocab_size = tokenizer->vocab_size();
  summary.train = splits.train;
  summary.val = splits.val;
  if (splits.lines.bad() > 0) summary.bad_lines = splits.lines.Summary();
  summary.repaired = splits.lines.repaired();
  if (cancelled) return absl::CancelledError("interrupted; nothing was kept");
  TRAINYARD_RETURN_IF_ERROR(output->Publish());
  return summary;
}

}  // namespace trainyard::data

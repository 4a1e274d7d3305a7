#include "data/prepare/tokenizers/train_tokenizer.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/bpe_training/bpe_trainer.h"
#include "data/bpe_training/tokenizer_json.h"
#include "data/bpe_training/word_counter.h"
#include "data/documents/bad_lines.h"
#include "data/prepare/command/block_pass.h"
#include "data/prepare/command/job.h"
#include "data/tokenizer/families.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Longer words, which are runs of letters or other characters, slow down the training.
constexpr int64_t kLongWordBytes = 100'000;

std::vector<std::string> SpecialTokens(const std::string& list) {
  std::vector<std::string> tokens;
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    tokens.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) tokens.emplace_back();  // refused as an empty token
  }
  return tokens;
}

std::string AllBytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

absl::Status CheckTarget(const TrainTokenizerOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(options.out, error);
  if (!fs::exists(status)) return absl::OkStatus();
  if (!fs::is_regular_file(status)) {
    return absl::AlreadyExistsError(options.out +
                                    " exists and is not a file; choose another --out");
  }
  if (options.force) return absl::OkStatus();
  return absl::AlreadyExistsError(options.out +
                                  " exists; replace it with --force, or choose another --out");
}

absl::StatusOr<BpeTrainer> MakeTrainer(const TrainTokenizerOptions& options,
                                       uint64_t memory_bytes) {
  TrainingOptions training;
  training.vocabulary_size = static_cast<uint32_t>(options.vocab_size);
  training.min_frequency = static_cast<uint64_t>(options.min_frequency);
  training.special_tokens = SpecialTokens(options.special);
  training.initial_bytes = AllBytes();
  training.memory_bytes = memory_bytes;
  const size_t first_tokens = training.special_tokens.size() + training.initial_bytes.size();
  if (training.vocabulary_size < first_tokens) {
    return absl::InvalidArgumentError("--vocab-size is less than the " +
                                      std::to_string(first_tokens) +
                                      " bytes and special tokens; increase it");
  }
  return BpeTrainer::Create(std::move(training));
}

// Lines with their line end are trained separately, so text may be cut only there. Documents must
// not be cut.
TextCuts CutsOf(TrainingUnit unit) {
  if (unit == TrainingUnit::kDocument) {
    return {[](std::string_view, size_t, size_t) { return std::string_view::npos; }, 1};
  }
  return {[](std::string_view text, size_t begin, size_t end) {
            const size_t line_end = text.find('\n', begin > 0 ? begin - 1 : 0);
            const bool is_found = line_end != std::string_view::npos && line_end + 1 < end;
            return is_found ? line_end + 1 : std::string_view::npos;
          },
          1};
}

absl::Status CountWords(const Job& job, TrainingUnit unit, WordCounter* counter, BadLineLog* log) {
  job.progress->Start("counting words", job.bytes);
  TRAINYARD_RETURN_IF_ERROR(ForEachPart<absl::Status>(
      job, CutsOf(unit), log,
      [&](int thread, const TextPart& part, absl::Status* status) {
        if (status->ok()) *status = counter->Add(static_cast<size_t>(thread), part.text);
      },
      [](const PassedBlock&, const absl::Status& status) { return status; }));
  job.progress->Stop();
  return absl::OkStatus();
}

// A quarter of the memory is for counting words, the rest for merging. Words that exceed their
// quarter are stored in files beside the result.
absl::StatusOr<std::unique_ptr<WordCounter>> MakeCounter(const TrainTokenizerOptions& options,
                                                         int threads, uint64_t memory_bytes) {
  WordCounterOptions words;
  words.unit = options.unit == "document" ? TrainingUnit::kDocument : TrainingUnit::kLine;
  words.threads = static_cast<size_t>(threads);
  words.memory_bytes = memory_bytes;
  const fs::path directory = fs::path(options.out).parent_path();
  words.scratch = directory.empty() ? "." : directory.string();
  return WordCounter::Create(std::move(words));
}

}  // namespace

absl::StatusOr<TrainedSummary> TrainTokenizer(const TrainTokenizerOptions& options,
                                              Progress* progress,
                                              const std::atomic<bool>& cancelled) {
  TRAINYARD_RETURN_IF_ERROR(CheckTarget(options));
  const uint64_t memory_bytes = static_cast<uint64_t>(options.memory_mib) << 20;
  TRAINYARD_ASSIGN_OR_RETURN(BpeTrainer trainer,
                             MakeTrainer(options, memory_bytes - memory_bytes / 4));
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<WordCounter> counter,
                             MakeCounter(options, job.threads, memory_bytes / 4));
  const double started = progress->Seconds();
  BadLineLog log(job.bad_line_policy());
  const TrainingUnit unit =
      options.unit == "document" ? TrainingUnit::kDocument : TrainingUnit::kLine;
  TRAINYARD_RETURN_IF_ERROR(CountWords(job, unit, counter.get(), &log));

  TrainedSummary summary;
  TRAINYARD_RETURN_IF_ERROR(counter->Finish([&](std::string_view word, uint64_t count) {
    ++summary.words;
    return trainer.Add(word, count);
  }));
  if (summary.words == 0) return absl::DataLossError("the inputs contain no text");
  summary.longest_word = static_cast<int64_t>(counter->longest_word());
  counter.reset();
  if (summary.longest_word > kLongWordBytes) {
    progress->PrintLine("the longest word has " + ReadableBytes(summary.longest_word) +
                        "; such words make the training slow");
  }
  progress->PrintLine("merging the pairs of " + ReadableCount(summary.words) + " distinct words");
  TRAINYARD_ASSIGN_OR_RETURN(const TrainedBpe trained, trainer.Train());
  if (cancelled) return absl::CancelledError("interrupted; nothing was kept");
  // Check again, because the training may have taken hours.
  TRAINYARD_RETURN_IF_ERROR(CheckTarget(options));
  TRAINYARD_RETURN_IF_ERROR(WriteTokenizerJson(trained, options.out));
  summary.path = options.out;
  summary.has_end_token = HasKnownEndToken(SpecialTokens(options.special));
  summary.tokens = static_cast<int64_t>(trained.tokens.size());
  summary.merges = static_cast<int64_t>(trained.merges.size());
  if (log.bad() > 0) summary.bad_lines = log.Summary();
  summary.seconds = progress->Seconds() - started;
  return summary;
}

std::string TrainedText(const TrainedSummary& summary) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f", summary.seconds);
  std::string text = "tokenizer    " + summary.path + "\n" +                          //
                     "vocabulary   " + ReadableCount(summary.tokens) + " tokens, " +  //
                     ReadableCount(summary.merges) + " merges\n" +                    //
                     "text         " + ReadableCount(summary.words) +                 //
                     " distinct words, the longest " + ReadableBytes(summary.longest_word) + "\n";
  if (!summary.bad_lines.empty()) text += "bad lines    " + summary.bad_lines + "\n";
  return text + "seconds      " + seconds + "\n" +  //
         "next         trainyard data prepare FILES --tokenizer " + summary.path + " --out DIR" +
         (summary.has_end_token ? "\n" : " --end-of-document TOKEN\n");
}

}  // namespace trainyard::data

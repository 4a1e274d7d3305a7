#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "data/bpe_training/bpe_trainer.h"
#include "data/bpe_training/tokenizer_json.h"
#include "data/bpe_training/word_counter.h"
#include "data/pipeline/passes.h"
#include "data/pipeline/run_steps.h"
#include "data/pipeline/solo_work.h"
#include "data/stages/binary_part.h"
#include "data/stages/run_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the tokenizer changes for the same words and settings.
constexpr int kTrainVersion = 1;

// The trained tokenizer. Its plan has no blocks.
class TrainResult : public StepPass {
 public:
  using StepPass::StepPass;
  absl::StatusOr<BlockRecord> Work(const BlockLease&, const PartNames&,
                                   const Advance&) const override {
    return absl::InternalError("the training has no blocks");
  }
  std::string Report(const RunTotals&) const override { return "{}\n"; }
};

absl::StatusOr<BpeTrainer> MakeTrainer(const TrainTokenizerOptions& options,
                                       uint64_t memory_bytes) {
  TrainingOptions training;
  training.vocabulary_size = static_cast<uint32_t>(options.vocab_size);
  training.min_frequency = static_cast<uint64_t>(options.min_frequency);
  training.special_tokens = absl::StrSplit(options.special, ',');
  for (int byte = 0; byte < 256; ++byte) training.initial_bytes += static_cast<char>(byte);
  training.memory_bytes = memory_bytes;
  const size_t first_tokens = training.special_tokens.size() + training.initial_bytes.size();
  if (training.vocabulary_size < first_tokens) {
    return absl::InvalidArgumentError("vocab_size is less than the " +
                                      std::to_string(first_tokens) +
                                      " bytes and special tokens; increase it");
  }
  return BpeTrainer::Create(std::move(training));
}

absl::Status AddWords(const RunContext& context, const StepPass& words, SoloWork* work,
                      WordCounter* counter) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<BlockRecord> records, RecordsOf(words));
  work->Start("adding up words", BytesOfParts(records));
  std::string word;
  for (const BlockRecord& record : records) {
    for (const PartFile& part : record.parts) {
      if (context.cancelled) {
        return absl::CancelledError("interrupted; repeat the command to continue");
      }
      TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartReader> reader,
                                 BinaryPartReader::Open(words.out(), part));
      while (!reader->AtEnd()) {
        uint64_t count = 0;
        uint32_t size = 0;
        TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&count));
        TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&size));
        TRAINYARD_RETURN_IF_ERROR(reader->Read(size, &word));
        TRAINYARD_RETURN_IF_ERROR(counter->AddWord(0, word, count));
      }
      work->Advance(part.bytes);
    }
  }
  return absl::OkStatus();
}

// A quarter of the memory is for adding up words, the rest for merging, as in TrainTokenizer.
absl::Status Train(const RunContext& context, const PipelineStep& step, const StepPass& words,
                   const std::string& out) {
  const auto& options = std::get<TrainTokenizerOptions>(step.options);
  SoloWork work(context, step, Phase::kMerge);
  const auto memory_bytes = static_cast<uint64_t>(context.pipeline.memory_mib) << 20;
  TRAINYARD_ASSIGN_OR_RETURN(BpeTrainer trainer,
                             MakeTrainer(options, memory_bytes - memory_bytes / 4));
  WordCounterOptions counting;
  counting.memory_bytes = memory_bytes / 4;
  counting.scratch = words.out();
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<WordCounter> counter,
                             WordCounter::Create(std::move(counting)));
  TRAINYARD_RETURN_IF_ERROR(AddWords(context, words, &work, counter.get()));
  int64_t distinct = 0;
  TRAINYARD_RETURN_IF_ERROR(counter->Finish([&](std::string_view word, uint64_t count) {
    ++distinct;
    return trainer.Add(word, count);
  }));
  counter.reset();
  work.Start("merging pairs", 0);
  if (distinct == 0) return absl::DataLossError("the documents contain no text");
  context.progress->PrintLine("merging the pairs of " + ReadableCount(distinct) +
                              " distinct words");
  TRAINYARD_ASSIGN_OR_RETURN(const TrainedBpe trained, trainer.Train());
  return WriteTokenizerJson(trained, out);
}

}  // namespace

absl::StatusOr<std::string> RunTrainStep(PassRunner* runner, const PipelineStep& step) {
  const RunContext& context = runner->context();
  const auto& options = std::get<TrainTokenizerOptions>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> words,
                             MakeWordPass(context.pipeline, step));
  nlohmann::ordered_json settings = {{"version", kTrainVersion},
                                     {"words", words->plan().Hash()},
                                     {"vocab_size", options.vocab_size},
                                     {"min_frequency", options.min_frequency},
                                     {"special", options.special}};
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan, Plan::Make({}, {{"train_tokenizer", settings}}));
  const TrainResult result(DirectoryOf(context.pipeline, step), std::move(plan));
  const std::string path = TrainedTokenizer(context.pipeline);
  TRAINYARD_ASSIGN_OR_RETURN(const bool complete, IsComplete(result));
  std::error_code error;
  if (!complete || !std::filesystem::exists(path, error)) {
    // The report of an earlier training must not remain beside a new tokenizer.
    const std::string changes = ChangesOfRun(result.out(), result.plan());
    if (!changes.empty()) PrintRestart(step.name, changes, context.progress);
    std::vector<BlockRecord> none;
    TRAINYARD_ASSIGN_OR_RETURN(
        const std::unique_ptr<RunDirectory> directory,
        RunDirectory::Open(result.out(), result.plan(), !changes.empty(), &none));
    TRAINYARD_RETURN_IF_ERROR(runner->Run(step, kWordPass, *words).status());
    TRAINYARD_RETURN_IF_ERROR(Train(context, step, *words, path));
    TRAINYARD_RETURN_IF_ERROR(directory->Complete(settings.dump(2) + "\n", ""));
  }
  RemoveWork(context.pipeline, step, kWordPass);
  return SummaryLine(step, path);
}

}  // namespace trainyard::data

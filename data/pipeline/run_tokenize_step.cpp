#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "data/documents/pod_text.h"
#include "data/pipeline/document_places.h"
#include "data/pipeline/encoded_parts.h"
#include "data/pipeline/passes.h"
#include "data/pipeline/run_steps.h"
#include "data/pipeline/solo_work.h"
#include "data/pipeline/token_sources.h"
#include "data/prepare/command/job.h"
#include "data/prepare/splits/provenance.h"
#include "data/prepare/splits/split_hash.h"
#include "data/prepare/splits/split_jobs.h"
#include "data/prepare/splits/split_writers.h"
#include "data/prepare/splits/splits.h"
#include "data/tokenizer/fingerprint.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/output_directory.h"
#include "data/tokens/output_file.h"
#include "data/tokens/output_format.h"
#include "data/tokens/tokenizer_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Increase it if the token files change for the same parts and settings.
constexpr int kAssembleVersion = 2;

// The plan of the data set, beside its token files.
constexpr char kDatasetPlan[] = "pipeline.json";

// Numbers of each id in a split.
class IdCounts {
 public:
  explicit IdCounts(int64_t vocab_size)
      : bytes_per_token_(static_cast<size_t>(BytesPerToken(vocab_size))),
        counts_(static_cast<size_t>(vocab_size), 0) {}

  void Add(std::string_view packed) {
    for (size_t at = 0; at < packed.size(); at += bytes_per_token_) {
      uint32_t id = 0;  // little-endian, as TokenPacker requires
      std::memcpy(&id, packed.data() + at, bytes_per_token_);
      ++counts_[id];
    }
  }
  const std::vector<int64_t>& counts() const { return counts_; }

 private:
  const size_t bytes_per_token_;
  std::vector<int64_t> counts_;
};

// Writes the token files from the parts of all blocks.
class Assembler {
 public:
  Assembler(const RunContext& context, SoloWork* work, const Tokenizer& tokenizer,
            OutputFormat format, std::string directory)
      : context_(context),
        work_(*work),
        tokenizer_(tokenizer),
        format_(format),
        directory_(std::move(directory)) {}

  // `val`: null if a fraction of the documents is for validation.
  absl::Status Run(const StepPass& train, const StepPass* val, double val_fraction,
                   SplitsResult* result) {
    TRAINYARD_ASSIGN_OR_RETURN(writers_, SplitWriters::Create(directory_, tokenizer_, format_));
    const double fraction = val == nullptr ? val_fraction : 0;
    TRAINYARD_RETURN_IF_ERROR(AppendTraining(train, ThresholdOf(fraction)));
    if (writers_->NeedsOtherThreshold(fraction)) {
      TRAINYARD_ASSIGN_OR_RETURN(const uint64_t threshold, writers_->OtherThreshold(fraction));
      TRAINYARD_ASSIGN_OR_RETURN(writers_, SplitWriters::Restart(directory_, tokenizer_, format_));
      TRAINYARD_RETURN_IF_ERROR(AppendTraining(train, threshold));
    }
    if (val != nullptr) TRAINYARD_RETURN_IF_ERROR(AppendAll(*val, std::nullopt, nullptr));
    result->special_documents = writers_->special_documents();
    result->sources = sources_.Take();
    return writers_->Finish(&result->train, &result->val);
  }

 private:
  absl::Status AppendTraining(const StepPass& pass, uint64_t threshold) {
    sources_ = TokenSources(BytesPerToken(tokenizer_.vocab_size()));
    return AppendAll(pass, threshold, &sources_);
  }

  // Without a threshold, all documents are for validation. `sources` may be null.
  absl::Status AppendAll(const StepPass& pass, std::optional<uint64_t> threshold,
                         TokenSources* sources) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<BlockRecord> records, RecordsOf(pass));
    work_.Start("writing the token files", BytesOfParts(records));
    IdCounts train(tokenizer_.vocab_size());
    IdCounts val(tokenizer_.vocab_size());
    DocumentPlaces places(pass.plan());
    for (const BlockRecord& record : records) {
      if (context_.cancelled) {
        return absl::CancelledError("interrupted; repeat the command to continue");
      }
      if (sources != nullptr) sources->BeginBlock(pass.plan(), record);
      places.BeginBlock(record);
      TRAINYARD_RETURN_IF_ERROR(
          ReadEncoded(pass.out(), record.parts, [&](EncodedPart document, std::string_view packed) {
            if (sources != nullptr) sources->Add(document);
            document.validates = !threshold || document.hash < *threshold;
            (document.validates ? val : train).Add(packed);
            return writers_->Append(document, places.Next(document), packed);
          }));
      work_.Advance(BytesOfParts({record}));
    }
    writers_->AddCounts(train.counts(), val.counts());
    return absl::OkStatus();
  }

  const RunContext& context_;
  SoloWork& work_;
  const Tokenizer& tokenizer_;
  const OutputFormat format_;
  const std::string directory_;
  std::optional<SplitWriters> writers_;
  TokenSources sources_;
};

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::StatusOr<std::string> DatasetPlan(const TokenizeStep& options, const StepPass& train,
                                        const StepPass* val) {
  const nlohmann::ordered_json settings = {
      {"version", kAssembleVersion},
      {"documents", train.plan().Hash()},
      {"validation", val == nullptr ? "" : val->plan().Hash()},
      {"val_fraction", val == nullptr ? options.val_fraction : 0},
      {"format", options.format},
      {"end_of_document", options.tokenizer_options.end_of_document}};
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan, Plan::Make({}, {{"tokenize", settings}}));
  return plan.ToJson();
}

struct TokenizePasses {
  std::unique_ptr<StepPass> train;
  std::unique_ptr<StepPass> val;  // null without files for validation
};

// Writes the files beside the token files, as `data prepare` does.
absl::Status WriteDescriptions(const RunContext& context, const PipelineStep& step,
                               const Tokenizer& tokenizer, const SplitsResult& splits,
                               const std::string& directory) {
  const Pipeline& pipeline = context.pipeline;
  PrepareOptions options = std::get<TokenizeStep>(step.options);
  static_cast<InputOptions&>(options) = pipeline.input;
  options.val = ValidationOf(pipeline, std::get<TokenizeStep>(step.options));
  if (options.tokenizer.empty()) options.tokenizer = TrainedTokenizer(pipeline);
  PodTexts pods;
  const auto job_of = [&](std::vector<InputFile> files) {
    return Job::Of(std::move(files), options, context.progress, context.cancelled, &pods);
  };
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, DocumentsOf(pipeline, step));
  SplitJobs jobs = {job_of(std::move(files)), std::nullopt};
  if (!options.val.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> val, FindInputFiles(options.val));
    jobs.val.emplace(job_of(std::move(val)));
  }
  TRAINYARD_RETURN_IF_ERROR(WriteDescription(directory, *FindOutputFormat(options.format),
                                             tokenizer, splits.train, splits.val));
  TRAINYARD_RETURN_IF_ERROR(
      WriteTokenizer(tokenizer, options.tokenizer_options.special_text, directory));
  if (splits.lines.bad() > 0) {
    TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(directory + "/bad.jsonl", splits.lines.ToJsonLines()));
  }
  return WriteProvenance(options, jobs, tokenizer, splits, directory);
}

absl::Status WriteDataset(PassRunner* runner, const PipelineStep& step,
                          const TokenizePasses& passes, const std::string& plan, bool replace,
                          std::string* summary) {
  const RunContext& context = runner->context();
  const auto& options = std::get<TokenizeStep>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                             TokenizerOf(context.pipeline, options));
  const OutputFormat format = *FindOutputFormat(options.format);
  TRAINYARD_RETURN_IF_ERROR(CheckFormat(format, *tokenizer));
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals, runner->Run(step, kTrainPass, *passes.train));
  if (passes.val != nullptr) {
    TRAINYARD_RETURN_IF_ERROR(runner->Run(step, kValidationPass, *passes.val).status());
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(DirectoryOf(context.pipeline, step), replace));
  SoloWork work(context, step, Phase::kAssemble);
  Assembler assembler(context, &work, *tokenizer, format, output->path());
  SplitsResult splits = {{}, {}, totals.bad_lines()};
  TRAINYARD_RETURN_IF_ERROR(
      assembler.Run(*passes.train, passes.val.get(), options.val_fraction, &splits));
  TRAINYARD_RETURN_IF_ERROR(WriteDescriptions(context, step, *tokenizer, splits, output->path()));
  TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(output->path() + "/" + kDatasetPlan, plan));
  TRAINYARD_RETURN_IF_ERROR(output->Publish());
  *summary = ReadableCount(splits.train.tokens) + " tokens for training, " +
             ReadableCount(splits.val.tokens) + " for validation, ";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RunTokenizeStep(PassRunner* runner, const PipelineStep& step) {
  const RunContext& context = runner->context();
  const Pipeline& pipeline = context.pipeline;
  const auto& options = std::get<TokenizeStep>(step.options);
  TokenizePasses passes;
  TRAINYARD_ASSIGN_OR_RETURN(passes.train, MakeTokenPass(pipeline, step, false));
  if (!ValidationOf(pipeline, options).empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(passes.val, MakeTokenPass(pipeline, step, true));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::string plan,
                             DatasetPlan(options, *passes.train, passes.val.get()));
  const std::string before = ReadText(DirectoryOf(pipeline, step) + "/" + kDatasetPlan);
  std::string summary;
  if (before != plan) {
    if (!before.empty()) PrintRestart(step.name, PlanChanges(before, plan), context.progress);
    TRAINYARD_RETURN_IF_ERROR(WriteDataset(runner, step, passes, plan, !before.empty(), &summary));
  }
  RemoveWork(pipeline, step, kTrainPass);
  RemoveWork(pipeline, step, kValidationPass);
  return SummaryLine(step, summary + DirectoryOf(pipeline, step));
}

}  // namespace trainyard::data

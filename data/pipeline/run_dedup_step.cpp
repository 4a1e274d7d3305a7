#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "data/dedup/dedup_run.h"
#include "data/dedup/scratch_directory.h"
#include "data/pipeline/decisions.h"
#include "data/pipeline/passes.h"
#include "data/pipeline/run_steps.h"
#include "data/pipeline/solo_work.h"
#include "data/stages/binary_part.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Computes the signatures of a pass, and adds its parts to `inputs`.
absl::Status SignAll(PassRunner* runner, const PipelineStep& step, const std::string& pass,
                     const StepPass& made, DedupInputs* inputs) {
  TRAINYARD_RETURN_IF_ERROR(runner->Run(step, pass, made).status());
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<BlockRecord> records, RecordsOf(made));
  inputs->plans.push_back(&made.plan());
  for (BlockRecord& record : records) {
    if (record.parts.size() != 1) return absl::DataLossError(made.out() + " is damaged; delete it");
    inputs->signed_blocks.push_back(
        {made.out(), std::move(record.parts.front()), std::move(record.lines)});
  }
  return absl::OkStatus();
}

absl::Status AddShingles(const StepPass& made, const DocumentNumbers& numbers, size_t first_block,
                         ShingleStore* store) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<BlockRecord> records, RecordsOf(made));
  std::string bytes;
  for (const BlockRecord& record : records) {
    for (const PartFile& part : record.parts) {
      TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartReader> reader,
                                 BinaryPartReader::Open(made.out(), part));
      while (!reader->AtEnd()) {
        uint64_t index = 0;
        uint64_t count = 0;
        TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&index));
        TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&count));
        TRAINYARD_RETURN_IF_ERROR(reader->Read(count * sizeof(uint32_t), &bytes));
        std::vector<uint32_t> shingles(count);
        std::memcpy(shingles.data(), bytes.data(), bytes.size());
        TRAINYARD_RETURN_IF_ERROR(
            store->Add(numbers.FirstOf(first_block + record.block) + index, shingles));
      }
    }
  }
  return absl::OkStatus();
}

// Computes the shingles of `wanted` documents with the help of all ranks.
absl::Status CollectShingles(PassRunner* runner, const PipelineStep& step,
                             const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                             ShingleStore* store) {
  const Pipeline& pipeline = runner->context().pipeline;
  std::vector<std::string> passes = {kShinglePass};
  if (!std::get<DedupOptions>(step.options).against.empty()) {
    passes = {kReferenceShinglePass, kShinglePass};
  }
  size_t first_block = 0;
  for (const std::string& pass : passes) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> made,
                               MakeDedupPass(pipeline, step, pass));
    const size_t blocks = made->plan().blocks().size();
    TRAINYARD_RETURN_IF_ERROR(WriteWanted(numbers, wanted, first_block, blocks,
                                          WorkDirectoryOf(pipeline, step, kWanted + pass)));
    TRAINYARD_RETURN_IF_ERROR(runner->Run(step, pass, *made).status());
    TRAINYARD_RETURN_IF_ERROR(AddShingles(*made, numbers, first_block, store));
    first_block += blocks;
  }
  return absl::OkStatus();
}

// Decides which documents are dropped, and writes the decisions for all ranks.
absl::Status Decide(PassRunner* runner, const PipelineStep& step, DedupInputs inputs) {
  const RunContext& context = runner->context();
  const auto& options = std::get<DedupOptions>(step.options);
  TRAINYARD_ASSIGN_OR_RETURN(const DedupSettings settings,
                             PresetSettings(options.preset, options.threshold, options.keep));
  SoloWork work(context, step, Phase::kDecide);
  std::mutex mutex;
  inputs.advance = [&](int64_t bytes) -> absl::Status {
    if (context.cancelled) {
      return absl::CancelledError("interrupted; repeat the command to continue");
    }
    const std::lock_guard<std::mutex> lock(mutex);
    work.Advance(bytes);
    return absl::OkStatus();
  };
  inputs.collect_shingles = [&](const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                                ShingleStore* store) {
    return CollectShingles(runner, step, numbers, wanted, store);
  };
  const auto start = [&](const std::string& name, int64_t bytes) { work.Start(name, bytes); };
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::unique_ptr<ScratchDirectory> scratch,
      ScratchDirectory::Create(WorkDirectoryOf(context.pipeline, step, "scratch-")));
  const size_t blocks = inputs.plans.back()->blocks().size();
  Decider decider(settings, context.pipeline.memory_mib << 20, start, std::move(inputs),
                  scratch->path());
  TRAINYARD_RETURN_IF_ERROR(decider.Run());
  return WriteDecisions(decider, blocks, WorkDirectoryOf(context.pipeline, step, kDecisions));
}

}  // namespace

absl::StatusOr<std::string> RunDedupStep(PassRunner* runner, const PipelineStep& step) {
  const RunContext& context = runner->context();
  const Pipeline& pipeline = context.pipeline;
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> drop,
                             MakeDedupPass(pipeline, step, kDropPass));
  TRAINYARD_ASSIGN_OR_RETURN(const bool complete, IsComplete(*drop));
  if (!complete) {
    DedupInputs inputs;
    inputs.decode = DecodeOf(pipeline);
    inputs.bad_lines = runner->SettingsOf(*drop).bad_lines;
    inputs.threads = context.threads;
    std::unique_ptr<StepPass> references;
    if (!std::get<DedupOptions>(step.options).against.empty()) {
      TRAINYARD_ASSIGN_OR_RETURN(references, MakeDedupPass(pipeline, step, kReferencePass));
      TRAINYARD_RETURN_IF_ERROR(SignAll(runner, step, kReferencePass, *references, &inputs));
    }
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> documents,
                               MakeDedupPass(pipeline, step, kSignaturePass));
    TRAINYARD_RETURN_IF_ERROR(SignAll(runner, step, kSignaturePass, *documents, &inputs));
    TRAINYARD_RETURN_IF_ERROR(Decide(runner, step, std::move(inputs)));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals, runner->Run(step, kDropPass, *drop));
  for (const std::string pass :
       {kReferencePass, kSignaturePass, kShinglePass, kReferenceShinglePass, kDecisions}) {
    RemoveWork(pipeline, step, pass);
    RemoveWork(pipeline, step, kWanted + pass);
  }
  return SummaryLine(step, totals);
}

}  // namespace trainyard::data

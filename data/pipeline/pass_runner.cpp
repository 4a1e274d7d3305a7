#include "data/pipeline/pass_runner.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "data/pipeline/slow_blocks.h"
#include "data/stages/run_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Offers a pass to the other ranks, and reports progress.
class OfferedPass : public PassHelpers {
 public:
  OfferedPass(const RunContext& context, const PipelineStep& step, const std::string& pass,
              const StepPass& made)
      : context_(context),
        step_(step),
        name_(step.name + ":" + pass),
        plan_(made.plan()),
        slow_blocks_(plan_) {}

  void Offer(BlockQueue* queue) override {
    queue_ = queue;
    before_ = context_.telemetry->phase();
    context_.telemetry->EnterPhase(Phase::kBlocks);
    if (context_.server != nullptr) context_.server->Open(name_, plan_.Hash(), queue);
  }
  void Withdraw() override {
    if (context_.server != nullptr) context_.server->Close();
    Report();
    context_.telemetry->EnterPhase(before_);
    queue_ = nullptr;
  }

  RunObserver Observer() {
    return {
        [this](size_t blocks, size_t recorded, int64_t bytes) { Start(blocks, recorded, bytes); },
        [this](int64_t bytes) { Advance(bytes); }};
  }

 private:
  void Start(size_t blocks, size_t recorded, int64_t bytes) {
    const std::string place = "step " + std::to_string(IndexOf(context_.pipeline, step_) + 1) +
                              " of " + std::to_string(context_.pipeline.steps.size()) + ", " +
                              name_;
    if (recorded > 0 && recorded < blocks) {
      context_.progress->PrintLine(
          place + ": continuing, " + ReadableCount(static_cast<int64_t>(recorded)) + " of " +
          ReadableCount(static_cast<int64_t>(blocks)) + " blocks are finished");
    }
    context_.progress->Start(place, bytes);
    progress_.step = IndexOf(context_.pipeline, step_) + 1;
    progress_.steps = context_.pipeline.steps.size();
    progress_.total_bytes = bytes;
    started_ = context_.progress->Seconds();
  }

  void Advance(int64_t bytes) {
    progress_.bytes += bytes;
    context_.progress->Advance(bytes);
    if (context_.telemetry->Advance(bytes)) Report();
  }

  void Report() {
    const DocumentCounts counts = queue_->Counts();
    progress_.seconds = context_.progress->Seconds() - started_;
    const auto tokens = counts.sums.find(kTokenSum);
    progress_.documents = {counts.documents_in, counts.documents_in - counts.documents_out,
                           tokens == counts.sums.end() ? 0 : tokens->second};
    progress_.slowest = Slowest();
    context_.telemetry->WriteMetrics(progress_);
  }

  std::optional<RunningBlock> Slowest() {
    const std::optional<BlockQueue::Running> running = queue_->LongestRunning();
    if (!running) return std::nullopt;
    const int rank = context_.server == nullptr ? 0 : context_.server->RankOf(running->holder);
    const RunningBlock slow = {running->block + 1, running->seconds, rank};
    const std::string line = slow_blocks_.LineOf(slow);
    if (!line.empty()) context_.progress->PrintLine(name_ + ": " + line);
    return slow;
  }

  const RunContext& context_;
  const PipelineStep& step_;
  const std::string name_;
  const Plan& plan_;
  SlowBlocks slow_blocks_;
  BlockQueue* queue_ = nullptr;
  Phase before_ = Phase::kLoad;
  PassProgress progress_;
  double started_ = 0;
};

}  // namespace

RunSettings PassRunner::SettingsOf(const StepPass& made) const {
  RunSettings settings;
  settings.out = made.out();
  settings.threads = context_.threads;
  settings.memory_bytes = ThreadMemoryOf(context_.pipeline, made);
  settings.decode = DecodeOf(context_.pipeline);
  settings.bad_lines = BadLinesOf(context_.pipeline);
  return settings;
}

absl::StatusOr<RunTotals> PassRunner::Run(const PipelineStep& step, const std::string& pass,
                                          const StepPass& made) {
  RunSettings settings = SettingsOf(made);
  const std::string changes = ChangesOfRun(made.out(), made.plan());
  settings.replace = !changes.empty();
  if (settings.replace) PrintRestart(step.name, changes, context_.progress);
  const BlockPass block_pass = {
      made.plan(),
      [&made](const BlockLease& lease, const PartNames& names, const Advance& advance) {
        return made.Work(lease, names, advance);
      },
      [&made](const RunTotals& totals) { return made.Report(totals); }};
  OfferedPass offered(context_, step, pass, made);
  absl::StatusOr<RunTotals> totals =
      RunPass(block_pass, settings, offered.Observer(), context_.cancelled, &offered);
  context_.progress->Stop();
  return totals;
}

absl::StatusOr<bool> IsComplete(const StepPass& made) {
  std::error_code error;
  if (!std::filesystem::exists(made.out() + "/report.json", error)) return false;
  if (!ChangesOfRun(made.out(), made.plan()).empty()) return false;
  std::vector<BlockRecord> records;
  TRAINYARD_RETURN_IF_ERROR(RunDirectory::Open(made.out(), made.plan(), false, &records).status());
  return records.size() == made.plan().blocks().size();
}

absl::StatusOr<std::vector<BlockRecord>> RecordsOf(const StepPass& made) {
  std::vector<BlockRecord> records;
  TRAINYARD_RETURN_IF_ERROR(RunDirectory::Open(made.out(), made.plan(), false, &records).status());
  if (records.size() != made.plan().blocks().size()) {
    return absl::DataLossError(made.out() + " has lost files; repeat the command");
  }
  std::sort(records.begin(), records.end(),
            [](const BlockRecord& a, const BlockRecord& b) { return a.block < b.block; });
  return records;
}

int64_t BytesOfParts(const std::vector<BlockRecord>& records) {
  int64_t bytes = 0;
  for (const BlockRecord& record : records) {
    for (const PartFile& part : record.parts) bytes += part.bytes;
  }
  return bytes;
}

void PrintRestart(const std::string& step, const std::string& changes, Progress* progress) {
  progress->PrintLine(step + ": starting over, because " + changes);
}

}  // namespace trainyard::data

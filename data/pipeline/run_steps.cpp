#include "data/pipeline/run_steps.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "data/pipeline/passes.h"
#include "proto/files/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<std::string> RunFilterStep(PassRunner* runner, const PipelineStep& step) {
  const Pipeline& pipeline = runner->context().pipeline;
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> pass, MakeFilterPass(pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals, runner->Run(step, kFilterPass, *pass));
  return SummaryLine(step, totals);
}

absl::StatusOr<std::string> RunDecontaminateStep(PassRunner* runner, const PipelineStep& step) {
  const RunContext& context = runner->context();
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> pass,
                             MakeDecontaminatePass(context.pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(const bool complete, IsComplete(*pass));
  if (!complete) {
    context.progress->PrintLine(step.name + ": reading the evaluation sets");
    TRAINYARD_RETURN_IF_ERROR(pass->Prepare([&](int64_t) {
      context.telemetry->Advance(0);
      return context.cancelled ? absl::CancelledError("interrupted; repeat the command to continue")
                               : absl::OkStatus();
    }));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals, runner->Run(step, kDecontaminatePass, *pass));
  return SummaryLine(step, totals);
}

absl::StatusOr<std::string> RunCountStep(PassRunner* runner, const PipelineStep& step) {
  const Pipeline& pipeline = runner->context().pipeline;
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<StepPass> pass, MakeCountPass(pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals, runner->Run(step, kCountPass, *pass));
  std::string text;
  for (const auto& [tokenizer, tokens] : totals.sums()) {
    char rate[48];
    std::snprintf(
        rate, sizeof(rate), " (%.3f bytes per token)",
        static_cast<double>(totals.bytes_in()) / static_cast<double>(std::max<int64_t>(tokens, 1)));
    text += (text.empty() ? "" : ", ") + ReadableCount(tokens) + " tokens of " + tokenizer + rate;
  }
  return SummaryLine(step, text);
}

}  // namespace

absl::StatusOr<std::string> RunStep(PassRunner* runner, const PipelineStep& step) {
  if (std::holds_alternative<FilterOptions>(step.options)) return RunFilterStep(runner, step);
  if (std::holds_alternative<DedupOptions>(step.options)) return RunDedupStep(runner, step);
  if (std::holds_alternative<DecontaminateOptions>(step.options)) {
    return RunDecontaminateStep(runner, step);
  }
  if (std::holds_alternative<TrainTokenizerOptions>(step.options)) {
    return RunTrainStep(runner, step);
  }
  if (std::holds_alternative<CountOptions>(step.options)) return RunCountStep(runner, step);
  if (std::holds_alternative<MixStep>(step.options)) return RunMixStep(runner, step);
  return RunTokenizeStep(runner, step);
}

std::string SummaryLine(const PipelineStep& step, const RunTotals& totals) {
  std::string text =
      ReadableCount(totals.documents_in()) + " documents, " + ReadableBytes(totals.bytes_in()) +
      ": " + ReadableCount(totals.documents_out()) + " kept, " + ReadableBytes(totals.bytes_out());
  if (totals.bad_lines().bad() > 0) text += "; bad lines: " + totals.bad_lines().Summary();
  return SummaryLine(step, text);
}

std::string SummaryLine(const PipelineStep& step, const std::string& text) {
  constexpr size_t kColumns = 16;
  std::string name = step.name;
  name.resize(std::max(kColumns, name.size() + 1), ' ');
  return name + text + "\n";
}

void RemoveWork(const Pipeline& pipeline, const PipelineStep& step, const std::string& pass) {
  // A remaining directory only occupies space; the next run uses or replaces it.
  (void)RemoveEntry(WorkDirectoryOf(pipeline, step, pass));
}

}  // namespace trainyard::data

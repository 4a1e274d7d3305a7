#include "data/decontamination/decontamination_run.h"

#include <memory>
#include <utility>

#include "data/decontamination/decontamination_stage.h"
#include "data/stages/run_totals.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

DecontaminationResult ResultOf(const EvaluationIndex& index, const RunTotals& totals) {
  DecontaminationResult result;
  result.evaluation_documents = static_cast<int64_t>(index.documents().size());
  result.ignored = index.ignored();
  result.ngrams = index.ngrams();
  result.documents_in = totals.documents_in();
  result.documents_out = totals.documents_out();
  result.bytes_in = totals.bytes_in();
  result.bytes_out = totals.bytes_out();
  for (const auto& [file, dropped] : totals.dropped()) {
    result.overlapped.push_back({file, dropped.documents, dropped.bytes, dropped.samples});
  }
  if (totals.bad_lines().bad() > 0) result.bad_lines = totals.bad_lines().Summary();
  result.repaired = totals.bad_lines().repaired();
  return result;
}

}  // namespace

absl::StatusOr<DecontaminationResult> RunDecontamination(const std::vector<InputFile>& files,
                                                         const std::vector<InputFile>& evaluation,
                                                         const DecontaminationSettings& settings,
                                                         const RunObserver& observer,
                                                         const std::atomic<bool>& cancelled) {
  DecodeSettings decode = settings.run.decode;
  decode.field = settings.evaluation_field;
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::unique_ptr<DecontaminationStage> decontamination,
      DecontaminationStage::Create(evaluation, settings.overlap, std::move(decode)));
  RunSettings run = settings.run;
  run.memory_bytes /= 2;
  const Advance advance = [&](int64_t) {
    return cancelled ? absl::CancelledError("interrupted; repeat the command to continue")
                     : absl::OkStatus();
  };
  TRAINYARD_RETURN_IF_ERROR(
      decontamination->ReadEvaluation(run.memory_bytes, run.bad_lines, advance));
  Stage stage = decontamination->MakeStage();
  stage.details = decontamination->Details();
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan, PlanStage(stage, run.decode, files, settings.limits));
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals,
                             RunStage(stage, plan, run, observer, cancelled));
  return ResultOf(*decontamination->index(), totals);
}

}  // namespace trainyard::data

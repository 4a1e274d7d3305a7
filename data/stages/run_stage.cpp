#include "data/stages/run_stage.h"

#include "data/stages/run_report.h"
#include "data/stages/stage_block.h"

namespace trainyard::data {
namespace {

// Increase it if the output of every stage changes for the same settings.
constexpr int kVersion = 1;

}  // namespace

absl::StatusOr<Plan> PlanStage(const Stage& stage, const DecodeSettings& decode,
                               const std::vector<InputFile>& files, const PlanLimits& limits) {
  return Plan::Make(files,
                    {{"stage", stage.name},
                     {"stages_version", kVersion},
                     {"field", decode.field},
                     {"utf8", decode.repair_utf8 ? "replace" : "strict"},
                     {stage.name, stage.settings}},
                    limits);
}

BlockPass PassOf(const Stage& stage, const Plan& plan, const DecodeSettings& decode) {
  return {plan,
          [&stage, &plan, decode](const BlockLease& lease, const PartNames& names,
                                  const Advance& advance) {
            return RunStageOnBlock(stage, plan, lease, decode, names, advance);
          },
          [&stage, &plan](const RunTotals& totals) { return ReportJson(stage, plan, totals); }};
}

absl::StatusOr<RunTotals> RunStage(const Stage& stage, const Plan& plan,
                                   const RunSettings& settings, const RunObserver& observer,
                                   const std::atomic<bool>& cancelled) {
  return RunPass(PassOf(stage, plan, settings.decode), settings, observer, cancelled);
}

}  // namespace trainyard::data

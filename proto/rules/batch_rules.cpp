#include "proto/rules/batch_rules.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "proto/contract/limits.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/named_setting.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

void CheckBatch(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const int64_t dp = std::max<int64_t>(layout.dp, 1);
  if (config.train.global_batch % (layout.micro_batch * dp) == 0) return;
  problems.push_back(
      {"train.global_batch", Named{"train.global_batch", config.train.global_batch}.Text() +
                                 " must be a multiple of layout.micro_batch * dp (" +
                                 std::to_string(layout.micro_batch) + " * " + std::to_string(dp) +
                                 " = " + std::to_string(layout.micro_batch * dp) + ")"});
}

// Returns advice such as "use 8 or 16", with the multiples of `part` that are nearest to `value`.
std::string NearestMultiples(int64_t value, int64_t part) {
  const int64_t below = value / part * part;
  return "use " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + part);
}

// Checks that a whole number of increments leads from the first batch to global_batch.
void CheckRampupSteps(const TrainConfig& train, Problems& problems) {
  const Named start{"train.rampup_batch_start", train.rampup_batch_start};
  const Named increment{"train.rampup_batch_increment", train.rampup_batch_increment};
  const Named batch{"train.global_batch", train.global_batch};
  if (start.value >= batch.value) {
    problems.push_back({start.key, start.Text() + " must be below " + batch.Text()});
    return;
  }
  const int64_t growth = batch.value - start.value;
  CheckDivides(batch.Text() + " - " + start.Text() + " = " + std::to_string(growth), growth,
               increment, problems);
  if (growth / increment.value <= kMaxRampupIncrements) return;
  problems.push_back({increment.key, increment.Text() + " results in " +
                                         std::to_string(growth / increment.value) +
                                         " increments; at most " +
                                         std::to_string(kMaxRampupIncrements) + " are supported"});
}

// Checks that the ranks can divide the start and the increment, as they divide global_batch. The
// ranks can then divide the batch of every step.
void CheckRampup(const RunConfig& config, Problems& problems) {
  const TrainConfig& train = config.train;
  if (!HasRampup(train)) return;
  const Named parts[] = {{"train.rampup_batch_start", train.rampup_batch_start},
                         {"train.rampup_batch_increment", train.rampup_batch_increment},
                         {"train.rampup_batch_samples", train.rampup_batch_samples}};
  for (const Named& part : parts) {
    if (part.value != 0) continue;
    problems.push_back({part.key, Quoted(part.key) + " is missing: a batch ramp-up needs "
                                                     "rampup_batch_start, rampup_batch_increment "
                                                     "and rampup_batch_samples"});
    return;
  }
  const LayoutConfig& layout = config.layout;
  const int64_t pipelined = layout.vpp > 1 ? layout.pp : 1;
  const int64_t unit = layout.micro_batch * std::max<int64_t>(layout.dp, 1) * pipelined;
  for (const Named& part : {parts[0], parts[1]}) {
    if (part.value % unit == 0) continue;
    problems.push_back({part.key, part.Text() + " must be a multiple of layout.micro_batch * dp" +
                                      (pipelined > 1 ? " * pp" : "") + " (" + std::to_string(unit) +
                                      "); " + NearestMultiples(part.value, unit)});
  }
  CheckRampupSteps(train, problems);
}

}  // namespace

std::vector<SettingProblem> FindBatchProblems(const RunConfig& config) {
  Problems problems;
  CheckBatch(config, problems);
  CheckRampup(config, problems);
  return problems;
}

}  // namespace trainyard

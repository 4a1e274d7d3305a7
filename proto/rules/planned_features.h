// Rules for mixtures of experts, latent attention and FP8. Job files can describe features that the
// planner can plan but trainyard-trainer does not support. All functions are pure.
#ifndef TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_
#define TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// True if every expert is stored undivided on a rank although the other matrices are divided
// (layout.etp).
bool HasWholeExperts(const LayoutConfig& layout);

// Returns the features of the run beyond a dense decoder in bf16 or fp32, such as "mixture of
// experts".
std::vector<std::string> FeaturesOf(const RunConfig& config);

// Reports settings of mixtures of experts, latent attention and FP8 that contradict each other or
// other settings.
std::vector<SettingProblem> FindFeatureProblems(const RunConfig& config);

// Reports layout.ep if it does not divide the number of ranks that share the experts.
std::vector<SettingProblem> FindExpertLayoutProblems(const RunConfig& config);

// Reports settings of features that trainyard-trainer does not support on the device of the run.
std::vector<SettingProblem> FindUntrainable(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_

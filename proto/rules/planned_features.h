// Features that job files can describe and the planner can plan, but trainyard-trainer lacks:
// mixtures of experts, latent attention and FP8. Pure functions.
#ifndef TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_
#define TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// True if the matrix products of the blocks use FP8.
bool HasFp8(const TrainConfig& train);

// True if each expert is whole on a rank although other matrices are divided (layout.etp).
bool HasWholeExperts(const LayoutConfig& layout);

// Number of ranks that have the same part of an expert, and thus share its state.
int64_t ExpertReplicas(const LayoutConfig& layout);

// The features of the run that trainyard-trainer lacks, such as "mixtures of experts".
std::vector<std::string> LackingFeatures(const RunConfig& config);

// True if LackingFeatures names none.
bool HasTrainableFeatures(const RunConfig& config);

// Reports violations of rules that span the settings of these features.
std::vector<SettingProblem> FindFeatureProblems(const RunConfig& config);

// Reports expert-parallel sizes that do not divide evenly into the ranks of a stage.
std::vector<SettingProblem> FindExpertLayoutProblems(const RunConfig& config);

// Reports the settings that describe features that trainyard-trainer lacks.
std::vector<SettingProblem> FindUntrainable(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_PLANNED_FEATURES_H_

// Checks arrays before any of their elements becomes a job.
#ifndef TRAINYARD_PROTO_JOBSPEC_MATRIX_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_MATRIX_RULES_H_

#include <functional>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns the broken rules of a spec that is not an array.
using ElementCheck = std::function<std::vector<SettingProblem>(const v1::JobSpec&)>;

// Returns the broken rules of an array. Checks, with `check`, one element for each value of each
// key, with the first value of all other keys. If a range has more than 100 values, only its ends
// are checked. An element that breaks a rule only in combination fails when it is to start.
std::vector<SettingProblem> FindArrayProblems(const v1::JobSpec& spec, const Origins& origins,
                                              const ElementCheck& check);

// Rejects settings that only arrays have.
void CheckNotArray(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_MATRIX_RULES_H_

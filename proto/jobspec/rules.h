// Rules of a JobSpec with defaults filled in.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/jobspec/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// All broken rules: limits of single fields, and rules that span fields.
std::vector<SettingProblem> FindProblems(const v1::JobSpec& spec);

// The broken rules as lines with their origins; empty if all rules hold. The controller calls this,
// too, because it does not trust clients.
std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins);

// Reasons why the ranks could not start although every rule holds, one per line (FindLaunchProblems
// of proto/rules/run_rules.h). `submit` rejects such a job; `plan` shows the reasons and plans.
std::vector<std::string> CheckLaunch(const v1::JobSpec& spec, const Origins& origins);

// CheckJobSpec and, if every rule holds, CheckLaunch.
std::vector<std::string> CheckSubmission(const v1::JobSpec& spec, const Origins& origins);

// "job.yaml:7:3: ..." if the key's origin is known, else only the message.
std::string Describe(const SettingProblem& problem, const Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_H_

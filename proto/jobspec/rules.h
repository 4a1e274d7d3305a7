// Rules of a JobSpec with defaults filled in.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/jobspec/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Every broken rule: limits of single fields, and rules that span fields.
std::vector<SettingProblem> FindProblems(const v1::JobSpec& spec);

// The same as lines with their origins; empty when all rules hold. The controller calls this too:
// it trusts no client.
std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins);

// Reasons why the ranks could not start though every rule holds, one a line (FindLaunchProblems of
// proto/contract/run_rules.h). `submit` refuses them; `plan` shows them and plans.
std::vector<std::string> CheckLaunch(const v1::JobSpec& spec, const Origins& origins);

// Both: CheckLaunch where every rule holds.
std::vector<std::string> CheckSubmission(const v1::JobSpec& spec, const Origins& origins);

// "job.yaml:7:3: ..." where the key's origin is known, else just the message.
std::string Describe(const SettingProblem& problem, const Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_H_

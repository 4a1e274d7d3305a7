// Checks a JobSpec, whose defaults must be filled in, against all rules.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns all broken rules: limits of single fields, and rules that span several fields.
// The rules of an array are checked for its elements; `origins` show which values were derived.
std::vector<SettingProblem> FindProblems(const v1::JobSpec& spec, const Origins& origins);

// Returns the broken rules as lines with the origins of the values; empty if all rules hold. The
// controller, which does not trust clients, calls this function too.
std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins);

// Returns the reasons why the ranks could not start although every rule holds, one per line
// (FindLaunchProblems in proto/rules/run_rules.h). `submit` rejects a job with such reasons; `plan`
// shows them and continues. Empty for arrays, whose elements are checked by CheckSubmission.
std::vector<std::string> CheckLaunch(const v1::JobSpec& spec, const Origins& origins);

// Returns the result of CheckJobSpec. If every rule holds, returns the result of CheckLaunch.
std::vector<std::string> CheckSubmission(const v1::JobSpec& spec, const Origins& origins);

// Returns "job.yaml:7:3: ..." if the origin of the key is known; otherwise only the message.
std::string Describe(const SettingProblem& problem, const Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_H_

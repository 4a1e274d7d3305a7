// Rules for the section `code` of a job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_CODE_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_CODE_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Rejects a section without a source, settings that contradict each other, and code for programs
// that do not run it.
void CheckCode(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

// True if `trainyard submit` must take a snapshot of code.path.
bool NeedsSnapshot(const v1::JobSpec& spec);

// Why a spec that reaches the controller has no code to run; empty if it has.
std::string MissingSnapshot(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_CODE_RULES_H_

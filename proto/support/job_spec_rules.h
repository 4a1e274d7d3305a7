// The rules of a JobSpec, each problem with the key that it belongs to.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_SPEC_RULES_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_SPEC_RULES_H_

#include <string>
#include <vector>

#include "proto/support/job_spec_loader.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

struct SpecProblem {
  std::string key;
  std::string message;
};

// Every broken rule of a spec with defaults filled in.
std::vector<SpecProblem> FindProblems(const v1::JobSpec& spec);

// "job.yaml:7:3: ..." where the key's origin is known, else just the message.
std::string Describe(const SpecProblem& problem, const Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_SPEC_RULES_H_

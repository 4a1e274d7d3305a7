// Job files that clients send as text instead of a resolved spec.
#ifndef TRAINYARD_CONTROLLER_API_SENT_JOB_FILE_H_
#define TRAINYARD_CONTROLLER_API_SENT_JOB_FILE_H_

#include <functional>
#include <vector>

#include "controller/api/api.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT for more overrides than a request may have.
absl::Status CheckOverrides(int count);

// Gives the request to `next` with its `spec` and origins filled in: at once when it came with a
// spec, else from `job_file` and `overrides`, on a reader thread. `refuse` gets INVALID_ARGUMENT
// when the file breaks a rule or is given together with a spec, RESOURCE_EXHAUSTED when too many
// queries wait.
void ResolveSubmit(const Api& api, v1::SubmitJobRequest request,
                   std::function<void(v1::SubmitJobRequest)> next,
                   std::function<void(const absl::Status&)> refuse);
void ResolvePlan(const Api& api, v1::PlanJobRequest request,
                 std::function<void(v1::PlanJobRequest, std::vector<v1::Origin>)> next,
                 std::function<void(const absl::Status&)> refuse);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_SENT_JOB_FILE_H_

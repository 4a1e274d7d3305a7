// Job files sent by clients as text instead of a resolved spec.
#ifndef TRAINYARD_CONTROLLER_API_JOB_FILES_SENT_JOB_FILE_H_
#define TRAINYARD_CONTROLLER_API_JOB_FILES_SENT_JOB_FILE_H_

#include <functional>
#include <vector>

#include "controller/api/context/api.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Returns INVALID_ARGUMENT if `count` is above the number of overrides allowed per request.
absl::Status CheckOverrides(int count);

// Fills in the request's spec and origins, and passes the request to `next`. If the request has no
// job file, calls `next` immediately. Otherwise resolves `job_file` and `overrides` on a reader
// thread first. Calls `refuse` on errors. INVALID_ARGUMENT: the file breaks a rule, or the request
// also has a spec. RESOURCE_EXHAUSTED: too many queries are waiting.
void ResolveSubmit(const Api& api, v1::SubmitJobRequest request,
                   std::function<void(v1::SubmitJobRequest)> next,
                   std::function<void(const absl::Status&)> refuse);
void ResolvePlan(const Api& api, v1::PlanJobRequest request,
                 std::function<void(v1::PlanJobRequest, std::vector<v1::Origin>)> next,
                 std::function<void(const absl::Status&)> refuse);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOB_FILES_SENT_JOB_FILE_H_

// What of a submission needs no state: it is done before the one loop sees the request.
#ifndef TRAINYARD_CONTROLLER_CORE_SUBMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_SUBMISSION_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/jobspec/origins.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// A user submits a job whose spec is complete and keeps every rule. Copies share it.
class JobSubmission {
 public:
  // INVALID_ARGUMENT: a text is too long, rules are broken, or trainyard-trainer could not start
  // the run, one a line. Pure; any thread.
  static absl::StatusOr<JobSubmission> Check(v1::SubmitJobRequest request);

  // What its event will say but for job_id, and for checkpoint.dir when nobody wrote it.
  const v1::JobSubmitted& submitted() const { return *submitted_; }

 private:
  explicit JobSubmission(v1::JobSubmitted submitted)
      : submitted_(std::make_shared<const v1::JobSubmitted>(std::move(submitted))) {}

  std::shared_ptr<const v1::JobSubmitted> submitted_;
};

// Every rule that one spec can break by itself; `origins` say where in the job file. The spec has
// its defaults. INVALID_ARGUMENT: one rule a line.
absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUBMISSION_H_

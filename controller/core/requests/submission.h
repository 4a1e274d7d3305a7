// Checks of a submission that need no state: they are done before the one loop sees the request.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/core/requests/request_source.h"
#include "proto/jobspec/origins.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// A user submits a job whose spec is complete and keeps every rule. Copies share it.
class JobSubmission {
 public:
  static constexpr RequestSource kSource = RequestSource::kUser;

  // INVALID_ARGUMENT: a text is too long, rules are broken, or trainyard-trainer could not start
  // the run, one a line. Pure; any thread.
  static absl::StatusOr<JobSubmission> Check(v1::SubmitJobRequest request);

  // The JobSubmitted event to append, except job_id, and checkpoint.dir when the spec has none:
  // both are assigned on the loop.
  const v1::JobSubmitted& submitted() const { return *submitted_; }
  // See Event.actor_verified.
  bool user_verified() const { return user_verified_; }

 private:
  JobSubmission(v1::JobSubmitted submitted, bool user_verified)
      : submitted_(std::make_shared<const v1::JobSubmitted>(std::move(submitted))),
        user_verified_(user_verified) {}

  std::shared_ptr<const v1::JobSubmitted> submitted_;
  bool user_verified_;
};

// True when a repeated submit asks for the job that the first one made: the specs are equal, except
// for a checkpoint directory that the controller gave.
bool AsksForSameJob(const v1::JobSpec& made, const v1::JobSpec& asked);

// ALREADY_EXISTS: the error of a submit that repeats a request id with another spec.
absl::Status OtherSpecOfRequest(const std::string& request_id, const v1::Job& first);

// Checks every rule that one spec can break by itself; `origins` give the places in the job file.
// The spec has its defaults. INVALID_ARGUMENT: one rule a line.
absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

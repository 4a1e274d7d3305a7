// Checks of a submission that need no state. They run before the loop receives the request.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/core/requests/request_source.h"
#include "controller/core/support/principal.h"
#include "proto/jobspec/origins.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// A submitted job whose spec is complete and valid. Copies share the spec.
class JobSubmission {
 public:
  static constexpr RequestSource kSource = RequestSource::kUser;

  // INVALID_ARGUMENT if a text is too long, the spec breaks rules, or trainyard-trainer could not
  // start the run; one problem per line. Pure; callable from any thread.
  static absl::StatusOr<JobSubmission> Check(v1::SubmitJobRequest request, Principal principal);

  // The JobSubmitted event to append, without job_id and, if the spec has none, checkpoint.dir. The
  // loop assigns both.
  const v1::JobSubmitted& submitted() const { return *submitted_; }
  const Principal& principal() const { return principal_; }

 private:
  JobSubmission(v1::JobSubmitted submitted, Principal principal)
      : submitted_(std::make_shared<const v1::JobSubmitted>(std::move(submitted))),
        principal_(std::move(principal)) {}

  std::shared_ptr<const v1::JobSubmitted> submitted_;
  Principal principal_;
};

// True if a repeated submission asks for the job that the first one created: the specs are equal,
// except for a checkpoint directory assigned by the controller.
bool AsksForSameJob(const v1::JobSpec& made, const v1::JobSpec& asked);

// ALREADY_EXISTS, for a submission that repeats a request id with another spec.
absl::Status OtherSpecOfRequest(const std::string& request_id, const v1::Job& first);

// Checks every rule that one spec can break on its own. `origins` name the positions in the job
// file. The spec has its defaults. INVALID_ARGUMENT, with one rule per line.
absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

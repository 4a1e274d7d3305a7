// Checks of a submission that do not need the state. The checks run before the request reaches the
// loop thread.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/core/requests/request_source.h"
#include "controller/core/support/principal.h"
#include "proto/jobspec/fields/after_entry.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Archived jobs by the entry of `after` that names them. The core cannot read the archive.
using ArchivedPrerequisites = std::map<std::string, v1::Prerequisite>;

// Returns the condition of `entry` on this job, as far as the job has met it.
v1::Prerequisite AsPrerequisite(const v1::Job& job, const AfterEntry& entry);

// A submitted job whose spec is complete and valid. Copies share the spec.
class JobSubmission {
 public:
  static constexpr RequestSource kSource = RequestSource::kUser;

  // INVALID_ARGUMENT: a text is too long, the spec breaks a rule, or trainyard-trainer could not
  // start the run. The message has one problem per line. Has no side effects and may be called on
  // any thread.
  static absl::StatusOr<JobSubmission> Check(v1::SubmitJobRequest request, Principal principal);

  // Returns the JobSubmitted event to append. The event has no job_id, and no checkpoint.dir unless
  // the spec sets it. The loop assigns both.
  const v1::JobSubmitted& submitted() const { return *submitted_; }
  const Principal& principal() const { return principal_; }

  // The archived jobs that the spec names in `after`. The caller looks them up before Decide.
  const ArchivedPrerequisites& archived() const { return archived_; }
  void set_archived(ArchivedPrerequisites archived) { archived_ = std::move(archived); }

 private:
  JobSubmission(v1::JobSubmitted submitted, Principal principal)
      : submitted_(std::make_shared<const v1::JobSubmitted>(std::move(submitted))),
        principal_(std::move(principal)) {}

  std::shared_ptr<const v1::JobSubmitted> submitted_;
  Principal principal_;
  ArchivedPrerequisites archived_;
};

// Returns true if the controller must assign a checkpoint directory to a job with this spec.
bool IsCheckpointDirectoryUnset(const v1::JobSpec& spec);

// Returns true if a repeated submission (`asked`) matches the job that the first submission created
// (`made`). The specs must be equal, except for a checkpoint directory that the controller
// assigned.
bool AsksForSameJob(const v1::JobSpec& made, const v1::JobSpec& asked);

// Returns the ALREADY_EXISTS error for a submission that repeats a request id with another spec.
absl::Status OtherSpecOfRequest(const std::string& request_id, const v1::Job& first);

// Checks all rules that can be checked for a single spec. The spec must already contain its
// defaults. `origins` provide the positions in the job file for error messages. INVALID_ARGUMENT:
// the message has one broken rule per line.
absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_SUBMISSION_H_

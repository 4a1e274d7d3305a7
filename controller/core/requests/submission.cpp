#include "controller/core/requests/submission.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/jobs/origin_list.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/text.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules.h"
#include "proto/support/job_kind.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr char kRequestOrigin[] = "request";

// Returns the origins that the client sent. If the client sent none, every value of the spec is
// treated as set by the client.
Origins OriginsOf(const v1::SubmitJobRequest& request) {
  Origins origins;
  for (const v1::Origin& origin : request.origins()) {
    if (origin.source() != kDefaultOrigin) origins[origin.key()] = origin.source();
  }
  if (request.origins().empty()) FillOrigins(request.spec(), kRequestOrigin, origins);
  return origins;
}

absl::Status Refuse(const std::vector<std::string>& lines) {
  if (lines.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

absl::Status CheckSpecSize(const v1::JobSpec& spec) {
  const std::size_t bytes = spec.ByteSizeLong();
  if (bytes <= kMaxJobFileBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the job file is too large: ", bytes, " bytes; at most ", kMaxJobFileBytes, " are allowed"));
}

}  // namespace

absl::Status CheckSpec(const v1::JobSpec& spec, const Origins& origins) {
  TRAINYARD_RETURN_IF_ERROR(CheckSpecSize(spec));
  return Refuse(CheckJobSpec(spec, origins));
}

absl::StatusOr<JobSubmission> JobSubmission::Check(v1::SubmitJobRequest request,
                                                   Principal principal) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("request id", request.request_id(), kMaxUserBytes));
  Origins origins = OriginsOf(request);
  v1::JobSubmitted submitted;
  submitted.set_user(principal.user);
  submitted.set_request_id(std::move(*request.mutable_request_id()));
  submitted.set_held(request.hold());
  submitted.set_cloned_from(request.cloned_from());
  v1::JobSpec& spec = *submitted.mutable_spec();
  spec = std::move(*request.mutable_spec());
  FillDefaults(spec, origins);
  TRAINYARD_RETURN_IF_ERROR(CheckSpecSize(spec));
  TRAINYARD_RETURN_IF_ERROR(Refuse(CheckSubmission(spec, origins)));
  // The directory name is derived from the job number, which the loop assigns later.
  if (IsCheckpointDirectoryUnset(spec)) origins["checkpoint.dir"] = kDerivedOrigin;
  submitted.set_origin_list(PackOrigins(origins));
  return JobSubmission(std::move(submitted), std::move(principal));
}

bool IsCheckpointDirectoryUnset(const v1::JobSpec& spec) {
  return ProgramRulesOf(spec).saves && spec.checkpoint().dir().empty();
}

v1::Prerequisite AsPrerequisite(const v1::Job& job, const AfterEntry& entry) {
  v1::Prerequisite prerequisite;
  prerequisite.set_job_id(job.id());
  prerequisite.set_name(job.name());
  prerequisite.set_condition(entry.condition);
  prerequisite.set_step(entry.step);
  // The list begins with the oldest checkpoint.
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    MeetByCheckpoint(checkpoint, prerequisite);
  }
  if (!HasEnded(job.state())) return prerequisite;
  prerequisite.set_outcome(job.state());
  prerequisite.set_ended_time_ms(job.ended_time_ms());
  return prerequisite;
}

bool AsksForSameJob(const v1::JobSpec& made, const v1::JobSpec& asked) {
  using google::protobuf::util::MessageDifferencer;
  if (!asked.checkpoint().dir().empty()) return MessageDifferencer::Equals(made, asked);
  v1::JobSpec other = made;
  other.mutable_checkpoint()->set_dir("");
  v1::JobSpec spec = asked;
  spec.mutable_checkpoint()->set_dir("");
  return MessageDifferencer::Equals(other, spec);
}

absl::Status OtherSpecOfRequest(const std::string& request_id, const v1::Job& first) {
  return absl::AlreadyExistsError(absl::StrCat(
      "request id `", request_id, "` was already used to submit ", JobText(first),
      " with different settings; repeat a submit with the same settings, or give this job a new ",
      "request id"));
}

}  // namespace trainyard::controller

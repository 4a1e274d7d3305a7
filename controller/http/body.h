// Parses the JSON bodies of requests.
#ifndef TRAINYARD_CONTROLLER_HTTP_BODY_H_
#define TRAINYARD_CONTROLLER_HTTP_BODY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/planner.pb.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::controller::http {

// Each function in this header parses a request body. An empty body means {}. INVALID_ARGUMENT: the
// body is not JSON, is nested too deeply, has an unknown key (the message names it and the closest
// known key), or has a value of the wrong type. For a spec, the message lists all errors that the
// job file loader finds.
absl::StatusOr<v1::SubmitJobRequest> ReadSubmitBody(const std::string& body);
// `origins` receives the origin of each value in the spec.
absl::StatusOr<v1::PlanJobRequest> ReadPlanBody(const std::string& body,
                                                std::vector<v1::Origin>& origins);
absl::StatusOr<v1::PlanLayoutRequest> ReadPlanLayoutBody(const std::string& body);
absl::StatusOr<v1::StopJobRequest> ReadStopBody(const std::string& body);
absl::StatusOr<v1::PauseJobRequest> ReadPauseBody(const std::string& body);
// `by` is a duration as in job files, such as "2h".
absl::StatusOr<v1::ExtendJobRequest> ReadExtendBody(const std::string& body);
absl::StatusOr<v1::ResumeJobRequest> ReadResumeBody(const std::string& body);
absl::StatusOr<v1::WriteNoteRequest> ReadNoteBody(const std::string& body);
absl::StatusOr<v1::MoveJobRequest> ReadMoveBody(const std::string& body);
// The name in `queue` may be missing, because the path has it.
absl::StatusOr<v1::SetQueueRequest> ReadQueueBody(const std::string& body);
absl::StatusOr<v1::SetTopologyRequest> ReadTopologyBody(const std::string& body);
// The name in `reservation` may be missing, because the path has it.
absl::StatusOr<v1::CreateReservationRequest> ReadReservationBody(const std::string& body);
absl::StatusOr<v1::CordonNodeRequest> ReadCordonBody(const std::string& body);
// A body without drain_after_ms drains the node now.
absl::StatusOr<v1::CordonNodeRequest> ReadDrainBody(const std::string& body);
absl::StatusOr<v1::ReleaseNodeRequest> ReadReleaseBody(const std::string& body);
absl::StatusOr<v1::HandOverRequest> ReadHandOverBody(const std::string& body);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_BODY_H_

// Builds requests whose fields are all in the path and the query.
#ifndef TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_
#define TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_

#include "absl/status/statusor.h"
#include "controller/http/target.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller::http {

v1::DeleteJobRequest DeleteRequest(const Parameters& parameters);
// INVALID_ARGUMENT: the note in the path is not a number.
absl::StatusOr<v1::DeleteNoteRequest> NoteDeletion(const Parameters& parameters);
v1::GetExpertsRequest ExpertsRequest(const Parameters& parameters);
v1::ListRanksRequest RanksRequest(const Parameters& parameters);
v1::ListEventsRequest EventsRequest(const Parameters& parameters);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_

// Builds requests whose fields are all in the path and the query.
#ifndef TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_
#define TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "controller/http/target.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "proto/json/enum_text.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/queue_service.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::controller::http {

// Returns the value with this short name, or the value 0.
template <typename Enum>
Enum EnumOf(const std::string& name) {
  const auto* value = EnumValueByShortName(*google::protobuf::GetEnumDescriptor<Enum>(), name);
  return static_cast<Enum>(value == nullptr ? 0 : value->number());
}

v1::ListJobsRequest ListRequest(const Parameters& parameters);
v1::GetReportRequest ReportRequest(const Parameters& parameters);
v1::ListQueuesRequest QueuesRequest(const Parameters& parameters);
v1::DeleteReservationRequest ReservationDeletion(const Parameters& parameters);
v1::DeleteQueueRequest QueueDeletion(const Parameters& parameters);
v1::DeleteJobRequest DeleteRequest(const Parameters& parameters);
// INVALID_ARGUMENT: the note in the path is not a number.
absl::StatusOr<v1::DeleteNoteRequest> NoteDeletion(const Parameters& parameters);
v1::GetExpertsRequest ExpertsRequest(const Parameters& parameters);
v1::GetSeriesRequest SeriesRequest(const Parameters& parameters);
v1::CompareSeriesRequest CompareRequest(const Parameters& parameters);
v1::GetArrayRequest ArrayRequest(const Parameters& parameters);
v1::ListRanksRequest RanksRequest(const Parameters& parameters);
v1::ListEventsRequest EventsRequest(const Parameters& parameters);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PARAMETER_REQUESTS_H_

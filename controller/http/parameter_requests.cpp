#include "controller/http/parameter_requests.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"

namespace trainyard::controller::http {
namespace {

std::vector<std::string> SeriesKeys(const Parameters& parameters) {
  std::vector<std::string> keys = parameters.List("keys");
  const std::vector<std::string>& more = parameters.Repeated("key");
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

// Sets which series are requested, their range and their form.
template <typename Request>
void SetSeriesForm(const Parameters& parameters, Request& request) {
  for (std::string& key : SeriesKeys(parameters)) request.add_keys(std::move(key));
  request.set_axis(EnumOf<v1::SeriesAxis>(parameters.Text("x")));
  request.set_from(parameters.Integer("from"));
  request.set_to(parameters.Integer("to"));
  request.set_buckets(static_cast<int>(parameters.Integer("buckets")));
  request.set_smooth(parameters.Number("smooth"));
}

}  // namespace

v1::DeleteJobRequest DeleteRequest(const Parameters& parameters) {
  v1::DeleteJobRequest request;
  request.set_job(parameters.Text("job"));
  request.set_confirmed(parameters.Boolean("confirmed"));
  request.set_checkpoints(parameters.Boolean("checkpoints"));
  request.set_user(parameters.Text("user"));
  return request;
}

absl::StatusOr<v1::DeleteNoteRequest> NoteDeletion(const Parameters& parameters) {
  v1::DeleteNoteRequest request;
  int64_t note = 0;
  if (!absl::SimpleAtoi(parameters.Text("note"), &note)) {
    return absl::InvalidArgumentError("note: must be the number of a note");
  }
  request.set_note(note);
  request.set_user(parameters.Text("user"));
  return request;
}

v1::GetExpertsRequest ExpertsRequest(const Parameters& parameters) {
  v1::GetExpertsRequest request;
  request.set_job(parameters.Text("job"));
  request.set_step(parameters.Integer("step"));
  return request;
}

v1::GetSeriesRequest SeriesRequest(const Parameters& parameters) {
  v1::GetSeriesRequest request;
  request.set_job(parameters.Text("job"));
  SetSeriesForm(parameters, request);
  request.set_redone(parameters.Text("attempts") == "all");
  request.set_attempt(parameters.Integer("attempt"));
  return request;
}

v1::CompareSeriesRequest CompareRequest(const Parameters& parameters) {
  v1::CompareSeriesRequest request;
  for (std::string& job : parameters.List("jobs")) request.add_jobs(std::move(job));
  SetSeriesForm(parameters, request);
  return request;
}

v1::GetArrayRequest ArrayRequest(const Parameters& parameters) {
  v1::GetArrayRequest request;
  request.set_job(parameters.Text("job"));
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  request.set_offset(parameters.Integer("offset"));
  request.set_order(EnumOf<v1::ArrayOrder>(parameters.Text("order")));
  request.set_reverse(parameters.Boolean("reverse"));
  return request;
}

v1::ListRanksRequest RanksRequest(const Parameters& parameters) {
  v1::ListRanksRequest request;
  request.set_job(parameters.Text("job"));
  request.set_attempt(parameters.Integer("attempt"));
  return request;
}

v1::ListEventsRequest EventsRequest(const Parameters& parameters) {
  v1::ListEventsRequest request;
  request.set_job(parameters.Text("job"));
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  request.set_cursor(parameters.Text("cursor"));
  return request;
}

v1::ListJobsRequest ListRequest(const Parameters& parameters) {
  v1::ListJobsRequest request;
  for (const std::string& state : parameters.List("states")) {
    request.add_states(EnumOf<v1::JobState>(state));
  }
  request.set_user(parameters.Text("user"));
  request.set_name(parameters.Text("name"));
  request.set_text(parameters.Text("text"));
  request.set_order(EnumOf<v1::JobOrder>(parameters.Text("order")));
  request.set_reverse(parameters.Boolean("reverse"));
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  request.set_cursor(parameters.Text("cursor"));
  return request;
}

v1::GetReportRequest ReportRequest(const Parameters& parameters) {
  v1::GetReportRequest request;
  request.set_by(EnumOf<v1::ReportBy>(parameters.Text("by")));
  request.set_since_ms(parameters.Integer("since"));
  request.set_until_ms(parameters.Integer("until"));
  request.set_user(parameters.Text("user"));
  request.set_job_id(parameters.Integer("job_id"));
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  return request;
}

v1::ListQueuesRequest QueuesRequest(const Parameters& parameters) {
  v1::ListQueuesRequest request;
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  return request;
}

v1::DeleteReservationRequest ReservationDeletion(const Parameters& parameters) {
  v1::DeleteReservationRequest request;
  request.set_name(parameters.Text("reservation"));
  request.set_user(parameters.Text("user"));
  return request;
}

v1::DeleteQueueRequest QueueDeletion(const Parameters& parameters) {
  v1::DeleteQueueRequest request;
  request.set_name(parameters.Text("queue"));
  request.set_user(parameters.Text("user"));
  return request;
}

}  // namespace trainyard::controller::http

#include "controller/core/explain/array_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/array_elements.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/matrix.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultRows = 100;

// Sets the newest losses of a job in the state. They may be newer than those at the end of its
// newest attempt, because telemetry can arrive after the end.
void AddObservedLosses(const Observations& observations, v1::ArrayRow& row) {
  const auto found = observations.progress.find(row.job_id());
  if (found == observations.progress.end()) return;
  const v1::Progress& progress = found->second;
  if (progress.loss_step() > 0) row.set_loss(progress.loss());
  if (progress.validation_loss() != 0) row.set_validation_loss(progress.validation_loss());
  row.set_step(std::max(row.step(), progress.step()));
}

v1::ArrayRow EndedRow(const v1::ArrayElement& element, const Observations& observations) {
  v1::ArrayRow row;
  row.set_index(element.index());
  row.set_job_id(element.job_id());
  row.set_state(element.state());
  row.set_step(element.step());
  if (element.has_loss()) row.set_loss(element.loss());
  if (element.has_validation_loss()) row.set_validation_loss(element.validation_loss());
  row.set_reason(element.reason());
  AddObservedLosses(observations, row);
  return row;
}

v1::ArrayRow LiveRow(const ClusterView& view, const JobEntry& entry) {
  v1::ArrayRow row;
  row.set_index(entry.job.array_index());
  row.set_job_id(entry.job.id());
  row.set_state(entry.job.state());
  if (const v1::Attempt* newest = NewestAttempt(entry)) {
    row.set_step(newest->last_step());
    if (newest->has_loss()) row.set_loss(newest->loss());
    if (newest->has_validation_loss()) row.set_validation_loss(newest->validation_loss());
  }
  AddObservedLosses(view.observations, row);
  return row;
}

// The value by which a row is ordered; rows without a value are last. NaN counts as no value.
struct SortKey {
  bool missing = false;
  double value = 0;
};

SortKey KeyOf(const v1::ArrayRow& row, v1::ArrayOrder order) {
  const auto loss = [](bool is_set, double value) {
    const bool missing = !is_set || std::isnan(value);
    return SortKey{missing, missing ? 0 : value};
  };
  switch (order) {
    case v1::ARRAY_ORDER_STATE:
      return {false, static_cast<double>(row.state())};
    case v1::ARRAY_ORDER_STEP:
      return {false, -static_cast<double>(row.step())};
    case v1::ARRAY_ORDER_LOSS:
      return loss(row.has_loss(), row.loss());
    case v1::ARRAY_ORDER_VALIDATION_LOSS:
      return loss(row.has_validation_loss(), row.validation_loss());
    default:
      return {false, static_cast<double>(row.index())};
  }
}

void SortRows(const v1::GetArrayRequest& request, std::vector<v1::ArrayRow>& rows) {
  const double sign = request.reverse() ? -1 : 1;
  const auto key = [&](const v1::ArrayRow& row) {
    const SortKey own = KeyOf(row, request.order());
    return std::tuple(own.missing, sign * own.value, row.index());
  };
  std::ranges::sort(rows, {}, key);
}

void AddSettings(const Matrix& matrix, v1::ArrayRow& row) {
  for (auto& [name, value] : matrix.SettingsOf(row.index())) {
    v1::ArraySetting& setting = *row.add_settings();
    setting.set_key(std::move(name));
    setting.set_value(std::move(value));
  }
}

absl::Status CheckRequest(const v1::Job& job, const v1::GetArrayRequest& request) {
  if (!IsArray(job.spec())) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(job), " is not an array",
        job.array_id() == 0 ? "; arrays are jobs with a `matrix`"
                            : absl::StrCat(", but element ", job.array_index(), " of the array ",
                                           job.array_id(), "; name that array")));
  }
  if (request.limit() < 0 || request.limit() > kMaxArrayRows || request.offset() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "limit is ", request.limit(), " and offset ", request.offset(),
        "; the limit must be from 0 to ", kMaxArrayRows, ", and the offset at least 0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::GetArrayResponse> ArrayTable(const ClusterView& view, const JobEntry& array,
                                                const v1::GetArrayRequest& request) {
  const v1::Job& job = array.job;
  TRAINYARD_RETURN_IF_ERROR(CheckRequest(job, request));
  TRAINYARD_ASSIGN_OR_RETURN(const Matrix matrix, Matrix::Of(job.spec()));
  std::vector<v1::ArrayRow> rows;
  for (const v1::ArrayElement& element : array.elements) {
    rows.push_back(EndedRow(element, view.observations));
  }
  for (const int64_t id : LiveElements(view.state, job.id())) {
    rows.push_back(LiveRow(view, view.state.jobs.at(id)));
  }
  SortRows(request, rows);
  v1::GetArrayResponse response;
  response.set_job_id(job.id());
  response.set_name(job.name());
  response.set_state(job.state());
  *response.mutable_counts() = job.array();
  response.mutable_rungs()->Add(array.rungs.begin(), array.rungs.end());
  response.set_total(static_cast<int64_t>(rows.size()));
  response.set_as_of_ms(view.now);
  const int64_t begin = std::min(request.offset(), response.total());
  const int64_t limit = request.limit() == 0 ? kDefaultRows : request.limit();
  const int64_t end = std::min(response.total(), begin + limit);
  for (int64_t i = begin; i < end; ++i) {
    AddSettings(matrix, rows[i]);
    *response.add_rows() = std::move(rows[i]);
  }
  return response;
}

}  // namespace trainyard::controller

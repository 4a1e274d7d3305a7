#include "controller/core/explain/array_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultRows = 100;

// Progress of an element. The losses are unset until they are reported.
struct Result {
  int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> validation_loss;
};

// Element or attempt: a message with these three fields.
template <typename Message>
void AddRecorded(const Message& recorded, int64_t step, Result& result) {
  result.step = step;
  if (recorded.has_loss()) result.loss = recorded.loss();
  if (recorded.has_validation_loss()) result.validation_loss = recorded.validation_loss();
}

// An element that has ended, or one whose job is live.
struct Element {
  int64_t index = 0;
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  int64_t job_id = 0;
  const v1::ArrayElement* ended = nullptr;
  const JobEntry* live = nullptr;
};

// The losses of a job in the state may be newer than those at the end of its newest attempt,
// because telemetry can arrive after the end.
Result ResultOf(const Element& element, const Observations& observations) {
  Result result;
  if (element.ended != nullptr) {
    AddRecorded(*element.ended, element.ended->step(), result);
  } else if (const v1::Attempt* newest = NewestAttempt(*element.live)) {
    AddRecorded(*newest, newest->last_step(), result);
  }
  const auto found = observations.progress.find(element.job_id);
  if (found == observations.progress.end()) return result;
  const v1::Progress& progress = found->second;
  if (progress.loss_step() > 0) result.loss = progress.loss();
  if (progress.validation_loss() != 0) result.validation_loss = progress.validation_loss();
  result.step = std::max(result.step, progress.step());
  return result;
}

// The value by which a row is ordered; rows without a value are last. NaN counts as no value.
struct SortKey {
  bool missing = false;
  double value = 0;
};

SortKey KeyOf(const Element& element, v1::ArrayOrder order, const Observations& observations) {
  const auto loss = [](const std::optional<double>& value) {
    const bool missing = !value.has_value() || std::isnan(*value);
    return SortKey{missing, missing ? 0 : *value};
  };
  switch (order) {
    case v1::ARRAY_ORDER_STATE:
      return {false, static_cast<double>(element.state)};
    case v1::ARRAY_ORDER_STEP:
      return {false, -static_cast<double>(ResultOf(element, observations).step)};
    case v1::ARRAY_ORDER_LOSS:
      return loss(ResultOf(element, observations).loss);
    case v1::ARRAY_ORDER_VALIDATION_LOSS:
      return loss(ResultOf(element, observations).validation_loss);
    default:
      return {false, static_cast<double>(element.index)};
  }
}

std::vector<Element> ElementsOf(const ClusterState& state, const JobEntry& array) {
  const std::set<int64_t>& live = LiveElements(state, array.job.id());
  std::vector<Element> elements;
  elements.reserve(array.elements.size() + live.size());
  for (const v1::ArrayElement& ended : array.elements) {
    elements.push_back({ended.index(), ended.state(), ended.job_id(), &ended, nullptr});
  }
  for (const int64_t id : live) {
    const JobEntry& entry = state.jobs.at(id);
    elements.push_back({entry.job.array_index(), entry.job.state(), id, nullptr, &entry});
  }
  return elements;
}

// Returns the elements of one page. Sorts only the page, because an array may have 1,000,000
// elements and the loop waits for the answer.
std::vector<Element> PageOf(const std::vector<Element>& elements, int64_t begin, int64_t end,
                            const v1::GetArrayRequest& request, const Observations& observations) {
  const double sign = request.reverse() ? -1 : 1;
  using Place = std::tuple<bool, double, int64_t, std::size_t>;
  std::vector<Place> places;
  places.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const SortKey key = KeyOf(elements[i], request.order(), observations);
    places.emplace_back(key.missing, sign * key.value, elements[i].index, i);
  }
  if (begin < end) std::nth_element(places.begin(), places.begin() + begin, places.end());
  std::partial_sort(places.begin() + begin, places.begin() + end, places.end());
  std::vector<Element> page;
  for (int64_t i = begin; i < end; ++i) page.push_back(elements[std::get<3>(places[i])]);
  return page;
}

v1::ArrayRow RowOf(const Element& element, const Observations& observations) {
  const Result result = ResultOf(element, observations);
  v1::ArrayRow row;
  row.set_index(element.index);
  row.set_job_id(element.job_id);
  row.set_state(element.state);
  row.set_step(result.step);
  if (result.loss.has_value()) row.set_loss(*result.loss);
  if (result.validation_loss.has_value()) row.set_validation_loss(*result.validation_loss);
  if (element.ended != nullptr) row.set_reason(element.ended->reason());
  return row;
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
  const std::vector<Element> elements = ElementsOf(view.state, array);
  v1::GetArrayResponse response;
  response.set_job_id(job.id());
  response.set_name(job.name());
  response.set_state(job.state());
  *response.mutable_counts() = job.array();
  const std::size_t older =
      array.rungs.size() - std::min<std::size_t>(array.rungs.size(), kMaxArrayRows);
  response.mutable_rungs()->Add(array.rungs.begin() + older, array.rungs.end());
  response.set_total(std::ssize(elements));
  response.set_as_of_ms(view.now);
  const int64_t begin = std::min(request.offset(), response.total());
  const int64_t limit = request.limit() == 0 ? kDefaultRows : request.limit();
  const int64_t end = std::min(response.total(), begin + limit);
  for (const Element& element : PageOf(elements, begin, end, request, view.observations)) {
    v1::ArrayRow& row = *response.add_rows();
    row = RowOf(element, view.observations);
    AddSettings(matrix, row);
  }
  return response;
}

}  // namespace trainyard::controller

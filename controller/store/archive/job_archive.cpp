#include "controller/store/archive/job_archive.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// Returns the completed share of the job's steps, from 0 to 1.
double PartDone(const v1::Progress& progress) {
  if (progress.total_steps() <= 0) return 0;
  return static_cast<double>(progress.step()) / static_cast<double>(progress.total_steps());
}

double LossKey(double loss) { return std::isfinite(loss) ? loss : kUnknownKey; }

// Returns a sort key that places the highest positive value first. Zero means unknown.
double HighestFirst(double value) {
  return value > 0 && std::isfinite(value) ? -value : kUnknownKey;
}

double EtaKey(const v1::Job& job, const v1::Progress& progress) {
  const double eta = progress.eta_seconds();
  return !HasEnded(job.state()) && eta > 0 && std::isfinite(eta) ? eta : kUnknownKey;
}

double SlotsOf(const v1::Job& job) {
  const v1::ResourcesSpec& resources = job.spec().resources();
  return static_cast<double>(resources.nodes()) * static_cast<double>(resources.slots_per_node());
}

double FigureKey(v1::JobOrder order, const v1::Job& job, const v1::Progress& progress) {
  switch (order) {
    case v1::JOB_ORDER_LOSS:
      return progress.loss() != 0 ? LossKey(progress.loss()) : kUnknownKey;
    case v1::JOB_ORDER_BEST_LOSS:
      return progress.has_best_loss() ? LossKey(progress.best_loss()) : kUnknownKey;
    case v1::JOB_ORDER_RATE:
      return HighestFirst(progress.tokens_per_second());
    case v1::JOB_ORDER_ETA:
      return EtaKey(job, progress);
    case v1::JOB_ORDER_SLOTS:
      return -SlotsOf(job);
    case v1::JOB_ORDER_RESTARTS:
      return -static_cast<double>(job.restarts());
    default:
      return 0;
  }
}

bool HoldsText(const v1::Job& job, const std::string& lower) {
  const auto holds = [&](const std::string& text) {
    return absl::StrContains(absl::AsciiStrToLower(text), lower);
  };
  return holds(absl::StrCat(job.id())) || holds(job.name()) || holds(job.user()) ||
         holds(job.spec().description());
}

}  // namespace

JobPlace PlaceOf(v1::JobOrder order, const v1::Job& job, const v1::Progress& progress) {
  const int64_t newest_first = -job.id();
  switch (order) {
    case v1::JOB_ORDER_NAME:
      return {0, job.name(), newest_first};
    case v1::JOB_ORDER_USER:
      return {0, job.user(), newest_first};
    case v1::JOB_ORDER_STATE:
      return {job.state(), "", newest_first};
    case v1::JOB_ORDER_PROGRESS:
      return {-PartDone(progress), "", newest_first};
    case v1::JOB_ORDER_ENDED:
      return {job.ended_time_ms() == 0 ? -1e18 : -static_cast<double>(job.ended_time_ms()), "",
              newest_first};
    default:
      return {FigureKey(order, job, progress), "", newest_first};
  }
}

JobPlace PlaceIn(const v1::ListJobsRequest& request, const v1::Job& job,
                 const v1::Progress& progress) {
  JobPlace place = PlaceOf(request.order(), job, progress);
  double& key = std::get<0>(place);
  if (request.reverse() && key == kUnknownKey) key = -kUnknownKey;
  return place;
}

bool PassesFilters(const v1::ListJobsRequest& request, const v1::Job& job) {
  if (!request.user().empty() && request.user() != job.user()) return false;
  if (!request.name().empty() && request.name() != job.name()) return false;
  const auto& states = request.states();
  if (!states.empty() && std::find(states.begin(), states.end(), job.state()) == states.end()) {
    return false;
  }
  return request.text().empty() || HoldsText(job, absl::AsciiStrToLower(request.text()));
}

}  // namespace trainyard::controller

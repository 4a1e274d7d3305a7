#include "controller/core/decide/halving.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/support/controller_event.h"
#include "proto/contract/token_format.h"

namespace trainyard::controller {
namespace {

constexpr double kDefaultKeep = 0.5;

// A metric and the step at which it was measured. step 0: not measured yet.
struct MeasuredMetric {
  int64_t step = 0;
  double value = 0;
};

// Returns the newest metric of the job.
MeasuredMetric NewestMetric(const v1::Progress& progress, const std::string& metric) {
  if (metric == "loss") return {progress.loss_step(), progress.loss()};
  for (const v1::EvaluatedLoss& evaluated : progress.evaluations()) {
    if (evaluated.data_set() == token_format::kValidationSplit) {
      return {evaluated.step(), evaluated.loss()};
    }
  }
  return {};
}

RungField FieldOf(const JobEntry& array, int64_t step) {
  RungField field;
  for (const v1::ArrayRung& rung : array.rungs) {
    if (rung.step() != step) continue;
    field.metrics.push_back(rung.has_metric() ? std::optional(rung.metric()) : std::nullopt);
  }
  for (const v1::ArrayElement& element : array.elements) {
    field.failed += element.state() == v1::JOB_STATE_FAILED && element.step() < step;
  }
  return field;
}

// Returns the step of the element's next rung; 0 if it has passed all of them.
int64_t NextRung(const v1::HalvingSpec& halving, const v1::Job& element) {
  int64_t step = 0;
  if (element.array_rungs() >= halving.at_step_size()) return 0;
  return absl::SimpleAtoi(halving.at_step(element.array_rungs()), &step) ? step : 0;
}

// Returns the rung that the element has reached, without a decision. nullopt: none.
std::optional<v1::ArrayRung> ReachedRung(const JobEntry& array, const JobEntry& element,
                                         const Observations& observations) {
  const v1::HalvingSpec& halving = array.job.spec().halving();
  const int64_t step = NextRung(halving, element.job);
  const bool trains = element.job.state() == v1::JOB_STATE_RUNNING && !HasFinished(element);
  const auto progress = observations.progress.find(element.job.id());
  if (step == 0 || !trains || progress == observations.progress.end()) return std::nullopt;
  const MeasuredMetric measured = NewestMetric(progress->second, halving.metric());
  if (measured.step < step) return std::nullopt;
  v1::ArrayRung rung;
  rung.set_step(step);
  rung.set_index(element.job.array_index());
  if (std::isfinite(measured.value)) rung.set_metric(measured.value);
  return rung;
}

}  // namespace

v1::ArrayRung DecideRung(std::optional<double> metric, const RungField& field, double keep) {
  v1::ArrayRung rung;
  if (metric.has_value()) rung.set_metric(*metric);
  const auto precedes = [&](const std::optional<double>& other) {
    return other.has_value() ? !metric.has_value() || *other <= *metric : !metric.has_value();
  };
  rung.set_rank(1 + static_cast<int>(std::ranges::count_if(field.metrics, precedes)));
  rung.set_compared(1 + static_cast<int>(field.metrics.size()) + field.failed);
  rung.set_stopped(rung.rank() > std::ceil(keep * rung.compared()));
  return rung;
}

std::vector<v1::Event> HalvingEventsDue(const ClusterState& state, const Observations& observations,
                                        Timestamp now) {
  std::vector<v1::Event> events;
  for (const auto& [array_id, elements] : state.live_elements) {
    const JobEntry& array = state.jobs.at(array_id);
    if (!array.job.spec().has_halving()) continue;
    for (const int64_t id : elements) {
      const auto reached = ReachedRung(array, state.jobs.at(id), observations);
      if (!reached.has_value()) continue;
      const v1::HalvingSpec& halving = array.job.spec().halving();
      v1::ArrayRung rung = DecideRung(
          reached->has_metric() ? std::optional(reached->metric()) : std::nullopt,
          FieldOf(array, reached->step()), halving.has_keep() ? halving.keep() : kDefaultKeep);
      rung.set_step(reached->step());
      rung.set_index(reached->index());
      v1::ArrayHalved& halved = *events.emplace_back(ControllerEvent(now)).mutable_array_halved();
      halved.set_job_id(array_id);
      halved.set_element_id(id);
      *halved.mutable_rung() = rung;
      if (rung.stopped()) {
        v1::Event& stop = events.emplace_back(ControllerEvent(now));
        stop.mutable_job_stop_requested()->set_job_id(id);
        stop.mutable_job_stop_requested()->set_halved(true);
      }
      // The next decision depends on this one, so it is made after this one is applied.
      break;
    }
  }
  return events;
}

}  // namespace trainyard::controller

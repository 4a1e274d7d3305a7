#include "controller/core/schedule/placement_events.h"

#include <string>
#include <utility>

#include "controller/core/schedule/size_change.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/rollbacks.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/support/controller_event.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// Sets the checkpoint and the step from which the attempt continues the training.
void SetStart(const JobEntry& entry, v1::JobPlaced& placed) {
  const v1::Attempt* before = NewestAttempt(entry);
  const StartingPoint start = NextStartingPoint(entry.job);
  const bool resumes =
      before != nullptr && (entry.job.paused_from_ms() != 0 || IsInterrupted(*before));
  placed.set_resumed(resumes);
  placed.set_resume_from(start.path);
  placed.set_resume_step(start.step);
  placed.set_resume_attempt(start.attempt);
  placed.set_skip_samples(SkippedSamples(entry.job));
  const double lr_factor = LearningRateFactor(entry.job);
  if (lr_factor != 1) placed.set_lr_factor(lr_factor);
}

v1::Event PlacedEvent(const ClusterState& state, const Placement& placement, Timestamp now) {
  const JobEntry& entry = state.jobs.at(placement.job_id);
  v1::Event event = ControllerEvent(now);
  v1::JobPlaced& placed = *event.mutable_job_placed();
  placed.set_job_id(placement.job_id);
  placed.set_attempt(placement.attempt);
  const int training_nodes = GangRequestOf(entry.job.spec()).nodes;
  for (v1::RankPlacement& rank : RanksOf(placement.gang, training_nodes)) {
    *placed.add_ranks() = std::move(rank);
  }
  placed.set_master_address(placement.master_address);
  placed.set_master_port(placement.master_port);
  SetStart(entry, placed);
  if (placement.layout.has_value()) *placed.mutable_layout() = *placement.layout;
  placed.set_size_change(SizeChangeText(state, entry, placement.gang));
  return event;
}

}  // namespace

std::vector<v1::Event> PlacementEvents(const ClusterState& state, const RootSightings& roots,
                                       const Placement& placement, Timestamp now) {
  const JobEntry& entry = state.jobs.at(placement.job_id);
  std::vector<v1::Event> events = {PlacedEvent(state, placement, now)};
  if (NewestAttempt(entry) != nullptr) return events;
  const std::string warning = RootWarning(state, entry.job.spec(), roots);
  if (warning.empty()) return events;
  v1::AlertRaised& alert = *events.emplace_back(ControllerEvent(now)).mutable_alert_raised();
  alert.set_job_id(placement.job_id);
  alert.set_attempt(placement.attempt);
  alert.set_code(telemetry::kUnsharedRoot);
  alert.set_message(std::string(Utf8Prefix(warning, kMaxAlertBytes)));
  return events;
}

}  // namespace trainyard::controller

// What the controller has heard lately: heartbeats, progress, what each worker runs. Not durable: a
// restarted controller begins with nothing, and counts silence from its own start.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>

#include "controller/core/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct NodeObservation {
  // A worker's stream is open.
  bool attached = false;
  // By the controller's clock.
  Timestamp last_heartbeat_ms = 0;
  // Newest report of each attempt that the worker has on disk.
  std::map<AttemptKey, v1::AttemptReport> reports;
};

struct RankObservation {
  int64_t step = 0;
  // Lines of its output in which the job's log parser has found no step, by its worker; 0 once it
  // has found one.
  int64_t unmatched_lines = 0;
  // What it said of its times and memory last.
  v1::RankRecord newest;
  std::string phase;
  // Since when it is in this phase, by the controller's clock.
  Timestamp phase_since_ms = 0;
  // False when its worker's newest report says so: it has not started or it has ended, and the fact
  // that says which may still be on its way.
  bool running = true;
  // When that was first reported of a rank that had run; 0 while it runs.
  Timestamp left_ms = 0;
  // When step, phase or activity last moved, by the controller's clock.
  Timestamp last_progress_ms = 0;
  // Since when it has moved within this phase without a long pause, as far as the controller knows.
  // Many ranks write nothing while they train: that one of those stands still tells nothing.
  Timestamp moving_since_ms = 0;
  // How long it had moved so in its earlier stretches of training, as far as only saving and
  // evaluating lay between them: a job that saves often is steady too.
  int64_t steady_before_ms = 0;
};

// Nothing but steps is expected of a rank in this phase.
bool IsTraining(const RankObservation& rank);

// How long the rank had moved steadily while it trained, up to its last movement.
int64_t SteadyMs(const RankObservation& rank);

// No rank has spoken for the gang yet.
inline constexpr int kNoReportingRank = std::numeric_limits<int>::max();

struct AttemptObservation {
  // Workers that have it on disk; forgotten together with the last one.
  int reporting_nodes = 0;
  std::map<int, RankObservation> ranks;
  // The lowest rank that has written metrics: it speaks for the gang.
  int reporting_rank = kNoReportingRank;
  // Steps of the whole run; 0 when its trainer has not said.
  int64_t total_steps = 0;
  // Newest step times in seconds, at most kStepTimesKept.
  std::deque<double> step_seconds;
};

inline constexpr std::size_t kStepTimesKept = 256;

struct Observations {
  // When the controller started to listen.
  Timestamp since_ms = 0;
  std::map<std::string, NodeObservation> nodes;
  std::map<AttemptKey, AttemptObservation> attempts;
  // Newest metrics of each job, for progress lines.
  std::map<int64_t, v1::Progress> progress;
};

// Records that a worker attached, detached, or sent a heartbeat.
void ObserveAttached(const v1::Hello& hello, Timestamp now, Observations& observations);
void ObserveDetached(const std::string& node_id, Timestamp now, Observations& observations);
void ObserveHeartbeat(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
                      Observations& observations);

// Records that the controller does not read what the node sends: it is not silent, and that its
// ranks are not seen to move tells nothing of them.
void ObserveUnread(const std::string& node_id, Timestamp now, Observations& observations);

// Records progress from a batch of telemetry of one rank.
void ObserveTelemetry(const v1::TelemetryBatch& batch, Timestamp now, Observations& observations);

// Takes metrics out of a batch that ObserveTelemetry has seen, unless its rank speaks for the gang:
// a curve never mixes what several ranks say of the same step.
void KeepReportingRanksMetrics(const Observations& observations, v1::TelemetryBatch& batch);

// The longest that a rank of the attempt stands still while it trains and all is well.
int64_t LongestGapMs(const AttemptObservation& attempt);

// Highest step that any rank has reported.
int64_t LastStep(const AttemptObservation& attempt);

// The controller itself stood still for `gap_ms` until now, or its clock was set by as much (back
// when negative): nobody's silence and nobody's standing still grows by it. What has been heard by
// the new clock already stays as it is.
void ShiftHeartbeats(int64_t gap_ms, Timestamp now, Observations& observations);

// When the node was last heard; a node that this controller has never heard counts from its start.
Timestamp LastHeartbeat(const Observations& observations, const std::string& node_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_H_

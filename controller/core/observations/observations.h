// Newest reports of workers: heartbeats, progress, attempts on disk. Not durable: a restarted
// controller begins with nothing, and counts time without a heartbeat from its own start.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/core/observations/compute_window.h"
#include "controller/core/observations/loss_watch.h"
#include "controller/core/observations/node_clock.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/observations/step_times.h"
#include "controller/core/support/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Workers report once a second.
inline constexpr int64_t kReportPauseMs = 3000;

struct NodeObservation {
  // A worker's stream is open.
  bool attached = false;
  // Release of a worker that sent its node's secret instead of a proof; empty for any other.
  std::string older_release;
  // Time of the last message of the worker, by the controller's clock.
  Timestamp last_heartbeat_ms = 0;
  // Time of its newest reports (in a heartbeat or Hello), and start of the series of reports that
  // came without a pause of more than kReportPauseMs. Other messages show that the worker lives,
  // but tell nothing about its ranks.
  Timestamp last_report_ms = 0;
  Timestamp reports_since_ms = 0;
  // Newest report of the node's own condition.
  v1::NodeCondition condition;
  // Newest report of each attempt that the worker has on disk.
  std::map<AttemptKey, v1::AttemptReport> reports;
  // Newest checks of the node, and when they came.
  std::vector<v1::NodeCheck> checks;
  Timestamp checked_ms = 0;
  NodeClock clock;
  // Attempts whose start was sent since the worker's newest Welcome, and that it has not reported
  // yet. A stream that ends before its Welcome proves nothing about an earlier start.
  std::set<AttemptKey> starts_sent;
  bool welcomed = false;  // By this run of the controller, once.
  // Its open stream has had its Welcome, so commands reach it.
  bool takes_commands = false;
};

struct RankObservation {
  int64_t step = 0;
  // Lines of its output in which the job's log parser has found no step, by its worker; 0 once it
  // has found one.
  int64_t unmatched_lines = 0;
  // Its newest report of times and memory.
  v1::RankRecord newest;
  // Step of the first such report in the generation of the newest one.
  int64_t first_step_of_generation = 0;
  std::string phase;
  // Start of its present phase, by the controller's clock.
  Timestamp phase_since_ms = 0;
  // False when the newest report of its worker says that it does not run: it has not started or it
  // has ended. The fact that tells the two apart may still be on its way.
  bool running = true;
  // Newest report that it runs; 0: none.
  Timestamp ran_ms = 0;
  // Time of the first report that the rank, which had run, runs no more; 0 while it runs.
  Timestamp left_ms = 0;
  // Since when its worker has seen neither a new step nor a new phase of it, and since when neither
  // telemetry nor output, by the controller's clock; 0 before a report. The worker measures both
  // times: telemetry or output that arrives late is no progress.
  Timestamp still_since_ms = 0;
  Timestamp quiet_since_ms = 0;
  // Start of its steady progress (without a long pause) within this phase, and the newest progress
  // that a report has shown by another step, phase or output than the report before. A rank that
  // reports no steps may write nothing while it trains: for such a rank no progress proves nothing.
  Timestamp moving_since_ms = 0;
  Timestamp moving_until_ms = 0;
  // RankReport.slow_step_ms.
  int64_t slow_step_ms = 0;
  // Its computing times, of the steps that it measured.
  ComputeWindow compute;
  // Its newest phase record and the time of that, by the controller's clock; 0 before the first.
  std::string recorded_phase;
  int64_t recorded_phase_ms = 0;
  // Milliseconds of steady progress in its earlier stretches of training, as long as only saving
  // and evaluating lay between them: a job that saves often is steady too.
  int64_t steady_before_ms = 0;
};

// True when the rank is in a phase in which only steps are expected.
bool IsTraining(const RankObservation& rank);
// True in the phases before the first step.
bool IsStarting(const RankObservation& rank);

// True when the rank reports steps or phases; else its output is its only sign of life.
bool ReportsSteps(const RankObservation& rank);

// Time of the rank's newest progress: a step or a new phase, or output of a rank that reports no
// steps. 0 before a report. Pauses and absences of its worker are left out, so that it may be later
// than moving_until_ms.
Timestamp LastProgress(const RankObservation& rank);

// Milliseconds of steady progress of the rank while it trained, up to its last progress.
int64_t SteadyMs(const RankObservation& rank);

// Value of reporting_rank until a rank has written metrics.
inline constexpr int kNoReportingRank = std::numeric_limits<int>::max();

// The newest save of an attempt that could not write.
struct SaveTrouble {
  int64_t step = 0;
  std::string message;
  // The last save waits until it can write; else training goes on.
  bool blocked = false;
  // The ranks do not see the same checkpoint directory: more space does not help.
  bool unshared = false;
};

struct AttemptObservation {
  // Number of workers that have the attempt on disk; at 0 the observation is forgotten.
  int reporting_nodes = 0;
  // By place (gang.h): standbys are not observed, and a rank that was replaced is no more.
  std::map<int, RankObservation> ranks;
  // The lowest rank that has written metrics: its metrics are those of the gang.
  int reporting_rank = kNoReportingRank;
  // Steps of the whole run; 0 until its trainer has reported them.
  int64_t total_steps = 0;
  // Of the reporting rank.
  StepTimes step_times;
  // The slow_step_ms of all ranks that have one: each report asks for the longest.
  std::multiset<int64_t> slow_steps_ms;
  // Some rank reports how long it computes.
  bool measures_compute = false;
  // Its first two steps that differ, in the order of their reports; 0 until they have come.
  std::array<int64_t, 2> first_steps{};
  // Until a later save is published.
  std::optional<SaveTrouble> save_trouble;
};

// Records of a job that were left out of the event log (left_out.h).
struct LeftOutRecords {
  int64_t checkpoints = 0;
  int64_t alerts = 0;
  Timestamp newest_ms = 0;
};

struct Observations {
  // Time when the controller started to receive messages.
  Timestamp since_ms = 0;
  // Sum of the steps of the controller's clock since then: `now - stepped_ms` is steady.
  int64_t stepped_ms = 0;
  // End of the last time in which the controller itself stalled; 0: it never did.
  Timestamp resumed_ms = 0;
  std::map<std::string, NodeObservation> nodes;
  // Nodes whose newest report names a trouble.
  std::set<std::string> troubled_nodes;
  // Nodes whose newest report names errors of devices.
  std::set<std::string> nodes_with_device_errors;
  std::map<AttemptKey, AttemptObservation> attempts;
  // Directories that nodes see at the path of the checkpoint root.
  RootSightings roots;
  // Newest metrics of each job, for progress lines.
  std::map<int64_t, v1::Progress> progress;
  // Newest losses of each job, for the loss guard.
  std::map<int64_t, LossWatch> losses;
  // Longest of the ended phases of each kind that any rank of the job was in, for the watchdog.
  std::map<int64_t, std::map<std::string, int64_t>> longest_phase_ms;
  // By job, since the controller's start.
  std::map<int64_t, LeftOutRecords> left_out;
};

// Longest of the phases of this name that ranks of the job have ended; nullopt before the first.
std::optional<int64_t> LongestPhaseMs(const Observations& observations, int64_t job_id,
                                      const std::string& phase);

// nullptr when no worker has reported the attempt.
const AttemptObservation* ObservedAttempt(const Observations& observations, const AttemptKey& key);

// Highest step that any rank has reported.
int64_t LastStep(const AttemptObservation& attempt);
// Steps of the whole run: as the program says, else as the job file has it; 0 when neither does.
int64_t TotalSteps(const AttemptObservation& attempt, const v1::Job& job);

// The worker's words about a process of the attempt on the node that cannot be killed; empty while
// it reports none.
std::string UnkillableOn(const Observations& observations, const std::string& node_id,
                         const AttemptKey& attempt);

// True when the worker's stream is open.
bool IsAttached(const Observations& observations, const std::string& node_id);

// True when the worker has left on request and has not come back. It starts nothing any more, and
// its last report names every attempt that it has.
bool HasLeft(const NodeObservation& node);

// NodeClock::AheadMs of the node; nullopt also when the controller has no message from it.
std::optional<int64_t> ClockAheadMs(const Observations& observations, const std::string& node_id);

// Time of the node's last heartbeat; the controller's start when it has received none from the
// node.
Timestamp LastHeartbeat(const Observations& observations, const std::string& node_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_

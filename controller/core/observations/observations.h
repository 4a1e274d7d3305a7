// Newest reports of workers: heartbeats, progress, attempts on disk. Not durable: a restarted
// controller begins empty and measures time without a heartbeat from its own start.
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
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Longest pause within a series of reports. Workers report once per second.
inline constexpr int64_t kReportPauseMs = 3000;

struct NodeObservation {
  // True while the worker's stream is open.
  bool attached = false;
  // Release of a worker that sent its node's secret instead of a proof; empty for other workers.
  std::string older_release;
  // Time of the worker's last message, by the controller's clock.
  Timestamp last_heartbeat_ms = 0;
  // Time of the newest report (heartbeat or Hello), and start of the current series of reports,
  // which has no pause longer than kReportPauseMs. Other messages only show that the worker is
  // alive; they do not contain the state of its ranks.
  Timestamp last_report_ms = 0;
  Timestamp reports_since_ms = 0;
  // Newest report of the node's own condition.
  v1::NodeCondition condition;
  // Newest report of each attempt that the worker has on disk.
  std::map<AttemptKey, v1::AttemptReport> reports;
  // Newest checks of the node, and their arrival time.
  std::vector<v1::NodeCheck> checks;
  Timestamp checked_ms = 0;
  NodeClock clock;
  // Attempts whose start was sent since the worker's newest Welcome and which the worker has not
  // reported yet. A stream that ends before its Welcome reveals nothing about an earlier start.
  std::set<AttemptKey> starts_sent;
  bool welcomed = false;  // This controller process has welcomed the worker at least once.
  // The open stream has received its Welcome, so it accepts commands.
  bool takes_commands = false;
};

struct RankObservation {
  int64_t step = 0;
  // Lines of output, counted by the worker, in which the job's log parser found no step. 0 once it
  // found one.
  int64_t unmatched_lines = 0;
  // Newest report of step times and memory.
  v1::RankRecord newest;
  // Step of the first such report in the generation of `newest`.
  int64_t first_step_of_generation = 0;
  std::string phase;
  // Start of the current phase, by the controller's clock.
  Timestamp phase_since_ms = 0;
  // False if the worker's newest report says that the rank is not running: it has not started, or
  // has ended. The fact that shows which may not have arrived yet.
  bool running = true;
  // Time of the newest report that the rank is running; 0 if none.
  Timestamp ran_ms = 0;
  // Time of the first report that the rank is no longer running; 0 while it runs.
  Timestamp left_ms = 0;
  // Time of the last new step or phase, and time of the last telemetry or output, converted to the
  // controller's clock; 0 before a report. The worker measures both times, so telemetry or output
  // that arrives late does not count as progress.
  Timestamp still_since_ms = 0;
  Timestamp quiet_since_ms = 0;
  // Start of the steady progress (without a long pause) within this phase, and time of the newest
  // progress: a report whose step, phase or output differs from the previous one. A rank that
  // reports no steps may write nothing while it trains, so its lack of progress proves nothing.
  Timestamp moving_since_ms = 0;
  Timestamp moving_until_ms = 0;
  // RankReport.slow_step_ms.
  int64_t slow_step_ms = 0;
  // Compute times of measured steps.
  ComputeWindow compute;
  // Phase of the newest phase record, and its time by the controller's clock; 0 before the first
  // one.
  std::string recorded_phase;
  int64_t recorded_phase_ms = 0;
  // Milliseconds of steady progress in earlier training periods that were interrupted only by
  // saving and evaluation. Thus a job that saves often also counts as steady.
  int64_t steady_before_ms = 0;
};

// True while the rank is in a phase in which only steps are expected.
bool IsTraining(const RankObservation& rank);
// True if the rank is in a phase before the first step.
bool IsStarting(const RankObservation& rank);

// True if the rank reports steps or phases. If not, output is its only sign of life.
bool ReportsSteps(const RankObservation& rank);

// Time of the rank's newest progress: a step or new phase, or output if the rank reports no steps.
// 0 before a report. Time in which the worker was paused or not running does not count against the
// rank, so the result may be later than moving_until_ms.
Timestamp LastProgress(const RankObservation& rank);

// Milliseconds of steady progress up to the newest progress: earlier training periods plus the
// current phase.
int64_t SteadyMs(const RankObservation& rank);

// Value of reporting_rank before a rank has written metrics.
inline constexpr int kNoReportingRank = std::numeric_limits<int>::max();

// Newest failed save of an attempt.
struct SaveProblem {
  int64_t step = 0;
  std::string message;
  // True if the final save of the run waits until it can write. If false, training continues.
  bool blocked = false;
  // The ranks see different checkpoint directories; freeing disk space does not help.
  bool unshared = false;
};

struct AttemptObservation {
  // Number of workers that have the attempt on disk. The observation is removed when it reaches 0.
  int reporting_nodes = 0;
  // By place (gang.h). Standbys and replaced ranks are not included.
  std::map<int, RankObservation> ranks;
  // Lowest rank that has written metrics. Its metrics represent the gang.
  int reporting_rank = kNoReportingRank;
  // Number of steps of the whole run; 0 until the trainer reports it.
  int64_t total_steps = 0;
  // Step times of the reporting rank.
  StepTimes step_times;
  // RankObservation::slow_step_ms of the ranks that report it. Sorted, because every report needs
  // the longest one.
  std::multiset<int64_t> slow_steps_ms;
  // At least one rank reports its compute time.
  bool measures_compute = false;
  // First two different steps, in order of their reports; 0 until reported.
  std::array<int64_t, 2> first_steps{};
  // Reset when a later save succeeds.
  std::optional<SaveProblem> save_problem;
};

// Number of records of a job that were left out of the event log (left_out.h).
struct LeftOutRecords {
  int64_t checkpoints = 0;
  int64_t alerts = 0;
  Timestamp newest_ms = 0;
};

struct Observations {
  // Time at which the controller started to receive messages.
  Timestamp since_ms = 0;
  // Sum of the steps of the controller's clock since since_ms: `now - stepped_ms` is steady.
  int64_t stepped_ms = 0;
  // End of the last stall of the controller; 0 if none.
  Timestamp resumed_ms = 0;
  std::map<std::string, NodeObservation> nodes;
  // Nodes whose newest report contains trouble.
  std::set<std::string> troubled_nodes;
  // Nodes whose newest report contains device errors.
  std::set<std::string> nodes_with_device_errors;
  std::map<AttemptKey, AttemptObservation> attempts;
  // Directories that nodes see at the path of the checkpoint root.
  RootSightings roots;
  // Newest metrics of each job, for progress display.
  std::map<int64_t, v1::Progress> progress;
  // Newest losses of each job, for the loss guard.
  std::map<int64_t, LossWatch> losses;
  // By job and phase: longest ended phase of any rank of the job, for the watchdog.
  std::map<int64_t, std::map<std::string, int64_t>> longest_phase_ms;
  // By job, since the start of the controller.
  std::map<int64_t, LeftOutRecords> left_out;
};

// Longest ended phase of this name among the job's ranks; nullopt if none has ended.
std::optional<int64_t> LongestPhaseMs(const Observations& observations, int64_t job_id,
                                      const std::string& phase);

// nullptr when no worker has reported the attempt.
const AttemptObservation* ObservedAttempt(const Observations& observations, const AttemptKey& key);

// Highest step reported by any rank.
int64_t LastStep(const AttemptObservation& attempt);
// Number of steps of the whole run: as reported by the program, else as set in the job file; 0 if
// neither is known.
int64_t TotalSteps(const AttemptObservation& attempt, const v1::Job& job);

// The worker's description of an unkillable process of the attempt on the node; empty if none is
// reported.
std::string UnkillableOn(const Observations& observations, const std::string& node_id,
                         const AttemptKey& attempt);

// True when the worker's stream is open.
bool IsAttached(const Observations& observations, const std::string& node_id);

// True if the worker left on request and has not reattached. It starts nothing, and its last report
// lists every attempt it has.
bool HasLeft(const NodeObservation& node);

// NodeClock::AheadMs of the node; also nullopt if the controller has received no message from it.
std::optional<int64_t> ClockAheadMs(const Observations& observations, const std::string& node_id);

// Time of the node's last heartbeat, at least the controller's start.
Timestamp LastHeartbeat(const Observations& observations, const std::string& node_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_

// The newest reports of workers: heartbeats, progress, and attempts on disk. The reports are not
// durable: after a restart, the controller begins without observations and measures the time
// without a heartbeat from its own start.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controller/core/observations/compute_window.h"
#include "controller/core/observations/device_history.h"
#include "controller/core/observations/divergence_watch.h"
#include "controller/core/observations/expert_watch.h"
#include "controller/core/observations/loss_watch.h"
#include "controller/core/observations/node_clock.h"
#include "controller/core/observations/pace_watch.h"
#include "controller/core/observations/rate_watch.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/observations/step_times.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// The longest pause between two reports of the same series. Workers report once per second.
inline constexpr int64_t kReportPauseMs = 3000;
// The maximum of times reported by workers. Such times are untrusted input.
inline constexpr int64_t kLongestStillMs = 365 * 86'400'000LL;

struct NodeObservation {
  // True while the worker's stream is open.
  bool attached = false;
  // The release of the worker, if the worker sent its node's secret instead of a proof. Empty for
  // other workers.
  std::string older_release;
  // The time of the worker's last message, by the controller's clock.
  Timestamp last_heartbeat_ms = 0;
  // The time of the newest report, and the start of the current series of reports. A report is a
  // heartbeat or a Hello. A series ends with a pause longer than kReportPauseMs. Other messages
  // only show that the worker is alive, because they do not contain the state of the ranks.
  Timestamp last_report_ms = 0;
  Timestamp reports_since_ms = 0;
  // The newest report about the condition of the node itself.
  v1::NodeCondition condition;
  // The newest report about each attempt that the worker has on disk.
  std::map<AttemptKey, v1::AttemptReport> reports;
  // The newest checks of the node, and the time at which they arrived.
  std::vector<v1::NodeCheck> checks;
  Timestamp checked_ms = 0;
  NodeClock clock;
  DeviceRecords devices;
  // Attempts that the worker has not reported yet, although their start was sent since its newest
  // Welcome. A stream that ends before its Welcome reveals nothing about an earlier start, so the
  // set is kept. A report after the node has confirmed the end of an attempt removes the attempt.
  std::set<AttemptKey> starts_sent;
  bool welcomed = false;  // True if this controller process has sent the worker a Welcome.
  // True if the worker has received its Welcome over the open stream, so that it accepts commands.
  bool takes_commands = false;
};

struct RankObservation {
  int64_t step = 0;
  // The number of output lines in which the job's log parser found no step, as counted by the
  // worker. 0 as soon as a step was found.
  int64_t unmatched_lines = 0;
  // The newest report of step times and memory.
  v1::RankRecord newest;
  // The step of the first report of step times and memory in the generation to which `newest`
  // belongs.
  int64_t first_step_of_generation = 0;
  std::string phase;
  // The start of the current phase, by the controller's clock.
  Timestamp phase_since_ms = 0;
  // False if the rank is not running according to the worker's newest report: it has not started,
  // or it has ended. The fact about the start or the end may not have arrived yet.
  bool running = true;
  // The time of the newest report in which the rank is running. 0 if there is none.
  Timestamp ran_ms = 0;
  // The time of the first report in which the rank is no longer running. 0 while the rank runs.
  Timestamp left_ms = 0;
  // The time of the last new step or phase, and the time of the last telemetry or output. 0 before
  // the first report. The worker measures both times; the controller converts them to its own
  // clock. Therefore telemetry or output that arrives late does not count as progress.
  Timestamp still_since_ms = 0;
  Timestamp quiet_since_ms = 0;
  // The start of steady progress (progress without a long pause) within this phase, and the time of
  // the newest progress. A report shows progress if its step, phase or output differs from the
  // previous report. If the rank reports no steps, a lack of progress proves nothing, because such
  // a rank may write nothing while it trains.
  Timestamp moving_since_ms = 0;
  Timestamp moving_until_ms = 0;
  // RankReport.slow_step_ms.
  int64_t slow_step_ms = 0;
  // The compute times of steps that were measured.
  ComputeWindow compute;
  // The phase in the newest phase record, and the record's time by the controller's clock (0 before
  // the first record).
  std::string recorded_phase;
  int64_t recorded_phase_ms = 0;
  // Milliseconds of steady progress in earlier training periods that only saves and evaluations
  // interrupted. A job that saves often therefore also counts as steady.
  int64_t steady_before_ms = 0;
};

// Returns true if the rank is in a phase in which it only makes steps: it trains, or it processes
// blocks of a data job.
bool IsTraining(const RankObservation& rank);
// Returns true if the rank is in a phase before its first step.
bool IsStarting(const RankObservation& rank);

// Returns true if the rank reports steps or phases. If it does not, its output is the only evidence
// that it is alive.
bool ReportsSteps(const RankObservation& rank);

// Returns the time of the rank's newest progress: a step, a new phase or, if the rank reports no
// steps, output. Returns 0 before the first report. The result may be later than moving_until_ms,
// because time in which the worker was paused or not running does not count as a lack of progress.
Timestamp LastProgress(const RankObservation& rank);

// Returns the milliseconds of steady progress up to the newest progress: the sum of earlier
// training periods and the current phase.
int64_t SteadyMs(const RankObservation& rank);

// The value of reporting_rank until a rank has written metrics.
inline constexpr int kNoReportingRank = std::numeric_limits<int>::max();

// The newest failed save of an attempt.
struct SaveProblem {
  int64_t step = 0;
  std::string message;
  // True if the final save of the run waits until it can write. If false, training continues after
  // the failed save.
  bool blocked = false;
  // True if the ranks see different checkpoint directories. In this case, freeing disk space does
  // not help.
  bool unshared = false;
  // The time of the first of the consecutive failed saves, by the controller's clock.
  Timestamp since_ms = 0;
};

// A period in which no rank of a gang made progress.
struct Stall {
  Timestamp since_ms = 0;
  Timestamp until_ms = 0;  // 0 while it lasts.
  // The newest time at which reports from all of the gang's nodes showed the stall.
  Timestamp seen_ms = 0;
};

// Telemetry lines of an attempt that its workers could not read. Counted since the start of the
// controller.
struct BadTelemetry {
  int64_t lines = 0;
  int rank = 0;       // The place that wrote `first`.
  std::string first;  // The first of these lines, after the reason.
};

// Restarts of ranks by their launcher within an attempt. Counted since the start of the controller.
struct LauncherRestarts {
  int64_t count = 0;
  std::string newest;  // The launcher's report of the newest restart, or of the failure before it.
  // The newest report of a failed rank, and its time by the node's clock. 0 if there is none, or if
  // its restart is counted.
  std::string failure;
  Timestamp failed_ms = 0;
};

struct AttemptObservation {
  // The number of workers that have the attempt on disk. When it reaches 0, this observation is
  // removed.
  int reporting_nodes = 0;
  // Ranks by their place (gang.h). Does not include standbys and replaced ranks.
  std::map<int, RankObservation> ranks;
  // The lowest rank that has written metrics. Its metrics are used for the whole gang.
  int reporting_rank = kNoReportingRank;
  // The number of steps of the whole run. 0 until the trainer reports it.
  int64_t total_steps = 0;
  // Step times of the reporting rank.
  StepTimes step_times;
  // RankObservation::slow_step_ms of all ranks that report it. Sorted, because every report needs
  // the largest value.
  std::multiset<int64_t> slow_steps_ms;
  // True if at least one rank reports its compute time.
  bool measures_compute = false;
  // The first two different steps, in the order in which they were reported. 0 until reported.
  std::array<int64_t, 2> first_steps{};
  // nullopt again as soon as a later save succeeds.
  std::optional<SaveProblem> save_problem;
  DivergenceWatch divergence;
  ExpertWatch experts;
  // The change of the learning rate at the start of the attempt.
  std::optional<RateChange> rate_change;
  BadTelemetry bad_telemetry;
  LauncherRestarts launcher_restarts;
  // The offset up to which each stream was observed, by rank and kind. After a reconnect, workers
  // resend telemetry that is not stored yet.
  std::map<std::pair<int, int>, int64_t> observed_until;
  // The newest stall (stall.h), as seen at the reports of workers. nullopt before the first.
  std::optional<Stall> stall;
  // The step and the time, by the controller's clock, of the newest metrics. 0 before the first.
  int64_t metrics_step = 0;
  Timestamp metrics_ms = 0;
  // The expected end of the last step, as of the newest metrics (EndOfSteps). 0: unknown.
  Timestamp steps_end_ms = 0;
};

// The number of a job's records that were left out of the event log (left_out.h).
struct LeftOutRecords {
  int64_t checkpoints = 0;
  int64_t alerts = 0;
  Timestamp newest_ms = 0;
};

struct Observations {
  // The time at which the controller started to receive messages.
  Timestamp since_ms = 0;
  // The sum of all changes of the controller's clock since since_ms. `now - stepped_ms` therefore
  // advances steadily.
  int64_t stepped_ms = 0;
  // The end of the last stall of the controller. 0 if there was none.
  Timestamp resumed_ms = 0;
  std::map<std::string, NodeObservation> nodes;
  // Nodes whose newest report contains trouble.
  std::set<std::string> troubled_nodes;
  // Nodes whose newest report contains device errors.
  std::set<std::string> nodes_with_device_errors;
  std::map<AttemptKey, AttemptObservation> attempts;
  // The directories that nodes see at the path of the checkpoint root.
  RootSightings roots;
  // The newest metrics of each job, for the progress display.
  std::map<int64_t, v1::Progress> progress;
  // The newest losses of each job, for the loss guard.
  std::map<int64_t, LossWatch> losses;
  // The rates of each job's steps.
  std::map<int64_t, PaceWatch> paces;
  // The learning rates of each job.
  std::map<int64_t, RateWatch> rates;
  // The longest ended phase of any rank, by job and phase name. Used by the watchdog.
  std::map<int64_t, std::map<std::string, int64_t>> longest_phase_ms;
  // Left-out records by job, counted since the start of the controller.
  std::map<int64_t, LeftOutRecords> left_out;
};

// Returns the longest ended phase with this name among the job's ranks. Returns nullopt if no such
// phase has ended.
std::optional<int64_t> LongestPhaseMs(const Observations& observations, int64_t job_id,
                                      const std::string& phase);

// Returns nullptr if no worker has reported the attempt.
const AttemptObservation* ObservedAttempt(const Observations& observations, const AttemptKey& key);

// Returns the highest step that any rank has reported.
int64_t LastStep(const AttemptObservation& attempt);
// Returns the number of steps of the whole run. Uses the number that the program has reported, or
// else the number in the job file. Returns 0 if neither is known.
int64_t TotalSteps(const AttemptObservation& attempt, const v1::Job& job);

// If a process of the attempt on this node survives SIGKILL, returns the worker's description of
// the process. Otherwise returns an empty string.
std::string UnkillableOn(const Observations& observations, const std::string& node_id,
                         const AttemptKey& attempt);

// Returns true if the worker's stream is open.
bool IsAttached(const Observations& observations, const std::string& node_id);

// Returns true if the worker left on request and has not attached again. Such a worker starts
// nothing, and its last report lists every attempt that it has.
bool HasLeft(const NodeObservation& node);

// Returns NodeClock::AheadMs of the node, or nullopt if the controller has received no message from
// the node.
std::optional<int64_t> ClockAheadMs(const Observations& observations, const std::string& node_id);

// Returns the time of the node's last heartbeat, but at least the time of the controller's start.
Timestamp LastHeartbeat(const Observations& observations, const std::string& node_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVATIONS_H_

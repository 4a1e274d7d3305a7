// The states of a live gang and the limit of each state. The limit is the longest time that a gang
// may be in the state without progress. At the limit, the watchdog (hang_watch.h) acts. `trainyard
// why` shows the limit, and README.md lists all limits.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_GANG_LIMIT_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_GANG_LIMIT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The minimum limit that is derived from the job's earlier phases or starts.
inline constexpr int64_t kShortestPhaseLimitMs = 120'000;
// The time, in addition to stop_grace, after which a stopping gang reaches its limit.
inline constexpr int64_t kUnkillableReportMs = 10'000;

// If the ranks of a gang are in several states, the gang is in the state with the longest limit.
enum class GangState {
  kNotStarted,    // Some rank of the attempt has not started.
  kSilent,        // No rank has reported a step or a phase.
  kUnphased,      // Steps without phases.
  kOwnPhase,      // A phase that phase.h does not define.
  kPreparesData,  // A data job, in any phase.
  kStart,         // init or load.
  kFirstStep,     // Phase train, before the first step.
  kSecondStep,    // Phase train, before the second step.
  kTrain,
  kCheckpoint,
  kEvaluation,
  kFinish,      // The last step is complete, or the ranks report the phase `done`.
  kLeft,        // A rank exited with 0, and the others do not save or evaluate.
  kAwaitsHeal,  // No heal has begun, but a rank waits for a heal order or a place.
  kHealing,
  kStopping,  // Includes gangs whose ranks all exited with 0, until their nodes confirm it.
};

// The consequence when a gang reaches its limit.
enum class AtLimit {
  kStalled,    // The verdict is `stalled`, or an alert is raised (see watchdog.action).
  kHealFails,  // The attempt ends with the verdict on the failure before the heal.
  kReported,   // Only `trainyard why` reports it.
};

struct GangStateRow {
  GangState state;
  // Completes the sentence "the gang ...".
  const char* text;
  AtLimit at_limit;
};

inline constexpr std::array kGangStates = {
    GangStateRow{GangState::kNotStarted, "waits for ranks to start", AtLimit::kStalled},
    GangStateRow{GangState::kSilent, "reports neither steps nor phases", AtLimit::kStalled},
    GangStateRow{GangState::kUnphased, "reports steps but no phases", AtLimit::kStalled},
    GangStateRow{GangState::kOwnPhase, "is in a custom phase", AtLimit::kStalled},
    GangStateRow{GangState::kPreparesData, "prepares data", AtLimit::kStalled},
    GangStateRow{GangState::kStart, "starts", AtLimit::kStalled},
    GangStateRow{GangState::kFirstStep, "runs its first step", AtLimit::kStalled},
    GangStateRow{GangState::kSecondStep, "runs its second step", AtLimit::kStalled},
    GangStateRow{GangState::kTrain, "trains", AtLimit::kStalled},
    GangStateRow{GangState::kCheckpoint, "saves", AtLimit::kStalled},
    GangStateRow{GangState::kEvaluation, "evaluates", AtLimit::kStalled},
    GangStateRow{GangState::kFinish, "has completed its last step", AtLimit::kStalled},
    GangStateRow{GangState::kLeft, "has lost ranks that exited with 0", AtLimit::kStalled},
    GangStateRow{GangState::kAwaitsHeal, "waits for a heal order", AtLimit::kStalled},
    GangStateRow{GangState::kHealing, "heals", AtLimit::kHealFails},
    GangStateRow{GangState::kStopping, "stops", AtLimit::kReported},
};

// The rule that determined a limit. SourceText describes it.
enum class LimitSource {
  kNoTelemetry,     // No limit: a program other than trainyard-trainer may report nothing.
  kNoPhases,        // No limit: a program without phases may save or evaluate for any time.
  kStartLease,      // CoreOptions::start_lease_ms.
  kTrainerReports,  // The lease: trainyard-trainer reports a phase as soon as it runs.
  kUnknownPhase,    // CoreOptions::unknown_phase_ms.
  kEarlierStarts,   // watchdog.factor x the longest start, at least kShortestPhaseLimitMs.
  kEarlierPhases,   // Like kEarlierStarts, but with earlier saves or evaluations.
  kGroupWait,       // The lease: ranks report that they wait for another rank.
  kFirstStepTime,   // watchdog.factor x the first step, at least kShortestPhaseLimitMs.
  kSlowSteps,       // watchdog.factor x the slow steps timed by the workers.
  kStepTimes,       // watchdog.factor x the longest step reported by the program.
  kEarlierSteps,    // Like kFirstStepTime, with the newest step before a controller restart.
  kNoPace,          // The lease, because the step time is unknown.
  kFinishLease,     // CoreOptions::finish_lease_ms.
  kLongestPause,    // watchdog.longest_pause.
  kHealWait,        // The lease. Ranks stop waiting much earlier (TRAINYARD_HEAL_WAIT).
  kHealLimit,       // HealLimitMs.
  kStopGrace,       // stop_grace plus kUnkillableReportMs.
};

struct GangLimit {
  GangState state = GangState::kSilent;
  // nullopt if this state deliberately has no automatic limit.
  std::optional<int64_t> ms;
  LimitSource source = LimitSource::kNoTelemetry;
  // The time of the newest progress. Progress is a step or a phase and, if output_counts is true,
  // also telemetry or output. 0 if unknown.
  Timestamp since_ms = 0;
  bool output_counts = false;
};

// Returns false if watchdog.action is off.
bool IsWatched(const v1::JobSpec& spec);

const GangStateRow& RowOf(GangState state);

// Describes the source, for example "3 x its slow steps", with the job's factor.
std::string SourceText(LimitSource source, const v1::JobSpec& spec);

// Returns the state of the gang and its limit. The entry must have a live attempt.
GangLimit LimitOfGang(const Observations& observations, const CoreOptions& options,
                      const JobEntry& entry, Timestamp now);

// Describes the state and its limit, for example "the gang trains: it is restarted after 15 s
// without a step or a phase (3 x its slow steps)". If the state has no limit, the text names the
// setting that sets one. In states of AtLimit::kReported, the text is empty until the limit has
// passed.
std::string LimitText(const GangLimit& limit, const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_GANG_LIMIT_H_

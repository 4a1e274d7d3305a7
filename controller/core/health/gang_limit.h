// States of a live gang, and the limit of each: the longest time that a gang may stay in it without
// progress. At the limit the watchdog (hang_watch.h) acts; `trainyard why` shows it. README.md
// lists the limits.
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

// Minimum limit of a phase other than training if the job's earlier phases of the kind were timed.
inline constexpr int64_t kShortestPhaseLimitMs = 120'000;
// Minimum limit of a phase other than training that is derived from earlier phases of the job.
inline constexpr int64_t kUnkillableReportMs = 10'000;

// If the ranks of a gang are in several states, the state with the longest limit counts.
enum class GangState {
  kNotStarted,  // A rank of the attempt has not started.
  kSilent,      // No rank has reported a step or a phase.
  kUnphased,    // Steps without phases.
  kOwnPhase,    // A phase unknown to phase.h.
  kStart,       // init or load.
  kFirstStep,   // train, before the first step.
  kSecondStep,  // train, before the second step.
  kTrain,
  kCheckpoint,
  kEvaluation,
  kFinish,      // The gang completed its last step, or reports the phase done.
  kLeft,        // A rank exited with 0; the others do not save or evaluate.
  kAwaitsHeal,  // A rank waits for a heal order or for a place, and no heal has begun.
  kHealing,
  kStopping,  // Includes gangs whose ranks all exited with 0, until their nodes confirm it.
};

// Consequence of reaching the limit.
enum class AtLimit {
  kHung,       // The verdict `hung`, or an alert, depending on watchdog.action.
  kHealFails,  // The verdict on the failure that preceded the heal.
  kReported,   // `trainyard why` reports it.
};

struct GangStateRow {
  GangState state;
  // Completes the sentence "the gang ...".
  const char* text;
  AtLimit at_limit;
};

inline constexpr std::array kGangStates = {
    GangStateRow{GangState::kNotStarted, "waits for ranks to start", AtLimit::kHung},
    GangStateRow{GangState::kSilent, "reports neither steps nor phases", AtLimit::kHung},
    GangStateRow{GangState::kUnphased, "reports steps but no phases", AtLimit::kHung},
    GangStateRow{GangState::kOwnPhase, "is in a custom phase", AtLimit::kHung},
    GangStateRow{GangState::kStart, "starts", AtLimit::kHung},
    GangStateRow{GangState::kFirstStep, "runs its first step", AtLimit::kHung},
    GangStateRow{GangState::kSecondStep, "runs its second step", AtLimit::kHung},
    GangStateRow{GangState::kTrain, "trains", AtLimit::kHung},
    GangStateRow{GangState::kCheckpoint, "saves", AtLimit::kHung},
    GangStateRow{GangState::kEvaluation, "evaluates", AtLimit::kHung},
    GangStateRow{GangState::kFinish, "has completed its last step", AtLimit::kHung},
    GangStateRow{GangState::kLeft, "has lost ranks that exited with 0", AtLimit::kHung},
    GangStateRow{GangState::kAwaitsHeal, "waits for a heal order", AtLimit::kHung},
    GangStateRow{GangState::kHealing, "heals", AtLimit::kHealFails},
    GangStateRow{GangState::kStopping, "stops", AtLimit::kReported},
};

// Source of a limit. SourceText returns its description.
enum class LimitSource {
  kNoTelemetry,     // No limit: a program other than trainyard-trainer may never report anything.
  kNoPhases,        // No limit: a program without phases may save or evaluate for any time.
  kStartLease,      // CoreOptions::start_lease_ms.
  kTrainerReports,  // The lease: trainyard-trainer reports a phase as soon as it runs.
  kUnknownPhase,    // CoreOptions::unknown_phase_ms.
  kEarlierStarts,   // watchdog.factor x the longest start, at least kShortestPhaseLimitMs.
  kEarlierPhases,   // Like kEarlierStarts, for saves or evaluations.
  kGroupWait,       // The lease: ranks report that they wait for another rank.
  kFirstStepTime,   // watchdog.factor x the first step, at least kShortestPhaseLimitMs.
  kSlowSteps,       // watchdog.factor x the slow steps timed by the workers.
  kStepTimes,       // watchdog.factor x the longest step reported by the program.
  kEarlierSteps,    // Like kFirstStepTime, with the newest step before a controller restart.
  kNoPace,          // The lease: the step time is unknown.
  kFinishLease,     // CoreOptions::finish_lease_ms.
  kLongestPause,    // watchdog.longest_pause.
  kHealWait,        // The lease. Ranks stop waiting much earlier (TRAINYARD_HEAL_WAIT).
  kHealLimit,       // HealLimitMs.
  kStopGrace,       // stop_grace plus kUnkillableReportMs.
};

struct GangLimit {
  GangState state = GangState::kSilent;
  // nullopt: this state deliberately has no automatic limit.
  std::optional<int64_t> ms;
  LimitSource source = LimitSource::kNoTelemetry;
  // Time of the newest progress: a step or a phase and, if output_counts, telemetry or output. 0 if
  // unknown.
  Timestamp since_ms = 0;
  bool output_counts = false;
};

// False if watchdog.action is off.
bool IsWatched(const v1::JobSpec& spec);

const GangStateRow& RowOf(GangState state);

// "3 x its slow steps", using the job's factor.
std::string SourceText(LimitSource source, const v1::JobSpec& spec);

// State of the gang and its limit. The entry must have a live attempt.
GangLimit LimitOfGang(const Observations& observations, const CoreOptions& options,
                      const JobEntry& entry, Timestamp now);

// "the gang trains: it is restarted after 15 s without a step or a phase (3 x its slow steps)". For
// a state without a limit, the text names the setting that sets one.
std::string LimitText(const GangLimit& limit, const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_GANG_LIMIT_H_

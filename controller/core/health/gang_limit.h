// The states of a live gang, and the limit of each: how long a gang may stay in it without
// progress. The watchdog (hang_watch.h) acts at the limit, and `trainyard why` shows it. README.md
// has the table.
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

// Least limit of a phase other than training whose earlier length is known.
inline constexpr int64_t kShortestPhaseLimitMs = 120'000;
// Time between the first SIGKILL and the report of a worker that a process survives it.
inline constexpr int64_t kUnkillableReportMs = 10'000;

// A gang whose ranks are in several states has the state with the longest limit.
enum class GangState {
  kNotStarted,  // A rank of the attempt has not started.
  kSilent,      // No rank has reported a step or a phase.
  kUnphased,    // Steps without phases.
  kOwnPhase,    // A phase that is not in phase.h.
  kStart,       // init or load.
  kFirstStep,   // train, before the first step.
  kSecondStep,  // train, before the second step.
  kTrain,
  kCheckpoint,
  kEvaluation,
  kFinish,      // The last step is made, or the phase is done.
  kLeft,        // A rank has exited with 0, and others neither save nor evaluate.
  kAwaitsHeal,  // A rank waits for an order to heal or to take a place, and no heal has begun.
  kHealing,
  kStopping,  // Also when all ranks have exited with 0 and their nodes have not confirmed it.
};

// Effect of the limit.
enum class AtLimit {
  kHung,       // The verdict `hung`, or an alert, by watchdog.action.
  kHealFails,  // The verdict on the failure before the heal.
  kReported,   // `trainyard why` reports it.
};

struct GangStateRow {
  GangState state;
  // As the end of "the gang ...".
  const char* text;
  AtLimit at_limit;
};

inline constexpr std::array kGangStates = {
    GangStateRow{GangState::kNotStarted, "waits for ranks to start", AtLimit::kHung},
    GangStateRow{GangState::kSilent, "reports neither steps nor phases", AtLimit::kHung},
    GangStateRow{GangState::kUnphased, "reports steps and no phases", AtLimit::kHung},
    GangStateRow{GangState::kOwnPhase, "is in a phase of its own", AtLimit::kHung},
    GangStateRow{GangState::kStart, "starts", AtLimit::kHung},
    GangStateRow{GangState::kFirstStep, "makes its first step", AtLimit::kHung},
    GangStateRow{GangState::kSecondStep, "makes its second step", AtLimit::kHung},
    GangStateRow{GangState::kTrain, "trains", AtLimit::kHung},
    GangStateRow{GangState::kCheckpoint, "saves", AtLimit::kHung},
    GangStateRow{GangState::kEvaluation, "evaluates", AtLimit::kHung},
    GangStateRow{GangState::kFinish, "has made its last step", AtLimit::kHung},
    GangStateRow{GangState::kLeft, "has lost ranks that exited with 0", AtLimit::kHung},
    GangStateRow{GangState::kAwaitsHeal, "waits for an order to heal", AtLimit::kHung},
    GangStateRow{GangState::kHealing, "heals", AtLimit::kHealFails},
    GangStateRow{GangState::kStopping, "stops", AtLimit::kReported},
};

// Source of a limit; SourceText says it in words.
enum class LimitSource {
  kNoTelemetry,     // No limit: another program may report nothing for as long as it runs.
  kNoPhases,        // No limit: such a program may save or evaluate for any time.
  kStartLease,      // CoreOptions::start_lease_ms.
  kTrainerReports,  // The lease: trainyard-trainer reports a phase as soon as it runs.
  kUnknownPhase,    // CoreOptions::unknown_phase_ms.
  kEarlierStarts,   // watchdog.factor times the longest.
  kEarlierPhases,   // The same of saves or evaluations, at least kShortestPhaseLimitMs.
  kGroupWait,       // The lease: ranks report that they wait for another one.
  kFirstStepTime,   // watchdog.factor times it, at least kShortestPhaseLimitMs.
  kSlowSteps,       // watchdog.factor times the slow steps, as the workers see them pass.
  kStepTimes,       // watchdog.factor times the longest step that the program has reported.
  kEarlierSteps,    // watchdog.factor times the newest step before the controller was restarted.
  kNoPace,          // The lease: no source knows how long a step takes.
  kFinishLease,     // CoreOptions::finish_lease_ms.
  kLongestPause,    // watchdog.longest_pause.
  kHealWait,        // The lease; the ranks end their wait long before it (TRAINYARD_HEAL_WAIT).
  kHealLimit,       // HealLimitMs.
  kStopGrace,       // stop_grace, and kUnkillableReportMs.
};

struct GangLimit {
  GangState state = GangState::kSilent;
  // nullopt: this state has deliberately no automatic limit.
  std::optional<int64_t> ms;
  LimitSource source = LimitSource::kNoTelemetry;
  // Time of the newest progress: a step or a phase, and telemetry or output too where
  // output_counts. 0: not known.
  Timestamp since_ms = 0;
  bool output_counts = false;
};

// False when watchdog.action is off.
bool IsWatched(const v1::JobSpec& spec);

const GangStateRow& RowOf(GangState state);

// "3 x its slow steps", with the factor of the job.
std::string SourceText(LimitSource source, const v1::JobSpec& spec);

// The state of the gang and its limit. The entry must have a live attempt.
GangLimit LimitOfGang(const Observations& observations, const CoreOptions& options,
                      const JobEntry& entry, Timestamp now);

// "the gang trains: the watchdog restarts it after 15 s without a step (3 x its slow steps)"; for a
// state without a limit what the user can do.
std::string LimitText(const GangLimit& limit, const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_GANG_LIMIT_H_

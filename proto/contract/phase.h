// Phases of a rank, as `phase` records of telemetry name them.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_H_

#include <array>
#include <optional>
#include <string_view>

namespace trainyard {

enum class Phase {
  kInit,        // From the start of the process: libraries, devices, the connection to peers.
  kLoad,        // Weights are initialised or read from a checkpoint.
  kTrain,       // Optimizer steps.
  kCheckpoint,  // A save that holds training up.
  kEval,        // Evaluation.
  kHeal,        // A peer was lost, and the gang connects again in place.
  kStandby,     // A spare that waits for a rank to take over.
  kDone,        // Nothing is left to do but exit.
};

inline constexpr std::array kPhases = {Phase::kInit,       Phase::kLoad, Phase::kTrain,
                                       Phase::kCheckpoint, Phase::kEval, Phase::kHeal,
                                       Phase::kStandby,    Phase::kDone};

// Such as "init" for kInit.
std::string_view PhaseName(Phase phase);

// The phase of this name; nothing when there is none.
std::optional<Phase> PhaseOf(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_H_

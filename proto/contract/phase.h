// Phases of a rank, as named in the `phase` records of telemetry.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_H_

#include <array>
#include <optional>
#include <string_view>

namespace trainyard {

enum class Phase {
  kInit,        // From the start of the process: libraries, devices, the connection to peers.
  kLoad,        // Initialises weights or reads them from a checkpoint.
  kTrain,       // Optimizer steps.
  kCheckpoint,  // A save that blocks training.
  kEval,        // Evaluation.
  kHeal,        // A peer was lost, and the gang is reconnecting in place.
  kStandby,     // A spare waiting to replace a rank.
  kDone,        // Only exiting remains.
};

inline constexpr std::array kPhases = {Phase::kInit,       Phase::kLoad, Phase::kTrain,
                                       Phase::kCheckpoint, Phase::kEval, Phase::kHeal,
                                       Phase::kStandby,    Phase::kDone};

// Such as "init" for kInit.
std::string_view PhaseName(Phase phase);

// The phase with this name; nullopt if there is none.
std::optional<Phase> PhaseOf(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_H_

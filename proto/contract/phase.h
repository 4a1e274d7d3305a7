// The phases of a rank. The `phase` records of telemetry contain the names of the phases.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_H_

#include <array>
#include <optional>
#include <string_view>

namespace trainyard {

enum class Phase {
  kInit,        // Process start: loads libraries, opens devices, connects.
  kLoad,        // Initializes weights or reads them from a checkpoint.
  kTrain,       // Optimizer steps.
  kCheckpoint,  // A save that blocks training.
  kEval,        // Evaluation.
  kHeal,        // The gang has lost a peer and reconnects without a restart.
  kStandby,     // A standby that waits to replace a rank.
  kDone,        // Only exiting remains.
  // The following phases are those of data jobs, which also have kInit, kLoad (finds the inputs and
  // plans their blocks) and kDone.
  kBlocks,    // Processes blocks.
  kWait,      // Waits until rank 0 offers blocks.
  kDecide,    // Rank 0 decides which documents are duplicates.
  kMerge,     // Rank 0 trains a tokenizer.
  kAssemble,  // Rank 0 writes token files.
};

inline constexpr std::array kPhases = {
    Phase::kInit,   Phase::kLoad,    Phase::kTrain,   Phase::kCheckpoint, Phase::kEval,
    Phase::kHeal,   Phase::kStandby, Phase::kDone,    Phase::kBlocks,     Phase::kWait,
    Phase::kDecide, Phase::kMerge,   Phase::kAssemble};

// Returns the name of the phase, such as "init" for kInit.
std::string_view PhaseName(Phase phase);

// Returns the phase with this name; nullopt if there is none.
std::optional<Phase> PhaseOf(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_H_

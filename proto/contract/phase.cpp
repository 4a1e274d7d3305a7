#include "proto/contract/phase.h"

namespace trainyard {

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kInit:
      return "init";
    case Phase::kLoad:
      return "load";
    case Phase::kTrain:
      return "train";
    case Phase::kCheckpoint:
      return "checkpoint";
    case Phase::kEval:
      return "eval";
    case Phase::kHeal:
      return "heal";
    case Phase::kStandby:
      return "standby";
    case Phase::kDone:
      return "done";
    case Phase::kBlocks:
      return "blocks";
    case Phase::kWait:
      return "wait";
    case Phase::kDecide:
      return "decide";
    case Phase::kMerge:
      return "merge";
    case Phase::kAssemble:
      return "assemble";
  }
  return "";
}

std::optional<Phase> PhaseOf(std::string_view name) {
  for (const Phase phase : kPhases) {
    if (PhaseName(phase) == name) return phase;
  }
  return std::nullopt;
}

}  // namespace trainyard

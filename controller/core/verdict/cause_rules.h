// Consequences of each verdict cause for the job, its gang and its node.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_

#include <array>

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Result of a rule. kDepends: the details of the verdict decide.
enum class Rule { kNo, kYes, kDepends };

// Rule for charging a restart to the budget (restart.max_restarts).
enum class Charge {
  kAlways,
  // Charged unless the blamed node ran no part of the attempt.
  kIfRan,
  kNever,
};

// Information about the job's program that the end of an attempt gives to the comparison of
// failures (repeated_failure.h).
enum class Reveals {
  // Nothing: the comparison skips the attempt.
  kNothing,
  // Another cause ended the job, so the comparison stops here.
  kOtherCause,
  // The exit shows whether the program or its environment failed.
  kByExit,
};

struct CauseRules {
  v1::VerdictCause cause = v1::VERDICT_CAUSE_UNSPECIFIED;
  // True if a restart may help.
  bool restartable = false;
  // A spare node may take over the place of the rank.
  Rule heals = Rule::kNo;
  Charge charge = Charge::kAlways;
  Reveals reveals = Reveals::kOtherCause;
  // Kind of failure that counts against the node if `blames` allows it.
  v1::NodeFault fault = v1::NODE_FAULT_UNSPECIFIED;
  Rule blames = Rule::kNo;
};

// All causes, in the order of the enum. The only place that decides by cause alone.
inline constexpr std::array kCauseRules{
    CauseRules{.cause = v1::VERDICT_CAUSE_COMPLETED},
    CauseRules{.cause = v1::VERDICT_CAUSE_STOPPED},
    CauseRules{.cause = v1::VERDICT_CAUSE_RANK_EXITED,
               .restartable = true,
               .heals = Rule::kDepends,
               .reveals = Reveals::kByExit,
               .fault = v1::NODE_FAULT_DEVICE,
               .blames = Rule::kDepends},
    CauseRules{.cause = v1::VERDICT_CAUSE_RANK_SIGNALED,
               .restartable = true,
               .heals = Rule::kYes,
               .reveals = Reveals::kByExit,
               .fault = v1::NODE_FAULT_DEVICE,
               .blames = Rule::kDepends},
    CauseRules{.cause = v1::VERDICT_CAUSE_OUT_OF_MEMORY, .restartable = true, .heals = Rule::kYes},
    // A restart would meet the same refused settings or data.
    CauseRules{.cause = v1::VERDICT_CAUSE_BAD_JOB},
    // The program may exist on another node (WhyNoOtherNode).
    CauseRules{
        .cause = v1::VERDICT_CAUSE_SPAWN_FAILED, .restartable = true, .charge = Charge::kIfRan},
    CauseRules{.cause = v1::VERDICT_CAUSE_NODE_LOST,
               .restartable = true,
               .heals = Rule::kYes,
               .charge = Charge::kIfRan,
               .reveals = Reveals::kNothing,
               .fault = v1::NODE_FAULT_LOST,
               .blames = Rule::kYes},
    // Each checkpoint is rejected at most once, so the fallback terminates without a budget.
    CauseRules{.cause = v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED,
               .restartable = true,
               .charge = Charge::kNever},
    CauseRules{.cause = v1::VERDICT_CAUSE_NODE_FAULT,
               .restartable = true,
               .charge = Charge::kNever,
               .reveals = Reveals::kNothing,
               .fault = v1::NODE_FAULT_START,
               .blames = Rule::kYes},
    // The program would exceed the limit again.
    CauseRules{.cause = v1::VERDICT_CAUSE_LIMIT_EXCEEDED},
    // Rollbacks of the loss guard have their own limit (guard.max_rollbacks).
    CauseRules{
        .cause = v1::VERDICT_CAUSE_LOSS_NOT_FINITE, .restartable = true, .charge = Charge::kNever},
    CauseRules{
        .cause = v1::VERDICT_CAUSE_LOSS_SPIKE, .restartable = true, .charge = Charge::kNever},
    // The verdict names a single rank only if this rank blocked its peers.
    CauseRules{.cause = v1::VERDICT_CAUSE_HUNG,
               .restartable = true,
               .fault = v1::NODE_FAULT_HUNG,
               .blames = Rule::kDepends},
};

// Rules of the cause; those of an unknown cause forbid everything.
const CauseRules& RulesOf(v1::VerdictCause cause);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_

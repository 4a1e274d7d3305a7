// The consequences of each verdict cause for the job, its gang and its node.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_

#include <array>

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// The result of a rule. kDepends means that the details of the verdict decide.
enum class Rule { kNo, kYes, kDepends };

// Determines whether a restart is charged to the restart budget (restart.max_restarts).
enum class Charge {
  kAlways,
  // Charged only if a part of the attempt ran on the blamed node.
  kIfRan,
  kNever,
};

// The information that the end of an attempt gives about the job's program. Used to compare
// failures (repeated_failure.h).
enum class Reveals {
  // No information. The comparison skips the attempt.
  kNothing,
  // The comparison stops at this attempt, because it ended for a cause that is not compared.
  kOtherCause,
  // The exit shows whether the program or its environment failed.
  kByExit,
};

struct CauseRules {
  v1::VerdictCause cause = v1::VERDICT_CAUSE_UNSPECIFIED;
  // True if a restart may help.
  bool restartable = false;
  // kYes if a process on a spare node may take the place of the failed rank.
  Rule heals = Rule::kNo;
  Charge charge = Charge::kAlways;
  Reveals reveals = Reveals::kOtherCause;
  // The fault that is recorded against the node if `blames` allows it.
  v1::NodeFault fault = v1::NODE_FAULT_UNSPECIFIED;
  Rule blames = Rule::kNo;
};

// The rules of all causes, in the order of the enum. No other code makes decisions based on the
// cause alone.
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
    // Not restartable, because the same settings or data would be refused again.
    CauseRules{.cause = v1::VERDICT_CAUSE_BAD_JOB},
    // Restartable, because the program may exist on another node (see WhyNoOtherNode).
    CauseRules{
        .cause = v1::VERDICT_CAUSE_SPAWN_FAILED, .restartable = true, .charge = Charge::kIfRan},
    CauseRules{.cause = v1::VERDICT_CAUSE_NODE_LOST,
               .restartable = true,
               .heals = Rule::kYes,
               .charge = Charge::kIfRan,
               .reveals = Reveals::kNothing,
               .fault = v1::NODE_FAULT_LOST,
               .blames = Rule::kYes},
    // Not charged: each checkpoint is rejected at most once, so the number of such restarts is
    // limited even without a budget.
    CauseRules{.cause = v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED,
               .restartable = true,
               .charge = Charge::kNever},
    CauseRules{.cause = v1::VERDICT_CAUSE_NODE_FAULT,
               .restartable = true,
               .charge = Charge::kNever,
               .reveals = Reveals::kNothing,
               .fault = v1::NODE_FAULT_START,
               .blames = Rule::kYes},
    // Not restartable, because the program would exceed the limit again.
    CauseRules{.cause = v1::VERDICT_CAUSE_LIMIT_EXCEEDED},
    // Not charged, because the loss guard's rollbacks have their own limit (guard.max_rollbacks).
    CauseRules{
        .cause = v1::VERDICT_CAUSE_LOSS_NOT_FINITE, .restartable = true, .charge = Charge::kNever},
    CauseRules{
        .cause = v1::VERDICT_CAUSE_LOSS_SPIKE, .restartable = true, .charge = Charge::kNever},
    // The node may be blamed only if the verdict names a single rank, that is, if one rank blocked
    // its peers.
    CauseRules{.cause = v1::VERDICT_CAUSE_STALLED,
               .restartable = true,
               .fault = v1::NODE_FAULT_STALLED,
               .blames = Rule::kDepends},
    // Not restartable, because an ended job never changes its outcome.
    CauseRules{.cause = v1::VERDICT_CAUSE_DEPENDENCY_FAILED},
    CauseRules{.cause = v1::VERDICT_CAUSE_TIME_LIMIT},
    // Arrays and their elements are not restarted after these ends.
    CauseRules{.cause = v1::VERDICT_CAUSE_ELEMENT_FAILED},
    CauseRules{.cause = v1::VERDICT_CAUSE_HALVED},
};

// Returns the rules of the cause. For an unknown cause, the rules forbid everything.
const CauseRules& RulesOf(v1::VerdictCause cause);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_CAUSE_RULES_H_

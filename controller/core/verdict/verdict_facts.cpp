#include "controller/core/verdict/verdict_facts.h"

#include "proto/contract/exit_code.h"

namespace trainyard::controller {

bool IsDeviceFault(const v1::Verdict& verdict) {
  return verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
         verdict.exit_code() == static_cast<int>(ExitCode::kDeviceFault);
}

bool IsMissingProgram(const v1::Verdict& verdict) {
  const bool by_shell = verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
                        (verdict.exit_code() == static_cast<int>(ExitCode::kCannotExecute) ||
                         verdict.exit_code() == static_cast<int>(ExitCode::kCommandNotFound));
  return by_shell || verdict.cause() == v1::VERDICT_CAUSE_SPAWN_FAILED;
}

std::set<std::string> NodesToAvoid(const v1::Job& job) {
  std::set<std::string> nodes;
  for (int i = job.attempts_size() - 1; i >= 0; --i) {
    const v1::Verdict& verdict = job.attempts(i).verdict();
    // The attempt is live and has no verdict yet, or a node fault ended it. Neither says anything
    // about the program.
    const bool is_uninformative = verdict.cause() == v1::VERDICT_CAUSE_UNSPECIFIED ||
                                  verdict.cause() == v1::VERDICT_CAUSE_NODE_FAULT;
    if (is_uninformative) continue;
    // A rule of the job (restart.rules) may override the meaning of the exit code.
    const bool is_of_node =
        verdict.action() == v1::FAILURE_ACTION_OTHER_NODE ||
        (verdict.action() == v1::FAILURE_ACTION_UNSPECIFIED && IsMissingProgram(verdict));
    if (!is_of_node) break;
    nodes.insert(verdict.node_id());
  }
  return nodes;
}

}  // namespace trainyard::controller

// Decides whether a history of submissions, stops and lists is linearizable: whether each operation
// can have taken effect at one moment between its call and its answer. The search is that of Wing
// and Gong (1993), and remembers visited states as Lowe's (2017) does.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_LINEARIZABILITY_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_LINEARIZABILITY_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace trainyard::simulation {

enum class JobAction { kSubmit, kStop, kList };

// An operation of a client, which may have taken several attempts.
struct JobOperation {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  int client = 0;
  JobAction action = JobAction::kList;
  std::string job;  // For kSubmit and kStop. Each job is submitted by one operation.
  // Positions in the order of all calls and answers. `returned` is kNever if no answer has arrived;
  // such an operation may take effect at any later time, or never.
  int64_t invoked = 0;
  int64_t returned = kNever;
  // The answer. For kStop: true if the job had been stopped by an earlier operation. For kList: the
  // jobs, and whether each of them was stopped.
  bool was_stopped = false;
  std::map<std::string, bool> jobs = {};
};

// Returns "" if the history is linearizable, and otherwise the operations that do not fit. A client
// calls its next operation after the answer to the one before; `history` contains the operations of
// each client in this order.
std::string CheckLinearizable(const std::vector<JobOperation>& history);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_LINEARIZABILITY_H_

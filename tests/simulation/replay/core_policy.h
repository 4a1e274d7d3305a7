// The controller's own scheduler under a recorded load.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "tests/simulation/replay/replay.h"

namespace trainyard::replay {

// Asks for the forecasted start of a job at a time at which the job waits.
struct StartQuestion {
  int64_t ask_at = 0;
  std::optional<int64_t> start;  // The answer. nullopt if the forecast does not reach the start.
};

// The source from which a forecast knows for how long jobs run.
enum class RunTimes {
  kKnown,   // As they do.
  kUsual,   // From the limit, and from ended jobs with similar limits.
  kLimits,  // Until their limits.
};

struct StartQuestions {
  RunTimes run_times = RunTimes::kKnown;
  std::map<int, StartQuestion> by_job;  // By place in the trace.
};

// Runs the jobs of the replay as jobs of a simulated controller: every start, end and preemption is
// an event that Apply takes, and every pass is a call of MakeSchedule. A queue of the trace is a
// queue with one share. A job of more GPUs than a node has gets equal parts of several nodes.
// `questions`: filled with answers, unless it is nullptr. `promised_heads`: that of CoreOptions.
std::unique_ptr<Policy> MakeCorePolicy(int nodes, int gpus_per_node,
                                       StartQuestions* questions = nullptr, int promised_heads = 1);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_

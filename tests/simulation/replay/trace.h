// Jobs of a recorded cluster, from a file of tests/simulation/traces.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_TRACE_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::replay {

// Times are whole seconds.
struct TraceJob {
  int64_t submit = 0;
  int64_t duration = 0;  // Time of running, without waiting; at least 1.
  int64_t limit = 0;     // Time limit that the user has set; at least `duration`. 0: none.
  int gpus = 0;
  std::string user;  // Empty if the trace does not name users.
  std::string queue;
};

// The rows of a trace to replay: those submitted in [from, to), from one queue unless `queue` is
// empty. Submission times are relative to `from`.
struct TraceCut {
  int64_t from = 0;
  int64_t to = INT64_MAX;
  std::string queue;
};

// Returns the jobs in the order of their submission. Throws std::runtime_error with the number of
// the line if the file cannot be read.
std::vector<TraceJob> ReadTrace(const std::string& path, const TraceCut& cut);

// Sets time limits as users do: between one and ten times the duration, by a number that depends on
// the seed and the job's place, rounded up to a usual limit from 10 minutes to 60 days.
void SetUserLimits(uint64_t seed, std::vector<TraceJob>& jobs);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_TRACE_H_

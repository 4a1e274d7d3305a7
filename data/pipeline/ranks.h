// The processes of a run, as the worker or torchrun describes them.
#ifndef TRAINYARD_DATA_PIPELINE_RANKS_H_
#define TRAINYARD_DATA_PIPELINE_RANKS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

struct Ranks {
  int rank = 0;
  int world_size = 1;
  std::string address;  // of rank 0; unused if there is one process
  uint16_t port = 0;
  std::string attempt;    // identifies the job and its attempt; "" outside of Trainyard
  std::string telemetry;  // path; "": none
  int threads = 0;        // 0: not set
  // True if a worker or launcher has started the process. Exit codes are then those of
  // proto/contract/exit_code.h.
  bool is_rank = false;
};

// `read` returns the value of an environment variable, or null. Returns InvalidArgument if the
// variables are incomplete or are not numbers.
absl::StatusOr<Ranks> ReadRanks(const std::function<const char*(const char* name)>& read);

// The exit code of a rank for the result of a run.
int ExitCodeOfRank(const absl::Status& status);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_RANKS_H_

// Identifies one attempt of one job.
#ifndef TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_
#define TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

#include <compare>
#include <cstdint>

namespace trainyard {

// Ordered by age, in the order of the members. A later job comes after an earlier one, regardless
// of attempt numbers. A run not started by a controller comes before every job.
struct AttemptKey {
  // From the environment variables TRAINYARD_JOB_ID and TRAINYARD_ATTEMPT. Both count from 1; job 0
  // is a run not started by a controller.
  int64_t job_id = 0;
  int64_t number = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

// Identifies one attempt of one job.
#ifndef TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_
#define TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

#include <compare>
#include <cstdint>

namespace trainyard {

// Ordered by age: first by job, then by attempt number. Job 0 is a run that no controller started;
// it comes before every job.
struct AttemptKey {
  // The values come from the environment variables TRAINYARD_JOB_ID and TRAINYARD_ATTEMPT. Both
  // count from 1. Job 0 is a run that was not started by a controller.
  int64_t job_id = 0;
  int64_t number = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

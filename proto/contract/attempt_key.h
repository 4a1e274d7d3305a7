// Writer of a checkpoint directory: one attempt of one job.
#ifndef TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_
#define TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

#include <compare>
#include <cstdint>

namespace trainyard {

// Ordered by age: a later job comes after an earlier one whatever their attempts are numbered, and
// a run that no controller has started comes before every job.
struct AttemptKey {
  int64_t job_id = 0;  // TRAINYARD_JOB_ID; 0 for a run that no controller has started
  int64_t number = 0;  // TRAINYARD_ATTEMPT

  auto operator<=>(const AttemptKey&) const = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

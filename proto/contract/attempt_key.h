// Names one attempt of one job; orders the writers of a checkpoint directory.
#ifndef TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_
#define TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

#include <compare>
#include <cstdint>

namespace trainyard {

// Ordered by age, job first (the order of the members): a later job comes after an earlier one
// whatever their attempts are numbered, and a run that no controller has started comes before every
// job.
struct AttemptKey {
  // From the environment variables TRAINYARD_JOB_ID and TRAINYARD_ATTEMPT. Both count from 1; job 0
  // is a run that no controller has started.
  int64_t job_id = 0;
  int64_t number = 0;
  // How often the attempt's ranks have connected: 1, and one more with each order to go on in place
  // after the loss of a rank (TRAINYARD_HEAL).
  int64_t generation = 1;

  auto operator<=>(const AttemptKey&) const = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_ATTEMPT_KEY_H_

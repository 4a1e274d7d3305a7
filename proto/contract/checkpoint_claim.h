// The names of claim files in a checkpoint directory: ATTEMPT.JOB.ATTEMPT and, from generation 2
// on, ATTEMPT.JOB.ATTEMPT.GENERATION. The trainer creates these files. The controller reads them to
// find the jobs that use a directory.
#ifndef TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_
#define TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

namespace trainyard {

inline constexpr char kClaimPrefix[] = "ATTEMPT.";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

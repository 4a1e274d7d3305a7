// Names of claim files in a checkpoint directory: ATTEMPT.JOB.ATTEMPT, and
// ATTEMPT.JOB.ATTEMPT.GENERATION from generation 2. The trainer creates them. The controller reads
// them to find the jobs that use a directory.
#ifndef TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_
#define TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

namespace trainyard {

inline constexpr char kClaimPrefix[] = "ATTEMPT.";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

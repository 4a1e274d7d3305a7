// Names of the files by which attempts claim a checkpoint directory: ATTEMPT.JOB.ATTEMPT, and
// ATTEMPT.JOB.ATTEMPT.GENERATION from generation 2 on. The trainer makes them; the controller reads
// from them which jobs use a directory.
#ifndef TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_
#define TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

namespace trainyard {

inline constexpr char kClaimPrefix[] = "ATTEMPT.";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

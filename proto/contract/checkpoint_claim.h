// The names of claim files. A claim file marks a checkpoint directory as used by one attempt. The
// file's name is ATTEMPT.JOB.ATTEMPT and, from generation 2 on, ATTEMPT.JOB.ATTEMPT.GENERATION,
// where the first word is literal. The trainer creates claim files. The controller reads the files'
// names to find the jobs that use a directory.
#ifndef TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_
#define TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

namespace trainyard {

inline constexpr char kClaimPrefix[] = "ATTEMPT.";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CLAIM_H_

// The largest attention that a rank computes at a time. Pure functions.
#ifndef TRAINYARD_PROTO_MEMORY_ATTENTION_CALL_H_
#define TRAINYARD_PROTO_MEMORY_ATTENTION_CALL_H_

#include "proto/contract/run_config.h"
#include "proto/rules/attention_pieces.h"

namespace trainyard {

// Returns the largest attention that a rank computes at a time, except that it may divide the
// backward pass further.
AttentionSize LargestAttentionOf(const RunConfig& config);

// The largest call of cuDNN in the backward pass on one rank.
struct AttentionCall {
  double scores = 0;  // Number of scores.
  double share = 1;   // Rows of all heads in the call, relative to those of the micro-batch.
};

// Assumes that every call computes all scores of its queries and keys.
AttentionCall LargestCallOf(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MEMORY_ATTENTION_CALL_H_

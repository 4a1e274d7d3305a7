// The exchange of attention's tensors between context-parallel ranks. Trainer, memory model and
// planner use the same rules. Pure functions.
#ifndef TRAINYARD_PROTO_RULES_CONTEXT_EXCHANGE_H_
#define TRAINYARD_PROTO_RULES_CONTEXT_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/contract/run_config.h"

namespace trainyard {

// Returns layout.cp_comm_type with `auto` replaced. `auto` is kA2a if each rank gets an equal
// number of heads, if the ranks of a sample are on one node, and if the score gradients of one key
// head and one sample take at most 2 GiB. Otherwise it is kP2p: a ring needs less memory, sends to
// one peer only, and supports every number of heads.
ContextExchange ContextExchangeOf(const RunConfig& config);

// Describes ContextExchangeOf for users. "" if each sample is on one context-parallel rank.
std::string_view ContextExchangeText(const RunConfig& config);

// True if the context-parallel ranks exchange tokens for heads (kA2a).
bool ExchangesHeads(const RunConfig& config);

// The number of key heads in the computation of the model.
int64_t KeyHeadCount(const ModelConfig& model);

// Returns why the heads cannot be divided among the ranks of a sample: "" if they can.
std::string HeadExchangeObstacle(const RunConfig& config);

// With kA2a, a rank computes the attention of its heads in pieces. While one piece is computed,
// others travel. A piece has some of the samples or, if there are too few samples, some of the key
// heads with their query heads.
struct AttentionPieces {
  int64_t samples = 1;    // Number of parts of the samples.
  int64_t key_heads = 1;  // Number of parts of the key heads.
};

// The sizes of the attention of one rank.
struct WholeSampleShape {
  int64_t samples = 1;
  int64_t length = 1;       // Tokens of a sample on all ranks.
  int64_t query_heads = 1;  // Heads of this rank.
  int64_t key_heads = 1;
};

// Divides the attention into at least two pieces, if possible, and into so many that the score
// gradients of a piece take at most 512 MiB.
AttentionPieces PiecesOf(const WholeSampleShape& shape);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_CONTEXT_EXCHANGE_H_

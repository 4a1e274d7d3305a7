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

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_CONTEXT_EXCHANGE_H_

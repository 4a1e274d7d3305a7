// The way in which the rows of a layer with experts reach the ranks of their experts. Trainer and
// planner use the same rule. Pure functions.
#ifndef TRAINYARD_PROTO_RULES_EXPERT_DISPATCH_H_
#define TRAINYARD_PROTO_RULES_EXPERT_DISPATCH_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard {

enum class ExpertDispatch {
  kLocal,      // All experts are on each rank.
  kAllToAll,   // A rank sends one copy of a row to each rank that has a part of an expert of the
               // row.
  kAllGather,  // Every rank receives all rows and picks those of its experts.
};

// Returns the dispatch of layout.moe_token_dispatcher_type or, if that is auto, the dispatch that
// sends fewer bytes. `ranks` together have all experts once, and `parts` of them divide each
// expert. An all-gather sends each row ranks - 1 times. An all-to-all sends topk copies to each
// part; the share 1 / ranks of these copies stays on the rank. The all-gather therefore wins if
// topk * parts > ranks, as measured on two and four GPUs (trainer/README.md).
ExpertDispatch DispatchAmong(int64_t ranks, int64_t parts, int64_t topk, TokenDispatcher wanted);
ExpertDispatch DispatchOf(const ModelConfig& model, const LayoutConfig& layout);

// Returns the number of rows that the experts of one rank process, if each of the ranks that share
// experts has `rows` rows. Assumes that every expert gets the same number of rows.
double MeanExpertRows(const ModelConfig& model, const LayoutConfig& layout, double rows);

// Returns the number of rows for which memory is reserved. With a capacity, this is the
// maximum. With forced balance, it is the mean. Otherwise, with expert parallelism, 1.25 times the
// mean is assumed for the busiest rank. At most, this rank receives the rows of all ranks, each row
// min(topk, experts per rank) times.
double ReservedExpertRows(const RunConfig& config, double rows);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_EXPERT_DISPATCH_H_

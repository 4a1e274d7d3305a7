#include "proto/rules/context_exchange.h"

#include "proto/model/model_size.h"
#include "proto/rules/attention_pieces.h"
#include "proto/rules/named_setting.h"

namespace trainyard {
namespace {

// The ranks of a sample are neighbors (layout/rank_order.h).
bool IsOnOneNode(const RunConfig& config) {
  const int64_t ranks = config.layout.tp * config.layout.cp;
  return config.resources.nodes == 1 || config.resources.slots_per_node % ranks == 0;
}

bool HasShortSamples(const RunConfig& config) {
  const int64_t share = config.model.num_attention_heads / KeyHeadCount(config.model);
  return BlocksOfTokens(config.train.seq_length, share) == 1;
}

}  // namespace

int64_t KeyHeadCount(const ModelConfig& model) {
  return HasLatentAttention(model) ? model.num_attention_heads : model.num_query_groups;
}

ContextExchange ContextExchangeOf(const RunConfig& config) {
  if (config.layout.cp_comm_type != ContextExchange::kAuto) return config.layout.cp_comm_type;
  const bool exchanges_heads =
      HeadExchangeObstacle(config).empty() && IsOnOneNode(config) && HasShortSamples(config);
  return exchanges_heads ? ContextExchange::kA2a : ContextExchange::kP2p;
}

std::string_view ContextExchangeText(const RunConfig& config) {
  if (config.layout.cp == 1) return "";
  switch (ContextExchangeOf(config)) {
    case ContextExchange::kA2a:
      return "all-to-all: a rank has whole samples of some heads";
    case ContextExchange::kAllGather:
      return "all-gather: a rank receives all keys and values";
    default:
      return "ring: keys and values pass from rank to rank";
  }
}

bool ExchangesHeads(const RunConfig& config) {
  return config.layout.cp > 1 && ContextExchangeOf(config) == ContextExchange::kA2a;
}

std::string HeadExchangeObstacle(const RunConfig& config) {
  const int64_t ranks = config.layout.tp * config.layout.cp, heads = KeyHeadCount(config.model);
  if (heads >= 1 && heads % ranks == 0 && config.model.num_attention_heads % heads == 0) return "";
  const char* key =
      HasLatentAttention(config.model) ? "model.num_attention_heads" : "model.num_query_groups";
  return Named{key, heads}.Text() + " must be a multiple of `layout.tp` * `layout.cp` (" +
         std::to_string(ranks) + ")";
}

}  // namespace trainyard

#include "proto/memory/attention_call.h"

#include "proto/layout/layout_parts.h"
#include "proto/rules/context_exchange.h"

namespace trainyard {

AttentionSize LargestAttentionOf(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const HeadPlace heads = HeadsOf(model.num_attention_heads, KeyHeadCount(model), layout.tp, 0);
  AttentionSize size{.samples = layout.micro_batch,
                     .query_length = config.train.seq_length,
                     .key_length = config.train.seq_length,
                     .query_heads = heads.queries.length,
                     .key_heads = heads.key_slots};
  if (layout.cp == 1) return size;
  if (ExchangesHeads(config)) {
    size.query_heads /= layout.cp;
    size.key_heads /= layout.cp;
    return LargestPiece(size, ExchangePiecesOf(size));
  }
  const int64_t length = config.train.seq_length / layout.cp;
  const int64_t blocks = BlocksOfTokens(length, size.query_heads / size.key_heads);
  size.query_length = size.key_length = PartOf(length, blocks, 0).length;
  return size;
}

AttentionCall LargestCallOf(const RunConfig& config) {
  const AttentionSize attention = LargestAttentionOf(config);
  const LayoutConfig& layout = config.layout;
  const bool is_divided = layout.cp > 1 && !ExchangesHeads(config);
  const AttentionSize call =
      is_divided ? LargestPiece(attention, BackwardPiecesOf(attention)) : attention;
  const auto heads = static_cast<double>(
      HeadsOf(config.model.num_attention_heads, KeyHeadCount(config.model), layout.tp, 0)
          .queries.length);
  const double rows = static_cast<double>(layout.micro_batch) *
                      static_cast<double>(config.train.seq_length / layout.cp);
  const double call_rows = static_cast<double>(call.samples * call.query_length);
  return {.scores = ScoresOf(call),
          .share = call_rows * static_cast<double>(call.query_heads) / (rows * heads)};
}

}  // namespace trainyard

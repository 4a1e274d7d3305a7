#include "controller/planner/block_work.h"

#include "proto/contract/layout_parts.h"
#include "proto/contract/model_size.h"
#include "proto/contract/run_rules.h"

namespace trainyard::planner {

std::array<Product, 4> BlockWork::Products() const {
  return {Product{rows, queries + 2 * keys, hidden}, Product{rows, hidden, queries},
          Product{rows, (is_gated ? 2 : 1) * ffn, hidden}, Product{rows, hidden, ffn}};
}

double BlockWork::BlockParameters() const {
  double parameters = 0;
  for (const Product& product : Products()) parameters += product.n * product.k;
  return parameters;
}

BlockWork WorkOf(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, layout.tp, 0);
  const auto head_size = static_cast<double>(HeadSize(model));
  const auto parts = static_cast<double>(layout.cp);
  BlockWork work;
  work.element = config.train.precision == Precision::kBf16 ? 2 : 4;
  work.length = static_cast<double>(config.train.seq_length);
  work.rows = static_cast<double>(layout.micro_batch) * work.length / parts;
  work.norm_rows =
      layout.sequence_parallel ? work.rows / static_cast<double>(layout.tp) : work.rows;
  work.hidden = static_cast<double>(model.hidden_size);
  work.ffn = static_cast<double>(PartOf(model.ffn_hidden_size, layout.tp, 0).length);
  work.heads = static_cast<double>(heads.queries.length);
  work.queries = work.heads * head_size;
  work.keys = static_cast<double>(heads.keys.length) * head_size;
  work.head_size = head_size;
  work.vocabulary = static_cast<double>(PartOf(model.vocab_size, layout.tp, 0).length);
  const bool is_ring = layout.cp > 1 && layout.cp_comm_type == ContextExchange::kP2p;
  work.piece = is_ring ? work.length / parts : work.length;
  work.context_parts = parts;
  work.is_gated = HasGate(model);
  work.norms_heads = model.qk_layernorm;
  work.turns_heads = model.position_embedding_type == PositionEmbedding::kRope;
  work.has_biases = model.add_bias_linear;
  return work;
}

}  // namespace trainyard::planner

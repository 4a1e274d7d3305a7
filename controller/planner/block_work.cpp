#include "controller/planner/block_work.h"

#include <algorithm>
#include <numeric>

#include "proto/layout/layout_parts.h"
#include "proto/layout/rank_order.h"
#include "proto/memory/block_memory.h"
#include "proto/model/model_size.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/fp8_products.h"

namespace trainyard::planner {
namespace {

double WeightsOf(const std::vector<Product>& products) {
  return std::accumulate(
      products.begin(), products.end(), 0.0,
      [](double sum, const Product& product) { return sum + product.Weights(); });
}

void SetLatent(const ModelConfig& model, BlockWork& work) {
  if (!HasLatentAttention(model)) return;
  work.latent = {.query_rank = static_cast<double>(model.q_lora_rank),
                 .key_rank = static_cast<double>(model.kv_lora_rank),
                 .rotary = static_cast<double>(model.qk_pos_emb_head_dim),
                 .unrotated = static_cast<double>(model.qk_head_dim),
                 .value = static_cast<double>(model.v_head_dim)};
  work.head_size = static_cast<double>(QueryHeadSize(model));
  work.queries = work.heads * work.head_size;
  work.scored = work.heads * MeanHeadSize(model);
  work.keys = work.scored;
}

}  // namespace

std::vector<Product> BlockWork::LatentUpProducts() const {
  if (latent.key_rank == 0) return {};
  std::vector<Product> products = {
      {rows, heads * (latent.unrotated + latent.value), latent.key_rank}};
  if (latent.query_rank > 0) products.push_back({rows, queries, latent.query_rank});
  return products;
}

// With latent attention, every tensor-parallel rank has the complete projections to the low-rank
// space. Each rank applies them only to its own share of the rows.
std::vector<Product> BlockWork::AttentionProducts() const {
  if (latent.key_rank == 0) return {{rows, queries + 2 * keys, hidden}, {rows, hidden, queries}};
  std::vector<Product> products = LatentUpProducts();
  products.push_back({norm_rows, latent.key_rank + latent.rotary, hidden});
  products.push_back(latent.query_rank > 0 ? Product{norm_rows, latent.query_rank, hidden}
                                           : Product{rows, queries, hidden});
  products.push_back({rows, hidden, heads * latent.value});
  return products;
}

std::vector<Product> BlockWork::Products() const {
  std::vector<Product> products = AttentionProducts();
  if (ffn > 0) {
    products.push_back({rows, (is_gated ? 2 : 1) * ffn, hidden});
    products.push_back({rows, hidden, ffn});
  }
  return products;
}

std::vector<Product> BlockWork::ExpertProducts() const {
  if (experts.count == 0) return {};
  const double each = experts.rows / experts.count;
  return {{each, (is_gated ? 2 : 1) * experts.ffn, hidden, experts.count},
          {each, hidden, experts.ffn, experts.count}};
}

double BlockWork::BlockParameters() const {
  return WeightsOf(Products()) + RouterProduct().Weights();
}

double BlockWork::ExpertParameters() const { return WeightsOf(ExpertProducts()); }

BlockWork WorkOf(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, layout.tp, 0);
  const auto head_size = static_cast<double>(HeadSize(model));
  const auto context = static_cast<double>(layout.cp);
  BlockWork work;
  work.element = BytesOf(config.train.precision);
  work.is_fp8 = HasFp8(config.train);
  work.length = static_cast<double>(config.train.seq_length);
  work.rows = static_cast<double>(layout.micro_batch) * work.length / context;
  work.norm_rows =
      layout.sequence_parallel ? work.rows / static_cast<double>(layout.tp) : work.rows;
  work.hidden = static_cast<double>(model.hidden_size);
  work.ffn = static_cast<double>(PartOf(model.ffn_hidden_size, layout.tp, 0).length);
  work.heads = static_cast<double>(heads.queries.length);
  work.queries = work.scored = work.heads * head_size;
  work.keys = static_cast<double>(heads.keys.length) * head_size;
  work.head_size = head_size;
  work.vocabulary = static_cast<double>(PartOf(model.vocab_size, layout.tp, 0).length);
  const bool is_ring = layout.cp > 1 && ContextExchangeOf(config) == ContextExchange::kP2p;
  work.piece = is_ring ? work.length / context : work.length;
  work.context_parts = context;
  work.exchanges_heads = ExchangesHeads(config);
  work.is_gated = HasGate(model);
  work.norms_heads = model.qk_layernorm;
  work.turns_heads = model.position_embedding_type == PositionEmbedding::kRope;
  SetLatent(model, work);
  if (model.add_bias_linear) {
    for (const Product& product : work.Products()) work.bias_width += product.n;
  } else if (model.add_qkv_bias) {
    work.bias_width = work.queries + 2 * work.keys;
  }
  return work;
}

BlockWork ExpertWorkOf(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  const ModelConfig& model = config.model;
  const ExpertSizes sizes = ExpertSizesOf(layout);
  const auto tensor = static_cast<double>(layout.tp);
  BlockWork work = WorkOf(config);
  work.ffn = static_cast<double>(model.moe_shared_expert_intermediate_size) / tensor;
  ExpertWork& experts = work.experts;
  experts.all = static_cast<double>(model.num_experts);
  experts.ranks = static_cast<double>(sizes.ranks());
  experts.count = experts.all / static_cast<double>(sizes.ep);
  experts.rows = MeanExpertRows(model, layout, work.rows / tensor);
  experts.ffn = static_cast<double>(ExpertWidth(model)) / static_cast<double>(sizes.etp);
  experts.dispatch = DispatchOf(model, layout);
  experts.is_balanced = model.moe_router_force_load_balancing;
  return work;
}

}  // namespace trainyard::planner

#include "controller/planner/block_work.h"

#include <algorithm>
#include <numeric>

#include "proto/contract/layout_parts.h"
#include "proto/contract/model_size.h"

namespace trainyard::planner {
namespace {

double WeightsOf(const std::vector<Product>& products) {
  return std::accumulate(
      products.begin(), products.end(), 0.0,
      [](double sum, const Product& product) { return sum + product.Weights(); });
}

void SetLatent(const DescribedParts& parts, BlockWork& work) {
  const LatentAttention& latent = parts.latent;
  if (latent.key_rank == 0) return;
  work.latent = {.query_rank = static_cast<double>(latent.query_rank),
                 .key_rank = static_cast<double>(latent.key_rank),
                 .rotary = static_cast<double>(latent.rotary_size),
                 .unrotated = static_cast<double>(latent.head_size),
                 .value = static_cast<double>(latent.value_size)};
  work.head_size = work.latent.unrotated + work.latent.rotary;
  work.queries = work.heads * work.head_size;
  work.scored = work.heads * (work.head_size + work.latent.value) / 2;
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

// Every tensor-parallel rank has the complete projections to a lower rank, applied to a part of the
// rows.
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
  if (experts.count > 0) products.push_back({norm_rows, experts.all, hidden});
  if (ffn > 0) {
    products.push_back({rows, (is_gated ? 2 : 1) * ffn, hidden});
    products.push_back({rows, hidden, ffn});
  }
  return products;
}

std::vector<Product> BlockWork::ExpertProducts() const {
  if (experts.count == 0) return {};
  const double each = experts.copies / experts.count;
  return {{each, (is_gated ? 2 : 1) * experts.ffn, hidden, experts.count},
          {each, hidden, experts.ffn, experts.count}};
}

double BlockWork::BlockParameters() const { return WeightsOf(Products()); }

double BlockWork::ExpertParameters() const { return WeightsOf(ExpertProducts()); }

BlockWork WorkOf(const RunConfig& config, const DescribedParts& parts) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, layout.tp, 0);
  const auto head_size = static_cast<double>(HeadSize(model));
  const auto context = static_cast<double>(layout.cp);
  BlockWork work;
  work.element = config.train.precision == Precision::kBf16 ? 2 : 4;
  work.is_fp8 = parts.is_fp8;
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
  const bool is_ring = layout.cp > 1 && layout.cp_comm_type == ContextExchange::kP2p;
  work.piece = is_ring ? work.length / context : work.length;
  work.context_parts = context;
  work.is_gated = HasGate(model);
  work.norms_heads = model.qk_layernorm;
  work.turns_heads = model.position_embedding_type == PositionEmbedding::kRope;
  work.has_biases = model.add_bias_linear;
  SetLatent(parts, work);
  return work;
}

BlockWork ExpertWorkOf(const RunConfig& config, const DescribedParts& parts) {
  const LayoutConfig& layout = config.layout;
  const ExpertShape& shape = parts.experts;
  const auto tensor = static_cast<double>(layout.tp);
  BlockWork work = WorkOf(config, parts);
  work.ffn = static_cast<double>(shape.shared_ffn_hidden_size) / tensor;
  const auto topk = static_cast<double>(shape.topk);
  ExpertWork& experts = work.experts;
  experts.count = static_cast<double>(shape.count) / static_cast<double>(layout.ep);
  experts.all = static_cast<double>(shape.count);
  experts.sent = topk * work.rows / tensor;
  experts.copies = parts.has_whole_experts ? experts.sent : topk * work.rows;
  experts.ffn = static_cast<double>(shape.ffn_hidden_size) / (parts.has_whole_experts ? 1 : tensor);
  return work;
}

int64_t ExpertDataSize(const LayoutConfig& layout, const DescribedParts& parts) {
  const int64_t alike = std::max<int64_t>(layout.dp, 1) * layout.cp;
  return alike * (parts.has_whole_experts ? layout.tp : 1) / layout.ep;
}

}  // namespace trainyard::planner

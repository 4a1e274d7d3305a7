#include "proto/rules/fp8_products.h"

#include "proto/layout/layout_parts.h"

namespace trainyard {
namespace {

// Sizes of products must be multiples of this number (kFp8Multiple in trainer/ops/fp8/fp8.h).
constexpr int64_t kMultiple = 16;

// The shape of the part of a matrix on one tensor-parallel rank.
struct PartShape {
  int64_t out = 0;
  int64_t in = 0;
};

PartShape AttentionShape(const RunConfig& config, BlockMatrix matrix, int64_t rank) {
  const ModelConfig& model = config.model;
  const HeadPlace heads =
      HeadsOf(model.num_attention_heads, model.num_query_groups, config.layout.tp, rank);
  const int64_t size = HeadSize(model), queries = heads.queries.length * size;
  if (matrix == BlockMatrix::kAttentionOutput) return {model.hidden_size, queries};
  return {queries + 2 * heads.keys.length * size, model.hidden_size};
}

// The inner width of the feed-forward layer or of the shared expert; 0 if there is none.
int64_t InnerWidth(const ModelConfig& model, BlockKind kind) {
  return kind == BlockKind::kDense ? model.ffn_hidden_size
                                   : model.moe_shared_expert_intermediate_size;
}

PartShape ShapeOf(const RunConfig& config, BlockKind kind, BlockMatrix matrix, int64_t rank) {
  if (matrix == BlockMatrix::kQueryKeyValue || matrix == BlockMatrix::kAttentionOutput) {
    return AttentionShape(config, matrix, rank);
  }
  const ModelConfig& model = config.model;
  const int64_t width = PartOf(InnerWidth(model, kind), config.layout.tp, rank).length;
  if (matrix == BlockMatrix::kDown) return {model.hidden_size, width};
  return {(HasGate(model) ? 2 : 1) * width, model.hidden_size};
}

// Latent attention has other matrices. A block with experts may have no shared expert.
bool HasMatrix(const ModelConfig& model, BlockKind kind, BlockMatrix matrix) {
  const bool is_attention =
      matrix == BlockMatrix::kQueryKeyValue || matrix == BlockMatrix::kAttentionOutput;
  return is_attention ? !HasLatentAttention(model) : InnerWidth(model, kind) > 0;
}

// Returns why products with the matrix cannot use FP8; "" if they can. One sample's rows on a rank
// are the smallest number of rows, and all others are multiples of this number.
std::string Obstacle(const RunConfig& config, BlockKind kind, BlockMatrix matrix) {
  const LayoutConfig& layout = config.layout;
  const ModelConfig& model = config.model;
  const int64_t keys = model.num_query_groups;
  if (keys < 1 || model.num_attention_heads < keys || layout.tp < 1 || layout.cp < 1) {
    return "the heads or the layout are invalid";
  }
  const bool splits_rows = layout.tp > 1 && layout.sequence_parallel;
  const int64_t parts = layout.cp * (splits_rows ? layout.tp : 1);
  const auto reason = [](const char* what, int64_t size) {
    return std::string(what) + " (" + std::to_string(size) + ") is not a multiple of 16";
  };
  if (config.train.seq_length % (parts * kMultiple) != 0) {
    return reason("the number of tokens of a sample on a rank", config.train.seq_length / parts);
  }
  for (int64_t rank = 0; rank < layout.tp; ++rank) {
    const PartShape shape = ShapeOf(config, kind, matrix, rank);
    if (shape.in % kMultiple != 0) return reason("the input width on a rank", shape.in);
    if (shape.out % kMultiple != 0) return reason("the output width on a rank", shape.out);
  }
  return "";
}

bool UsesFp8(const RunConfig& config, BlockKind kind, BlockMatrix matrix) {
  return HasFp8(config.train) && HasMatrix(config.model, kind, matrix) &&
         Obstacle(config, kind, matrix).empty();
}

constexpr std::array<BlockMatrix, kBlockMatrices> kAll = {BlockMatrix::kQueryKeyValue,
                                                          BlockMatrix::kAttentionOutput,
                                                          BlockMatrix::kUp, BlockMatrix::kDown};

const char* NameOf(BlockMatrix matrix) {
  switch (matrix) {
    case BlockMatrix::kQueryKeyValue:
      return "query, key and value projection";
    case BlockMatrix::kAttentionOutput:
      return "attention output projection";
    case BlockMatrix::kUp:
      return "up projection";
    case BlockMatrix::kDown:
      return "down projection";
  }
  return "";
}

std::string Described(const RunConfig& config, BlockKind kind, BlockMatrix matrix) {
  const std::string shared =
      kind == BlockKind::kExpert && matrix >= BlockMatrix::kUp ? "shared expert, " : "";
  const std::string obstacle = Obstacle(config, kind, matrix);
  const std::string use = obstacle.empty() ? "FP8" : "not in FP8, because " + obstacle;
  return shared + NameOf(matrix) + ": " + use;
}

}  // namespace

bool HasFp8(const TrainConfig& train) { return train.fp8 != Fp8Recipe::kNone; }

Fp8Matrices Fp8MatricesOf(const RunConfig& config, BlockKind kind) {
  Fp8Matrices matrices = {};
  for (const BlockMatrix matrix : kAll) {
    matrices[static_cast<int64_t>(matrix)] = UsesFp8(config, kind, matrix);
  }
  return matrices;
}

int64_t Fp8WeightsOf(const RunConfig& config, BlockKind kind) {
  int64_t weights = 0;
  for (const BlockMatrix matrix : kAll) {
    if (!UsesFp8(config, kind, matrix)) continue;
    const PartShape shape = ShapeOf(config, kind, matrix, 0);
    weights += shape.out * shape.in;
  }
  return weights;
}

std::vector<std::string> DescribeFp8Products(const RunConfig& config) {
  if (!HasFp8(config.train)) return {};
  const ModelConfig& model = config.model;
  const LayerKinds kinds = KindsOf(model, {0, model.num_layers});
  std::vector<std::string> lines;
  if (HasLatentAttention(model)) lines.emplace_back("latent attention: not in FP8");
  for (const BlockMatrix matrix : kAll) {
    const bool is_attention = matrix < BlockMatrix::kUp;
    const bool has_dense = is_attention || kinds.dense > 0;
    if (has_dense && HasMatrix(model, BlockKind::kDense, matrix)) {
      lines.push_back(Described(config, BlockKind::kDense, matrix));
    }
    if (!is_attention && kinds.expert > 0 && HasMatrix(model, BlockKind::kExpert, matrix)) {
      lines.push_back(Described(config, BlockKind::kExpert, matrix));
    }
  }
  if (HasExperts(model)) lines.emplace_back("routed experts: not in FP8");
  return lines;
}

}  // namespace trainyard

#include "proto/rules/planned_features.h"

#include <algorithm>
#include <utility>

#include "proto/model/expert_limits.h"
#include "proto/model/model_size.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/named_setting.h"
#include "proto/rules/written_setting.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

std::string WithValue(const std::string& key, int64_t value) {
  return Quoted(key) + " (" + std::to_string(value) + ")";
}

void CheckDenseModel(const ModelConfig& model, Problems& problems) {
  const ModelConfig usual;
  const Written settings[] = {
      {"model.moe_router_topk", model.moe_router_topk > 0},
      {"model.moe_ffn_hidden_size", model.moe_ffn_hidden_size > 0},
      {"model.moe_shared_expert_intermediate_size", model.moe_shared_expert_intermediate_size > 0},
      {"model.moe_dense_layers", model.moe_dense_layers > 0},
      {"model.moe_router_score_function",
       model.moe_router_score_function != usual.moe_router_score_function},
      {"model.moe_router_load_balancing_type",
       model.moe_router_load_balancing_type != usual.moe_router_load_balancing_type},
      {"model.moe_aux_loss_coeff", model.moe_aux_loss_coeff > 0},
      {"model.moe_norm_topk_prob", model.moe_norm_topk_prob != usual.moe_norm_topk_prob},
      {"model.moe_router_topk_scaling_factor",
       model.moe_router_topk_scaling_factor != usual.moe_router_topk_scaling_factor},
      {"model.moe_router_num_groups", model.moe_router_num_groups > 0},
      {"model.moe_router_group_topk", model.moe_router_group_topk > 0},
      {"model.moe_router_enable_expert_bias", model.moe_router_enable_expert_bias},
      {"model.moe_router_bias_update_rate",
       model.moe_router_bias_update_rate != usual.moe_router_bias_update_rate},
      {"model.moe_z_loss_coeff", model.moe_z_loss_coeff > 0},
      {"model.moe_expert_capacity_factor", model.moe_expert_capacity_factor > 0},
      {"model.moe_token_drop_policy", model.moe_token_drop_policy != usual.moe_token_drop_policy},
      {"model.moe_router_force_load_balancing", model.moe_router_force_load_balancing}};
  CheckNeeds(settings, "`model.num_experts`", problems);
}

// Checks the groups of experts. A group needs two experts, because groups are ranked by the sum of
// their two best scores.
void CheckGroups(const ModelConfig& model, Problems& problems) {
  const std::string key = "model.moe_router_num_groups", kept_key = "model.moe_router_group_topk";
  const int64_t groups = model.moe_router_num_groups, kept = model.moe_router_group_topk;
  if (groups == 0) {
    const Written settings[] = {{"model.moe_router_group_topk", kept > 0}};
    return CheckNeeds(settings, Quoted(key), problems);
  }
  const std::string written = WithValue(key, groups);
  if (kept == 0 || kept > groups) {
    problems.push_back({kept_key, Quoted(kept_key) + " must be from 1 to " + written});
  }
  if (model.num_experts % groups != 0 || model.num_experts / groups < 2) {
    problems.push_back({key, written + " must divide " +
                                 WithValue("model.num_experts", model.num_experts) +
                                 " into groups of at least 2 experts"});
  } else if (kept > 0 && kept * (model.num_experts / groups) < model.moe_router_topk) {
    problems.push_back({kept_key, WithValue(kept_key, kept) + " groups of " +
                                      std::to_string(model.num_experts / groups) +
                                      " experts have fewer experts than " +
                                      WithValue("model.moe_router_topk", model.moe_router_topk)});
  }
}

void CheckExpertBias(const ModelConfig& model, Problems& problems) {
  const std::string key = "model.moe_router_enable_expert_bias";
  const Written rate[] = {
      {"model.moe_router_bias_update_rate",
       model.moe_router_bias_update_rate != ModelConfig().moe_router_bias_update_rate}};
  if (!model.moe_router_enable_expert_bias) return CheckNeeds(rate, Quoted(key), problems);
  if (model.moe_router_score_function == RouterScoreFunction::kSigmoid) return;
  problems.push_back({key, Quoted(key) + " needs `model.moe_router_score_function` sigmoid"});
}

void CheckCapacity(const ModelConfig& model, Problems& problems) {
  if (model.moe_expert_capacity_factor > 0) return;
  const Written settings[] = {{"model.moe_token_drop_policy",
                               model.moe_token_drop_policy != ModelConfig().moe_token_drop_policy}};
  CheckNeeds(settings, "`model.moe_expert_capacity_factor`", problems);
}

void CheckExperts(const RunConfig& config, Problems& problems) {
  const ModelConfig& model = config.model;
  if (!HasExperts(model)) return CheckDenseModel(model, problems);
  const std::string experts = WithValue("model.num_experts", model.num_experts);
  const std::string topk = "model.moe_router_topk", dense = "model.moe_dense_layers";
  if (model.moe_router_topk == 0) {
    problems.push_back(
        {topk,
         Quoted(topk) +
             " is missing; set it to the number of experts that process each token, at most " +
             experts});
  } else if (model.moe_router_topk > model.num_experts) {
    problems.push_back(
        {topk, WithValue(topk, model.moe_router_topk) + " must not be above " + experts});
  }
  CheckGroups(model, problems);
  CheckExpertBias(model, problems);
  CheckCapacity(model, problems);
  if (model.moe_dense_layers >= model.num_layers) {
    problems.push_back({dense, WithValue(dense, model.moe_dense_layers) + " must be below " +
                                   WithValue("model.num_layers", model.num_layers)});
  }
  if (model.num_experts % config.layout.ep != 0) {
    problems.push_back({"layout.ep", experts + " must be a multiple of " +
                                         WithValue("layout.ep", config.layout.ep)});
  }
  if (HasCountableSize(model)) return;
  problems.push_back({"model.num_experts", "the model has more than 9.2e18 parameters: " + experts +
                                               " times the size of an expert, in every layer"});
}

// Reports settings of plain attention that latent attention does not have. Latent attention rotates
// separate elements, has its own sizes of heads, and normalises the vectors of lower rank.
void CheckPlainAttentionSettings(const ModelConfig& model, Problems& problems) {
  const Written settings[] = {
      {"model.kv_channels", model.kv_channels > 0},
      {"model.qk_layernorm", model.qk_layernorm},
      {"model.rotary_percent", model.rotary_percent != ModelConfig().rotary_percent},
      {"model.position_embedding_type", model.position_embedding_type != PositionEmbedding::kRope}};
  for (const Written& setting : settings) {
    if (!setting.is_written) continue;
    problems.push_back({setting.key, Quoted(setting.key) +
                                         " cannot be combined with "
                                         "`model.multi_latent_attention`; remove it"});
  }
}

void CheckLatentAttention(const ModelConfig& model, Problems& problems) {
  const std::string latent = "model.multi_latent_attention";
  const Written sizes[] = {{"model.kv_lora_rank", model.kv_lora_rank > 0},
                           {"model.qk_head_dim", model.qk_head_dim > 0},
                           {"model.qk_pos_emb_head_dim", model.qk_pos_emb_head_dim > 0},
                           {"model.v_head_dim", model.v_head_dim > 0},
                           {"model.q_lora_rank", model.q_lora_rank > 0}};
  if (!model.multi_latent_attention) return CheckNeeds(sizes, Quoted(latent), problems);
  const auto* const optional = std::end(sizes) - 1;
  if (!std::all_of(sizes, optional, [](const Written& size) { return size.is_written; })) {
    problems.push_back(
        {latent,
         Quoted(latent) +
             " needs its sizes: set kv_lora_rank, qk_head_dim, qk_pos_emb_head_dim and "
             "v_head_dim. To compute queries from a vector of lower rank, also set "
             "q_lora_rank. DeepSeek-V3 uses 512, 128, 64, 128 and 1536 (arXiv 2412.19437)"});
  }
  CheckPlainAttentionSettings(model, problems);
  if (model.num_query_groups == model.num_attention_heads) return;
  problems.push_back(
      {"model.num_query_groups", WithValue("model.num_query_groups", model.num_query_groups) +
                                     " cannot be combined with " + Quoted(latent) +
                                     ", because latent attention computes the keys and values of "
                                     "all heads from one vector; remove `model.num_query_groups`"});
}

void CheckMultiTokenPrediction(const ModelConfig& model, Problems& problems) {
  const std::string modules = "model.mtp_num_layers";
  if (model.mtp_num_layers == 0) {
    const Written settings[] = {
        {"model.mtp_loss_scaling_factor",
         model.mtp_loss_scaling_factor != ModelConfig().mtp_loss_scaling_factor}};
    return CheckNeeds(settings, Quoted(modules), problems);
  }
  if (model.position_embedding_type != PositionEmbedding::kLearnedAbsolute) return;
  problems.push_back({modules, Quoted(modules) +
                                   " needs `model.position_embedding_type` rope, because learned "
                                   "positions belong to the embedding, which its modules share"});
}

void CheckBiases(const ModelConfig& model, Problems& problems) {
  if (model.add_qkv_bias && (model.add_bias_linear || HasLatentAttention(model))) {
    problems.push_back(
        {"model.add_qkv_bias",
         model.add_bias_linear
             ? "`model.add_bias_linear` includes the biases of `model.add_qkv_bias`; "
               "keep one of them"
             : "`model.add_qkv_bias` needs plain attention, because latent attention "
               "has no projections of queries, keys and values; set it to false"});
  }
  if (!model.add_bias_linear || !(HasExperts(model) || HasLatentAttention(model))) return;
  problems.push_back({"model.add_bias_linear",
                      "`model.add_bias_linear` is only for dense models with plain attention, "
                      "because no published model has biases in experts or latent attention; set "
                      "`model.add_bias_linear` to false"});
}

// CPUs emulate FP8 in fp32.
void CheckFp8(const RunConfig& config, Problems& problems) {
  const TrainConfig usual;
  const TrainConfig& train = config.train;
  const bool is_on_cpu = config.resources.device == DeviceKind::kCpu;
  if (HasFp8(train) && train.precision != (is_on_cpu ? Precision::kFp32 : Precision::kBf16)) {
    problems.push_back({"train.fp8", is_on_cpu ? "`train.fp8` on CPUs needs `train.precision` fp32"
                                               : "`train.fp8` needs `train.precision` bf16"});
  }
  if (train.fp8 == Fp8Recipe::kDelayed) return;
  const Written settings[] = {
      {"train.fp8_amax_history_len", train.fp8_amax_history_len > 0},
      {"train.fp8_amax_compute_algo", train.fp8_amax_compute_algo != usual.fp8_amax_compute_algo}};
  CheckNeeds(settings, "`train.fp8` delayed", problems);
}

void CheckExpertTensorParallel(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  if (layout.etp == 0) return;
  if (!HasExperts(config.model)) {
    problems.push_back({"layout.etp", "`layout.etp` needs `model.num_experts`"});
  } else if (layout.etp != 1 && layout.etp != layout.tp) {
    problems.push_back({"layout.etp", WithValue("layout.etp", layout.etp) + " must be 1 or " +
                                          WithValue("layout.tp", layout.tp)});
  }
}

// Reports experts whose width cannot be divided into equal parts.
void CheckExpertParts(const RunConfig& config, Problems& problems) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  if (!HasExperts(model) || HasWholeExperts(layout) || ExpertWidth(model) % layout.tp == 0) return;
  const char* key =
      model.moe_ffn_hidden_size > 0 ? "model.moe_ffn_hidden_size" : "model.ffn_hidden_size";
  problems.push_back({key, WithValue(key, ExpertWidth(model)) + " must be a multiple of " +
                               WithValue("layout.tp", layout.tp) +
                               ", or set `layout.etp` to 1 to keep experts whole"});
}

// If tensor parallelism divides each expert, the kernels count each part as an expert.
void CheckExpertsOnGpu(const RunConfig& config, Problems& problems) {
  const int64_t parts = HasWholeExperts(config.layout) ? 1 : config.layout.tp;
  const int64_t experts = config.model.num_experts;
  if (config.resources.device != DeviceKind::kGpu || experts * parts <= kMostExpertsOnGpus) return;
  const std::string divided = " times " + WithValue("layout.tp", parts);
  problems.push_back(
      {"model.num_experts", WithValue("model.num_experts", experts) + (parts > 1 ? divided : "") +
                                " must not be above " + std::to_string(kMostExpertsOnGpus) +
                                " on GPUs, because the kernels of routers have no more experts; " +
                                (parts > 1 ? "set `layout.etp` to 1" : "use fewer experts")});
}

// Reports layouts of experts that trainyard-trainer cannot train.
void CheckExpertLayout(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const std::string tp = WithValue("layout.tp", layout.tp);
  if (layout.tp > 1 && !layout.sequence_parallel) {
    problems.push_back({"layout.sequence_parallel",
                        "`layout.sequence_parallel` must be true with `model.num_experts` and " +
                            tp + ", because otherwise every rank would process the same tokens"});
  }
  if (config.train.gradient_noise_scale && (layout.tp > 1 || layout.ep > 1)) {
    problems.push_back({"train.gradient_noise_scale",
                        "`train.gradient_noise_scale` cannot be combined with `model.num_experts` "
                        "unless `layout.tp` and `layout.ep` are 1, because otherwise the gradient "
                        "of an expert comes from the samples of several ranks"});
  }
}

// The norm of a row of the embedding is counted on the first stage only, so the last stage would
// not clip its copy.
void CheckClippedTable(const RunConfig& config, Problems& problems) {
  const ModelConfig& model = config.model;
  if (model.mtp_num_layers == 0 || !model.untie_embeddings_and_output_weights) return;
  if (config.layout.pp == 1 || config.optimizer.adaptive_clip == 0) return;
  const std::string clip = "optimizer.adaptive_clip";
  problems.push_back({clip, Quoted(clip) + " cannot be combined with " +
                                Quoted("model.mtp_num_layers") + " and " +
                                WithValue("layout.pp", config.layout.pp) +
                                ", because two stages have a copy of the embedding; set "
                                "`layout.pp` to 1 or remove `optimizer.adaptive_clip`"});
}

// Reports recipes and models for which no product can use FP8.
void CheckFp8Products(const RunConfig& config, Problems& problems) {
  if (!HasFp8(config.train)) return;
  if (config.train.fp8 == Fp8Recipe::kBlock) {
    problems.push_back({"train.fp8",
                        "`train.fp8` block cannot be trained yet; set `train.fp8` to delayed or "
                        "current. `trainyard plan --device` predicts the run"});
    return;
  }
  const LayerKinds kinds = KindsOf(config.model, {0, config.model.num_layers});
  const auto uses = [&](BlockKind kind) {
    const Fp8Matrices matrices = Fp8MatricesOf(config, kind);
    return std::any_of(matrices.begin(), matrices.end(), [](bool is_used) { return is_used; });
  };
  if (kinds.dense > 0 && uses(BlockKind::kDense)) return;
  if (kinds.expert > 0 && uses(BlockKind::kExpert)) return;
  const std::vector<std::string> products = DescribeFp8Products(config);
  problems.push_back({"train.fp8",
                      "`train.fp8` has no effect on this run, because none of its "
                      "products can use FP8 (" +
                          (products.empty() ? "there are none" : products.front()) +
                          "); remove `train.fp8`"});
}

}  // namespace

bool HasWholeExperts(const LayoutConfig& layout) { return layout.etp == 1; }

std::vector<std::string> FeaturesOf(const RunConfig& config) {
  std::vector<std::string> features;
  if (HasExperts(config.model)) features.push_back("mixture of experts");
  if (HasLatentAttention(config.model)) features.push_back("latent attention");
  if (HasFp8(config.train)) features.push_back("FP8 arithmetic");
  return features;
}

Problems FindFeatureProblems(const RunConfig& config) {
  Problems problems;
  CheckExperts(config, problems);
  CheckLatentAttention(config.model, problems);
  CheckMultiTokenPrediction(config.model, problems);
  CheckBiases(config.model, problems);
  CheckFp8(config, problems);
  CheckExpertTensorParallel(config, problems);
  CheckExpertParts(config, problems);
  return problems;
}

Problems FindExpertLayoutProblems(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  const int64_t dp = layout.dp, ep = layout.ep, ranks = layout.tp * layout.cp * dp;
  const bool is_whole = HasWholeExperts(layout);
  if (dp <= 0 || ep <= 0 || (is_whole ? ranks : dp) % ep == 0) return {};
  const std::string size = WithValue("layout.ep", ep);
  if (is_whole) {
    return {{"layout.ep",
             "tp * cp * dp (" + std::to_string(ranks) + ") must be a multiple of " + size}};
  }
  const std::string advice = HasExperts(config.model) && ranks % ep == 0
                                 ? "; with `layout.etp` 1 the experts are spread over tp * cp * "
                                   "dp = " +
                                       std::to_string(ranks) + " ranks"
                                 : "";
  return {{"layout.dp", WithValue("layout.dp", dp) + " must be a multiple of " + size + advice}};
}

Problems FindUntrainable(const RunConfig& config) {
  Problems problems;
  if (!HasExperts(config.model) && config.layout.ep > 1) {
    problems.push_back({"layout.ep", WithValue("layout.ep", config.layout.ep) +
                                         " needs `model.num_experts`; set it to 1"});
  } else if (HasExperts(config.model)) {
    CheckExpertsOnGpu(config, problems);
    CheckExpertLayout(config, problems);
  }
  CheckFp8Products(config, problems);
  CheckClippedTable(config, problems);
  return problems;
}

}  // namespace trainyard

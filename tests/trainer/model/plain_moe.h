// A layer with experts by its formulas: every expert processes every token, and the weights of the
// experts that are not chosen are 0. Autograd computes the gradients.
#ifndef TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_MOE_H_
#define TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_MOE_H_

#include <torch/types.h>

#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "proto/contract/model_config.h"
#include "proto/model/expert_capacity.h"

namespace trainyard::trainer {

class PlainMoe {
 public:
  // `bias` is the expert bias of the layer; it may be undefined. `weights` must outlive this
  // object.
  PlainMoe(const ModelConfig& model, const std::map<std::string, torch::Tensor>& weights,
           const std::string& prefix, const torch::Tensor& bias)
      : model_(model), weights_(weights), prefix_(prefix), bias_(bias) {}

  // x: [batch, length, hidden].
  torch::Tensor Forward(const torch::Tensor& x) const {
    const torch::Tensor scores = Scores(x), mask = Mask(Judged(scores.detach()));
    torch::Tensor weights = scores * mask;
    if (model_.moe_norm_topk_prob) weights = weights / weights.sum(-1, true);
    weights = weights * model_.moe_router_topk_scaling_factor;
    if (HasExpertCapacity(model_)) weights = weights * Kept(weights.detach());
    torch::Tensor y = model_.moe_shared_expert_intermediate_size > 0
                          ? SwiGlu(x, prefix_ + "shared_experts.")
                          : torch::zeros_like(x);
    for (int64_t i = 0; i < model_.num_experts; ++i) {
      const std::string expert = prefix_ + "experts." + std::to_string(i) + ".";
      y = y + weights.select(-1, i).unsqueeze(-1) * SwiGlu(x, expert);
    }
    return y;
  }

  // The balance loss and the z-loss, weighted and added.
  torch::Tensor BalanceLoss(const torch::Tensor& x) const {
    const torch::Tensor scores = Scores(x), shares = scores / scores.sum(-1, true);
    const bool per_sample =
        model_.moe_router_load_balancing_type == RouterLoadBalancing::kSeqAuxLoss;
    const auto mean = [&](const torch::Tensor& values) {  // Over tokens: [samples or 1, experts].
      return per_sample ? values.mean(1) : values.mean(at::IntArrayRef{0, 1}).unsqueeze(0);
    };
    const double factor = model_.num_experts / static_cast<double>(model_.moe_router_topk);
    const torch::Tensor load = mean(TopMask(scores.detach(), model_.moe_router_topk)) * factor;
    const torch::Tensor balance = (load * mean(shares)).sum(1).mean();
    const torch::Tensor z = at::logsumexp(Logits(x), -1).square().mean();
    return model_.moe_aux_loss_coeff * balance + model_.moe_z_loss_coeff * z;
  }

 private:
  const torch::Tensor& W(const std::string& name) const { return weights_.at(name + ".weight"); }

  torch::Tensor Logits(const torch::Tensor& x) const { return at::linear(x, W(prefix_ + "gate")); }

  torch::Tensor Scores(const torch::Tensor& x) const {
    const bool is_softmax = model_.moe_router_score_function == RouterScoreFunction::kSoftmax;
    return is_softmax ? at::softmax(Logits(x), -1) : at::sigmoid(Logits(x));
  }

  torch::Tensor Judged(const torch::Tensor& scores) const {
    return bias_.defined() ? scores + bias_.to(scores.scalar_type()) : scores;
  }

  // Returns 1 for the `count` largest values along the last dimension and 0 for the others.
  static torch::Tensor TopMask(const torch::Tensor& values, int64_t count) {
    const torch::Tensor largest = std::get<1>(at::topk(values, count, -1));
    return torch::zeros_like(values).scatter(-1, largest, 1);
  }

  // Returns 1 for the tokens of each sample that an expert keeps. The result for tokens with weight
  // 0 is arbitrary.
  torch::Tensor Kept(const torch::Tensor& weights) const {
    const int64_t length = weights.size(1);
    const bool by_weight = model_.moe_token_drop_policy == TokenDropPolicy::kProbs;
    const torch::Tensor earliness = torch::arange(length, 0, -1, weights.options()).view({-1, 1});
    const torch::Tensor preference = by_weight ? weights : (weights > 0) * earliness;
    return TopMask(preference.transpose(1, 2), ExpertCapacity(model_, length)).transpose(1, 2);
  }

  torch::Tensor Mask(const torch::Tensor& judged) const {
    if (model_.moe_router_num_groups == 0) return TopMask(judged, model_.moe_router_topk);
    const auto sizes = judged.sizes();
    const torch::Tensor groups =
        judged.view({sizes[0], sizes[1], model_.moe_router_num_groups, -1});
    const torch::Tensor best = std::get<0>(groups.sort(-1, true)).narrow(-1, 0, 2).sum(-1);
    const torch::Tensor kept = TopMask(best, model_.moe_router_group_topk).unsqueeze(-1);
    const torch::Tensor limited =
        groups.masked_fill(kept == 0, -std::numeric_limits<double>::infinity());
    return TopMask(limited.view(sizes), model_.moe_router_topk);
  }

  torch::Tensor SwiGlu(const torch::Tensor& x, const std::string& prefix) const {
    const torch::Tensor gate = at::silu(at::linear(x, W(prefix + "gate_proj")));
    return at::linear(gate * at::linear(x, W(prefix + "up_proj")), W(prefix + "down_proj"));
  }

  const ModelConfig& model_;
  const std::map<std::string, torch::Tensor>& weights_;
  const std::string prefix_;
  const torch::Tensor bias_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_MODEL_PLAIN_MOE_H_

#include "proto/rules/position_rules.h"

#include <cmath>
#include <string>
#include <utility>

#include "proto/model/model_size.h"
#include "proto/rules/named_setting.h"
#include "proto/rules/written_setting.h"
#include "proto/text/number_text.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

void CheckOrder(const char* low_key, double low, const char* high_key, double high,
                Problems& problems) {
  if (low < high) return;
  problems.push_back({low_key, Quoted(low_key) + " (" + NumberText(low) + ") must be below " +
                                   Quoted(high_key) + " (" + NumberText(high) + ")"});
}

// Checks the settings of scaled rotary positions.
void CheckScaling(const ModelConfig& model, Problems& problems) {
  const ModelConfig usual;
  const bool is_scaled = model.rope_scaling_factor > 1;
  if (model.rope_scaling_type == RopeScalingType::kLlama3) {
    const Written of_yarn[] = {
        {"model.rope_beta_fast", model.rope_beta_fast != usual.rope_beta_fast},
        {"model.rope_beta_slow", model.rope_beta_slow != usual.rope_beta_slow},
        {"model.rope_mscale", model.rope_mscale != usual.rope_mscale},
        {"model.rope_mscale_all_dim", model.rope_mscale_all_dim != usual.rope_mscale_all_dim}};
    CheckNeeds(of_yarn, "`model.rope_scaling_type` yarn", problems);
    if (!is_scaled) return;
    return CheckOrder("model.rope_low_freq_factor", model.rope_low_freq_factor,
                      "model.rope_high_freq_factor", model.rope_high_freq_factor, problems);
  }
  const Written of_llama[] = {
      {"model.rope_low_freq_factor", model.rope_low_freq_factor != usual.rope_low_freq_factor},
      {"model.rope_high_freq_factor", model.rope_high_freq_factor != usual.rope_high_freq_factor}};
  CheckNeeds(of_llama, "`model.rope_scaling_type` llama3", problems);
  if (!is_scaled) {
    problems.push_back(
        {"model.rope_scaling_type",
         "`model.rope_scaling_type` yarn needs `model.rope_scaling_factor` above 1"});
  }
  CheckOrder("model.rope_beta_slow", model.rope_beta_slow, "model.rope_beta_fast",
             model.rope_beta_fast, problems);
}

// Checks that rotary position embeddings, which rotate the elements of a head in pairs, fit the
// head size.
void CheckRotarySize(const ModelConfig& model, Problems& problems) {
  const Named hidden{"model.hidden_size", model.hidden_size};
  const Named heads{"model.num_attention_heads", model.num_attention_heads};
  const Named size{"model.kv_channels", model.kv_channels};
  if (size.value == 0 && hidden.value % heads.value != 0) return;  // Reported by CheckModel.
  if (model.rotary_percent < 1) {
    const double turned = model.rotary_percent * static_cast<double>(HeadSize(model));
    const bool is_whole = std::abs(turned - std::round(turned)) < 1e-6;
    if (is_whole && RotarySize(model) > 0 && RotarySize(model) % 2 == 0) return;
    problems.push_back(
        {"model.rotary_percent", "`model.rotary_percent` (" + NumberText(model.rotary_percent) +
                                     ") rotates " + NumberText(turned) + " of the " +
                                     std::to_string(HeadSize(model)) +
                                     " elements of a head; this number must be even"});
  } else if (size.value % 2 != 0) {
    problems.push_back({size.key, size.Text() + " must be even for rotary positions"});
  } else if (HeadSize(model) % 2 != 0) {
    problems.push_back({hidden.key, hidden.Text() + " / " + heads.Text() + " = " +
                                        std::to_string(HeadSize(model)) +
                                        " must be even for rotary positions"});
  }
}

void CheckLatentRotarySize(const ModelConfig& model, Problems& problems) {
  const Named size{"model.qk_pos_emb_head_dim", model.qk_pos_emb_head_dim};
  if (size.value % 2 == 0) return;
  problems.push_back({size.key, size.Text() + " must be even for rotary positions"});
}

void CheckTable(const RunConfig& config, Problems& problems) {
  const Named rows{"model.max_position_embeddings", config.model.max_position_embeddings};
  const Named length{"train.seq_length", config.train.seq_length};
  if (rows.value == 0) {
    problems.push_back({rows.key, Quoted(rows.key) +
                                      " is missing: learned_absolute positions need "
                                      "a table, with at least " +
                                      length.Text() + " rows"});
  } else if (length.value > rows.value) {
    problems.push_back({length.key, length.Text() + " must not be above " + rows.Text()});
  }
}

// In a run without rotary positions, rejects their settings, which would have no effect.
void CheckNoRotation(const ModelConfig& model, Problems& problems) {
  const ModelConfig usual;
  const Written rotary[] = {
      {"model.rotary_base", model.rotary_base != usual.rotary_base},
      {"model.rotary_percent", model.rotary_percent != usual.rotary_percent},
      {"model.rope_scaling_factor", model.rope_scaling_factor != usual.rope_scaling_factor},
      {"model.rope_low_freq_factor", model.rope_low_freq_factor != usual.rope_low_freq_factor},
      {"model.rope_high_freq_factor", model.rope_high_freq_factor != usual.rope_high_freq_factor},
      {"model.rope_original_length", model.rope_original_length != usual.rope_original_length},
      {"model.rope_scaling_type", model.rope_scaling_type != usual.rope_scaling_type},
      {"model.rope_beta_fast", model.rope_beta_fast != usual.rope_beta_fast},
      {"model.rope_beta_slow", model.rope_beta_slow != usual.rope_beta_slow},
      {"model.rope_mscale", model.rope_mscale != usual.rope_mscale},
      {"model.rope_mscale_all_dim", model.rope_mscale_all_dim != usual.rope_mscale_all_dim}};
  CheckNeeds(rotary,
             "`model.position_embedding_type` rope, because learned_absolute positions have "
             "no rotation",
             problems);
}

}  // namespace

Problems FindPositionProblems(const RunConfig& config) {
  const ModelConfig& model = config.model;
  Problems problems;
  if (model.position_embedding_type != PositionEmbedding::kRope) {
    CheckTable(config, problems);
    CheckNoRotation(model, problems);
    return problems;
  }
  const Named rows{"model.max_position_embeddings", model.max_position_embeddings};
  CheckScaling(model, problems);
  if (rows.value > 0) {
    problems.push_back({rows.key, rows.Text() +
                                      " needs `model.position_embedding_type` learned_absolute, "
                                      "because rope has no table; remove this setting"});
  }
  if (HasLatentAttention(model)) {
    CheckLatentRotarySize(model, problems);
  } else {
    CheckRotarySize(model, problems);
  }
  return problems;
}

}  // namespace trainyard

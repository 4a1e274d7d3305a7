#include "proto/rules/run_rules.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/batch_rules.h"
#include "proto/rules/blend_stages.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/data_sources.h"
#include "proto/rules/evaluation_rules.h"
#include "proto/rules/loss_scale_rules.h"
#include "proto/rules/named_setting.h"
#include "proto/rules/planned_features.h"
#include "proto/rules/position_rules.h"
#include "proto/rules/schedule_spans.h"
#include "proto/text/number_text.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

void Append(Problems more, Problems& problems) {
  for (SettingProblem& problem : more) problems.push_back(std::move(problem));
}

// The key of a setting, such as "model.num_layers". The text is built only for a setting that
// breaks a rule: building the text for every setting took a tenth of the time for checking a
// submission.
struct SettingKey {
  const char* section;
  const char* name;

  std::string Text() const { return std::string(section) + "." + name; }
};

// Calls visit(key, rule, value) for every setting.
template <typename Visit>
void VisitAll(const RunConfig& config, Visit&& visit) {
  VisitSections(config, [&](const char* section, const auto& settings) {
    VisitSettings(settings, [&](const char* name, const SettingRule& rule, const auto& value) {
      visit(SettingKey{section, name}, rule, value);
    });
  });
}

template <typename Value>
bool IsWritten(const SettingRule& rule, const Value& value) {
  return rule.has_default || value != Value{};
}

// Returns the number of steps, rounded up, of a run whose length is set in samples or tokens.
// Returns 0 if neither is set, or if the number cannot be computed.
int64_t StepsOfLength(const TrainConfig& train) {
  if (train.seq_length <= 0 || train.global_batch <= 0) return 0;
  const int64_t samples =
      train.tokens > 0 ? (train.tokens - 1) / train.seq_length + 1 : train.samples;
  return BatchPlan(train).StepsFor(samples);
}

void CheckModel(const RunConfig& config, Problems& problems) {
  const ModelConfig& model = config.model;
  const Named hidden{"model.hidden_size", model.hidden_size};
  const Named heads{"model.num_attention_heads", model.num_attention_heads};
  if (model.kv_channels == 0 && !HasLatentAttention(model)) {
    CheckMultiple(hidden, heads, problems);
  }
  CheckMultiple(heads, {"model.num_query_groups", model.num_query_groups}, problems);
  if (!model.norm_weights && model.normalization != Normalization::kLayerNorm) {
    problems.push_back(
        {"model.norm_weights",
         "`model.norm_weights` can be false only if `model.normalization` is layer_norm"});
  }
  Append(FindPositionProblems(config), problems);
}

void CheckTensorParallel(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const Named tp{"layout.tp", layout.tp};
  const Named heads{"model.num_attention_heads", config.model.num_attention_heads};
  CheckDivides(heads.Text(), heads.value, tp, problems);
  const Named vocabulary{"model.vocab_size", config.model.vocab_size};
  if (vocabulary.value < tp.value) {
    problems.push_back({tp.key, tp.Text() + " must not be above " + vocabulary.Text()});
  }
  if (!layout.sequence_parallel || config.train.seq_length % layout.cp != 0) return;
  CheckDivides(
      "the number of tokens of a sample on each rank (`train.seq_length` / `layout.cp` = " +
          std::to_string(config.train.seq_length / layout.cp) + ")",
      config.train.seq_length / layout.cp, tp, problems);
}

void CheckContextParallel(const RunConfig& config, Problems& problems) {
  const int64_t length = config.train.seq_length;
  const Named cp{"layout.cp", config.layout.cp};
  if (ExchangesHeads(config)) {
    const std::string obstacle = HeadExchangeObstacle(config);
    if (!obstacle.empty()) {
      problems.push_back({"layout.cp_comm_type", "`layout.cp_comm_type` a2a divides the heads: " +
                                                     obstacle + "; set it to auto or p2p"});
    }
  }
  if (cp.value == 1 || length % (2 * cp.value) == 0) return;
  if (length % 2 != 0) {
    problems.push_back({"train.seq_length", Named{"train.seq_length", length}.Text() +
                                                " must be even, because every rank of " +
                                                cp.Text() + " processes two parts of a sample"});
    return;
  }
  CheckDivides("half of " + Named{"train.seq_length", length}.Text(), length / 2, cp, problems);
}

void CheckPipeline(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const Named pp{"layout.pp", layout.pp}, vpp{"layout.vpp", layout.vpp};
  const Named layers{"model.num_layers", config.model.num_layers};
  if (pp.value * vpp.value > layers.value) {
    problems.push_back({pp.key, pp.Text() + " * " + vpp.Text() + " must not be above " +
                                    layers.Text() +
                                    ", because every part of the pipeline needs a layer"});
  }
  if (vpp.value > 1 && pp.value == 1) {
    problems.push_back({vpp.key, vpp.Text() + " needs `layout.pp` above 1"});
  }
  if (layout.zero_bubble && pp.value == 1) {
    problems.push_back({"layout.zero_bubble", "`layout.zero_bubble` needs `layout.pp` above 1"});
  }
  const int64_t samples = layout.micro_batch * std::max<int64_t>(layout.dp, 1);
  if (vpp.value == 1 || config.train.global_batch % samples != 0) return;
  CheckDivides(
      "if `layout.vpp` is above 1, the number of micro-batches per step (`train.global_batch` / "
      "(layout.micro_batch * dp) = " +
          std::to_string(config.train.global_batch / samples) + ")",
      config.train.global_batch / samples, pp, problems);
}

void CheckSharding(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const Named size{"layout.zero_size", layout.zero_size};
  const int64_t alike = std::max<int64_t>(layout.dp, 1) * layout.cp;
  if (size.value > 0 && layout.zero == 0) {
    problems.push_back({size.key, size.Text() + " needs `layout.zero` above 0"});
  }
  CheckDivides("dp * cp (" + std::to_string(alike) + ")", alike, size, problems);
  if (layout.recompute_num_layers > 0 && layout.recompute == Recompute::kNone) {
    problems.push_back(
        {"layout.recompute_num_layers",
         "`layout.recompute_num_layers` needs `layout.recompute` full or selective"});
  }
}

// Accepts train.steps together with samples or tokens if all give the same number of steps, because
// the command line sends the derived steps too.
void CheckLength(const TrainConfig& train, Problems& problems) {
  if (train.samples > 0 && train.tokens > 0) {
    problems.push_back(
        {"train.tokens", "`train.tokens` and `train.samples` are both set; keep one"});
    return;
  }
  const std::string key = train.tokens > 0 ? "train.tokens" : "train.samples";
  const bool has_both = train.samples > 0 || train.tokens > 0;
  if (has_both && train.steps != StepsOfLength(train)) {
    problems.push_back({key, Quoted(key) + " and `train.steps` are both set; keep one"});
  }
}

void CheckData(const RunConfig& config, Problems& problems) {
  const DataConfig& data = config.data;
  if (!data.path.empty() && !data.blend.empty()) {
    problems.push_back({"data.blend", "`data.path` and `data.blend` are both set; keep one"});
  }
  if (std::string problem = BlendOf(data).problem; !problem.empty()) {
    problems.push_back({"data.blend", std::move(problem)});
  } else if (problem = BlendStagesOf(data).problem; !problem.empty()) {
    problems.push_back({"data.blend_stages", std::move(problem)});
  }
  Append(FindDocumentProblems(config), problems);
  if (std::string problem = EvaluationSetsOf(config.evaluation).problem; !problem.empty()) {
    problems.push_back({"evaluation.sets", std::move(problem)});
    return;
  }
  Append(FindEvaluationProblems(config), problems);
}

void CheckSchedule(const RunConfig& config, Problems& problems) {
  Append(FindScheduleProblems(config.train, config.schedule), problems);
  if (config.optimizer.min_lr > config.optimizer.lr) {
    problems.push_back({"optimizer.min_lr", "`optimizer.min_lr` (" +
                                                NumberText(config.optimizer.min_lr) +
                                                ") must not be above `optimizer.lr` (" +
                                                NumberText(config.optimizer.lr) + ")"});
  }
}

// Limits the number of logged norms, because each norm is a metric series and the worker keeps at
// most 1,000 series per rank (worker/tail/telemetry_limits.h).
void CheckGradientLog(const RunConfig& config, Problems& problems) {
  constexpr int64_t kMostLayers = 900;
  const Named layers{"model.num_layers", config.model.num_layers};
  if (config.train.gradient_log_interval == 0 || layers.value <= kMostLayers) return;
  problems.push_back(
      {"train.gradient_log_interval",
       "`train.gradient_log_interval` records one series per layer and supports at most " +
           std::to_string(kMostLayers) + " layers, but " + layers.Text() +
           " is higher; set `train.gradient_log_interval` to 0"});
}

void CheckGradientNoise(const RunConfig& config, Problems& problems) {
  if (!config.train.gradient_noise_scale) return;
  const Named batch{"train.global_batch", config.train.global_batch};
  const Named micro_batch{"layout.micro_batch", config.layout.micro_batch};
  if (batch.value <= micro_batch.value) {
    problems.push_back(
        {"train.gradient_noise_scale",
         "`train.gradient_noise_scale` compares one micro-batch with the whole "
         "step, so " +
             batch.Text() + " must be above " + micro_batch.Text() +
             "; lower `layout.micro_batch` or turn off `train.gradient_noise_scale`"});
  }
  if (config.layout.zero_bubble) {
    problems.push_back({"train.gradient_noise_scale",
                        "`train.gradient_noise_scale` needs the gradients of one micro-batch, "
                        "which `layout.zero_bubble` mixes with those of the next micro-batch; turn "
                        "off one of these two settings"});
  }
}

// The size of the heads of a kind, and the settings that determine this size.
struct HeadSizeSource {
  const char* key;
  const char* heads;
  int64_t size;
  const char* settings;
  const char* advice;
};

std::vector<HeadSizeSource> HeadSizesOf(const ModelConfig& model) {
  const char* const one = "this setting";
  const char* const some = "one of these settings";
  if (HasLatentAttention(model)) {
    return {{"model.qk_head_dim", "query heads", QueryHeadSize(model),
             "`model.qk_head_dim` + `model.qk_pos_emb_head_dim`", some},
            {"model.v_head_dim", "value heads", model.v_head_dim, "`model.v_head_dim`", one}};
  }
  if (model.kv_channels > 0) {
    return {{"model.kv_channels", "heads", HeadSize(model), "`model.kv_channels`", one}};
  }
  return {{"model.num_attention_heads", "heads", HeadSize(model),
           "`model.hidden_size` / `model.num_attention_heads`", some}};
}

void CheckHeadSizes(const RunConfig& config, Problems& problems) {
  const bool is_16_bit_on_gpu =
      config.resources.device == DeviceKind::kGpu && config.train.precision != Precision::kFp32;
  if (!is_16_bit_on_gpu) return;
  for (const HeadSizeSource& source : HeadSizesOf(config.model)) {
    if (source.size % 8 == 0) continue;
    problems.push_back(
        {source.key,
         std::string(source.heads) + " have " + std::to_string(source.size) + " elements (" +
             source.settings +
             "), but attention in bf16 or fp16 on a GPU needs a multiple of 8; change " +
             source.advice});
  }
}

}  // namespace

bool ShardsOptimizerState(const LayoutConfig& layout) { return layout.zero > 0; }

std::vector<std::string> FillDerived(int64_t world_size, RunConfig& config) {
  std::vector<std::string> filled;
  const auto fill = [&filled](const char* key, int64_t value, int64_t& setting) {
    if (setting != 0 || value == 0) return;
    setting = value;
    filled.push_back(key);
  };
  const LayoutConfig& layout = config.layout;
  // Use 128 bits: the sizes are not checked yet, and their product could overflow.
  const __int128 model_ranks = static_cast<__int128>(layout.tp) * layout.cp * layout.pp;
  const bool divides = model_ranks > 0 && world_size > 0 && world_size % model_ranks == 0;
  fill("layout.dp", divides ? static_cast<int64_t>(world_size / model_ranks) : 0, config.layout.dp);
  fill("model.num_query_groups", config.model.num_attention_heads, config.model.num_query_groups);
  const bool has_length = config.train.samples > 0 || config.train.tokens > 0;
  fill("train.steps", has_length ? StepsOfLength(config.train) : 0, config.train.steps);
  return filled;
}

Problems FindMissing(const RunConfig& config) {
  Problems problems;
  VisitAll(config, [&](const SettingKey& setting, const SettingRule& rule, const auto& value) {
    if (!rule.required || IsWritten(rule, value)) return;
    const std::string key = setting.Text();
    problems.push_back({key, Quoted(key) + " is missing"});
  });
  const TrainConfig& train = config.train;
  if (train.steps == 0 && train.samples == 0 && train.tokens == 0) {
    problems.push_back(
        {"train.steps", "`train.steps`, `train.samples` or `train.tokens` is missing"});
  }
  return problems;
}

Problems FindOutOfRange(const RunConfig& config) {
  Problems problems;
  VisitAll(config, [&](const SettingKey& setting, const SettingRule& rule, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      const auto number = static_cast<double>(value);
      // Written with `!`, so that NaN is rejected as well.
      const bool within = number >= rule.min && number <= rule.max;
      if (within || !IsWritten(rule, value)) return;
      const std::string key = setting.Text();
      problems.push_back({key, Quoted(key) + " must be from " + NumberText(rule.min) + " to " +
                                   NumberText(rule.max) + ", got " + NumberText(number)});
    }
  });
  return problems;
}

Problems FindLayoutProblems(int64_t world_size, const RunConfig& config) {
  Problems problems;
  if (world_size > kMaxRanks) {
    problems.push_back({"resources.nodes", "resources: " + std::to_string(world_size) +
                                               " ranks (nodes * slots_per_node); at most " +
                                               std::to_string(kMaxRanks) + " are supported"});
    return problems;
  }
  const LayoutConfig& layout = config.layout;
  const int64_t dp = std::max<int64_t>(layout.dp, 1);
  const int64_t product = layout.tp * layout.cp * layout.pp * dp;
  if (product != world_size) {
    problems.push_back(
        {"layout.dp", "layout: tp " + std::to_string(layout.tp) + " * cp " +
                          std::to_string(layout.cp) + " * pp " + std::to_string(layout.pp) +
                          " * dp " + std::to_string(dp) + " = " + std::to_string(product) +
                          " ranks, but the gang has " + std::to_string(world_size) +
                          " (resources.nodes * slots_per_node); change `layout` or `resources`"});
  }
  Append(FindExpertLayoutProblems(config), problems);
  return problems;
}

Problems FindTrainingProblems(const RunConfig& config) {
  Problems problems;
  CheckModel(config, problems);
  Append(FindFeatureProblems(config), problems);
  Append(FindLossScaleProblems(config), problems);
  CheckTensorParallel(config, problems);
  CheckContextParallel(config, problems);
  CheckPipeline(config, problems);
  CheckSharding(config, problems);
  Append(FindBatchProblems(config), problems);
  CheckLength(config.train, problems);
  CheckData(config, problems);
  CheckSchedule(config, problems);
  CheckGradientLog(config, problems);
  CheckGradientNoise(config, problems);
  return problems;
}

Problems FindLaunchProblems(const RunConfig& config) {
  Problems problems = FindEvaluationLaunchProblems(config);
  const bool reads_sets_only = config.evaluation.only && !config.evaluation.sets.empty();
  if (config.data.path.empty() && config.data.blend.empty() && !reads_sets_only) {
    problems.push_back({"data.path",
                        "`data.path` is missing; name a directory made by `trainyard data "
                        "prepare`, or several in `data.blend`"});
  }
  Append(FindUntrainable(config), problems);
  if (config.resources.device == DeviceKind::kCpu && config.train.precision == Precision::kBf16) {
    problems.push_back({"train.precision",
                        "`train.precision` bf16 is for GPUs, because CPUs have no fast bf16 "
                        "arithmetic; set `train.precision` to fp32"});
  }
  Append(FindAttentionProblems(config), problems);
  CheckHeadSizes(config, problems);
  return problems;
}

}  // namespace trainyard

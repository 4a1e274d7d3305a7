#include "proto/contract/run_rules.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/contract/number_text.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

std::string Quoted(const std::string& key) { return "`" + key + "`"; }

// A setting with its key, for messages.
struct Named {
  std::string key;
  int64_t value;

  std::string Text() const { return Quoted(key) + " (" + std::to_string(value) + ")"; }
};

void CheckMultiple(const Named& whole, const Named& part, Problems& problems) {
  if (part.value <= 0 || whole.value <= 0 || whole.value % part.value == 0) return;
  problems.push_back({whole.key, whole.Text() + " must be a multiple of " + part.Text()});
}

// Calls visit(key, rule, value) for every setting, with keys such as "model.num_layers".
template <typename Visit>
void VisitAll(const RunConfig& config, Visit&& visit) {
  VisitSections(config, [&](const std::string& section, const auto& settings) {
    VisitSettings(settings, [&](const std::string& name, const SettingRule& rule,
                                const auto& value) { visit(section + "." + name, rule, value); });
  });
}

template <typename Value>
bool IsWritten(const SettingRule& rule, const Value& value) {
  return rule.has_default || value != Value{};
}

int64_t StepsForTokens(const TrainConfig& train) {
  const int64_t tokens_per_step = TokensPerStep(train);
  return tokens_per_step > 0 ? (train.tokens - 1) / tokens_per_step + 1 : 0;
}

void CheckModel(const RunConfig& config, Problems& problems) {
  const ModelConfig& model = config.model;
  const Named hidden{"model.hidden_size", model.hidden_size};
  const Named heads{"model.num_attention_heads", model.num_attention_heads};
  CheckMultiple(hidden, heads, problems);
  CheckMultiple(heads, {"model.num_query_groups", model.num_query_groups}, problems);
  CheckMultiple(heads, {"layout.tp", config.layout.tp}, problems);
  if (hidden.value % heads.value == 0 && HeadSize(model) % 2 != 0) {
    problems.push_back({hidden.key, hidden.Text() + " / " + heads.Text() + " = " +
                                        std::to_string(HeadSize(model)) +
                                        " must be even for rotary positions"});
  }
}

void CheckBatch(const RunConfig& config, Problems& problems) {
  const LayoutConfig& layout = config.layout;
  const int64_t dp = std::max<int64_t>(layout.dp, 1);
  if (config.train.global_batch % (layout.micro_batch * dp) == 0) return;
  problems.push_back(
      {"train.global_batch", Named{"train.global_batch", config.train.global_batch}.Text() +
                                 " must be a multiple of layout.micro_batch * dp (" +
                                 std::to_string(layout.micro_batch) + " * " + std::to_string(dp) +
                                 " = " + std::to_string(layout.micro_batch * dp) + ")"});
}

void CheckLength(const TrainConfig& train, Problems& problems) {
  if (train.tokens > 0 && train.steps != StepsForTokens(train)) {
    problems.push_back(
        {"train.tokens", "`train.tokens` and `train.steps` are both given; keep one"});
  }
}

void CheckSchedule(const RunConfig& config, Problems& problems) {
  const ScheduleConfig& schedule = config.schedule;
  const bool wsd = schedule.kind == ScheduleKind::kWsd;
  if (wsd && schedule.decay_steps == 0) {
    problems.push_back({"schedule.decay_steps", "`schedule.decay_steps` is missing; wsd needs it"});
  }
  const int64_t needed = schedule.warmup_steps + (wsd ? schedule.decay_steps : 0);
  if (needed > config.train.steps) {
    problems.push_back({"schedule.warmup_steps",
                        std::string("schedule: warm-up") + (wsd ? " and decay take " : " takes ") +
                            std::to_string(needed) + " steps, but the run has " +
                            std::to_string(config.train.steps)});
  }
  if (config.optimizer.min_lr > config.optimizer.lr) {
    problems.push_back({"optimizer.min_lr", "`optimizer.min_lr` (" +
                                                NumberText(config.optimizer.min_lr) +
                                                ") must not be above `optimizer.lr` (" +
                                                NumberText(config.optimizer.lr) + ")"});
  }
}

}  // namespace

int64_t HeadSize(const ModelConfig& model) { return model.hidden_size / model.num_attention_heads; }

bool ShardsOptimizerState(const LayoutConfig& layout) { return layout.zero > 0; }

int64_t TokensPerStep(const TrainConfig& train) { return train.seq_length * train.global_batch; }

std::vector<std::string> FillDerived(int64_t world_size, RunConfig& config) {
  std::vector<std::string> filled;
  const auto fill = [&filled](const char* key, int64_t value, int64_t& setting) {
    if (setting != 0 || value == 0) return;
    setting = value;
    filled.push_back(key);
  };
  const LayoutConfig& layout = config.layout;
  // 128 bits: the sizes are not checked yet.
  const __int128 model_ranks = static_cast<__int128>(layout.tp) * layout.cp * layout.pp;
  const bool divides = model_ranks > 0 && world_size % model_ranks == 0;
  fill("layout.dp", divides ? static_cast<int64_t>(world_size / model_ranks) : 0, config.layout.dp);
  fill("model.num_query_groups", config.model.num_attention_heads, config.model.num_query_groups);
  fill("train.steps", config.train.tokens > 0 ? StepsForTokens(config.train) : 0,
       config.train.steps);
  return filled;
}

Problems FindMissing(const RunConfig& config) {
  Problems problems;
  VisitAll(config, [&](const std::string& key, const SettingRule& rule, const auto& value) {
    if (rule.required && !IsWritten(rule, value)) {
      problems.push_back({key, Quoted(key) + " is missing"});
    }
  });
  if (config.train.steps == 0 && config.train.tokens == 0) {
    problems.push_back({"train.steps", "`train.steps` or `train.tokens` is missing"});
  }
  return problems;
}

Problems FindOutOfRange(const RunConfig& config) {
  Problems problems;
  VisitAll(config, [&](const std::string& key, const SettingRule& rule, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      const auto number = static_cast<double>(value);
      // Written this way so that NaN is refused.
      const bool within = number >= rule.min && number <= rule.max;
      if (within || !IsWritten(rule, value)) return;
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
  CheckMultiple({"layout.dp", layout.dp}, {"layout.ep", layout.ep}, problems);
  return problems;
}

Problems FindTrainingProblems(const RunConfig& config) {
  Problems problems;
  CheckModel(config, problems);
  CheckBatch(config, problems);
  CheckLength(config.train, problems);
  CheckSchedule(config, problems);
  return problems;
}

Problems FindLaunchProblems(const RunConfig& config) {
  Problems problems;
  if (config.data.path.empty()) {
    problems.push_back(
        {"data.path", "`data.path` is missing; name a directory made by `trainyard data prepare`"});
  }
  const LayoutConfig& layout = config.layout;
  for (const Named& axis :
       {Named{"layout.tp", layout.tp}, Named{"layout.cp", layout.cp}, Named{"layout.ep", layout.ep},
        Named{"layout.pp", layout.pp}, Named{"layout.vpp", layout.vpp}}) {
    if (axis.value == 1) continue;
    problems.push_back({axis.key, axis.Text() + " is not supported by this trainyard-trainer, "
                                                "which is data parallel only; set it to 1 and use "
                                                "layout.dp"});
  }
  if (layout.zero > 1) {
    problems.push_back({"layout.zero", Named{"layout.zero", layout.zero}.Text() +
                                           " is not supported by this trainyard-trainer, which "
                                           "shards the optimizer's state only; set it to 1"});
  }
  if (config.resources.device == DeviceKind::kCpu && config.train.precision == Precision::kBf16) {
    problems.push_back({"train.precision",
                        "`train.precision` bf16 is for GPUs: a CPU has no fast bf16 arithmetic; "
                        "set it to fp32"});
  }
  const ModelConfig& model = config.model;
  const int64_t head_size = model.hidden_size / std::max<int64_t>(model.num_attention_heads, 1);
  if (config.resources.device == DeviceKind::kGpu && config.train.precision == Precision::kBf16 &&
      head_size % 8 != 0) {
    problems.push_back({"model.num_attention_heads",
                        "heads have " + std::to_string(head_size) +
                            " elements (`model.hidden_size` / `model.num_attention_heads`), but "
                            "attention in bf16 on a GPU needs a multiple of 8; change either"});
  }
  return problems;
}

}  // namespace trainyard

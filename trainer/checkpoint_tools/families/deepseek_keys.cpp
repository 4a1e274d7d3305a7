#include "trainer/checkpoint_tools/families/deepseek_keys.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kShared[] = "n_shared_experts";
constexpr char kWidth[] = "moe_intermediate_size";
constexpr char kQueryRank[] = "q_lora_rank";
constexpr char kRotaryType[] = "rope_scaling.rope_type";

[[noreturn]] void RefuseExport(const std::string& reason) {
  throw TrainerError(ExitCode::kBadConfig, "the model cannot be exported: " + reason);
}

// Removes the key if it has the value.
void EraseIf(json& config, const char* key, const json& value) {
  if (config.value(key, json()) == value) config.erase(key);
}

// Sets absent keys, but not keys that are null.
void SetAbsent(json& config, const json& usual) {
  for (const auto& [key, value] : usual.items()) {
    if (!config.contains(key)) config[key] = value;
  }
}

// Makes n_shared_experts the total width of the shared experts.
void MultiplyShared(json& config) {
  const json count = config.value(kShared, json()), width = config.value(kWidth, json());
  if (!count.is_number_integer() || !width.is_number_integer()) return;
  config[kShared] = count.get<int64_t>() * width.get<int64_t>();
}

}  // namespace

void CompleteDeepSeekV2(json& config) {
  SetAbsent(config, {{kQueryRank, 1536}, {kShared, 2}, {kWidth, 1407}});
  EraseIf(config, "first_k_dense_replace", 0);
  MultiplyShared(config);
}

void CompleteDeepSeekV3(json& config) {
  SetAbsent(config, {{kQueryRank, 1536},
                     {kShared, 1},
                     {kWidth, 2048},
                     {"n_group", 8},
                     {"topk_group", 4},
                     {"first_k_dense_replace", 3}});
  EraseIf(config, "first_k_dense_replace", 0);
  if (config["n_group"] == 1) {
    config.erase("n_group");
    config.erase("topk_group");
  }
  MultiplyShared(config);
}

void FinishDeepSeek(json& config) {
  const auto total = config[kShared].get<int64_t>(), width = config[kWidth].get<int64_t>();
  if (total == 0) RefuseExport("it has no shared expert, which every DeepSeek model has");
  if (total % width != 0) {
    RefuseExport("its shared experts have a width of " + std::to_string(total) +
                 ", which is not a multiple of the width of an expert, " + std::to_string(width));
  }
  if (config.contains(kRotaryType) && config[kRotaryType] != "yarn") {
    RefuseExport("its positions are scaled as in LLaMA 3.1, but DeepSeek's are scaled by YaRN");
  }
  config[kShared] = total / width;
  if (config[kQueryRank] == 0) config[kQueryRank] = nullptr;
}

}  // namespace trainyard::trainer

#include "cli/convert/torchtitan_flavors.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainyard::cli {
namespace {

struct Flavor {
  int layers;
  int hidden;
  int ffn;
  int heads;
  int groups;  // 0: latent attention, which has no groups.
  bool has_tied_head = false;
  std::map<std::string, std::string> more = {};  // Further settings, such as those of experts.
};

// Settings that all flavors of one model share.
struct Family {
  int vocab;
  const char* rotary_base;
  const char* norm_epsilon;
  int head_size;  // 0: use the width divided by the number of heads.
  bool has_query_norm;
  std::map<std::string, Flavor> flavors;
};

std::map<std::string, std::string> Qwen3Experts(const char* width) {
  return {{"model.num_experts", "128"},
          {"model.moe_router_topk", "8"},
          {"model.moe_ffn_hidden_size", width}};
}

std::map<std::string, std::string> WithLatentAttention(std::map<std::string, std::string> more) {
  more.insert({{"model.multi_latent_attention", "true"},
               {"model.kv_lora_rank", "512"},
               {"model.qk_head_dim", "128"},
               {"model.qk_pos_emb_head_dim", "64"},
               {"model.v_head_dim", "128"}});
  return more;
}

// The shape of DeepSeek-V2-Lite.
std::map<std::string, std::string> DeepSeek16B() {
  return WithLatentAttention({{"model.vocab_size", "102400"},
                              {"model.num_experts", "64"},
                              {"model.moe_router_topk", "6"},
                              {"model.moe_ffn_hidden_size", "1408"},
                              {"model.moe_shared_expert_intermediate_size", "2816"},
                              {"model.moe_dense_layers", "1"},
                              {"model.moe_norm_topk_prob", "false"}});
}

std::map<std::string, std::string> DeepSeek671B() {
  return WithLatentAttention({{"model.q_lora_rank", "1536"},
                              {"model.num_experts", "256"},
                              {"model.moe_router_topk", "8"},
                              {"model.moe_ffn_hidden_size", "2048"},
                              {"model.moe_shared_expert_intermediate_size", "2048"},
                              {"model.moe_dense_layers", "3"},
                              {"model.moe_router_score_function", "sigmoid"},
                              {"model.moe_router_num_groups", "8"},
                              {"model.moe_router_group_topk", "4"},
                              {"model.moe_router_topk_scaling_factor", "2.5"},
                              {"model.moe_router_enable_expert_bias", "true"}});
}

// Sources: LLaMA 2, arXiv 2307.09288; LLaMA 3, arXiv 2407.21783, table 3; Qwen3, arXiv 2505.09388,
// tables 1 and 2; DeepSeek-V2-Lite, arXiv 2405.04434, appendix B; DeepSeek-V3, arXiv 2412.19437,
// section 4.2. Feed-forward widths are from the models' public configurations.
const std::map<std::string, Family>& Families() {
  static const std::map<std::string, Family> families = {
      {"llama2",
       {32000,
        "10000",
        "1e-5",
        0,
        false,
        {{"7B", {32, 4096, 11008, 32, 32}},
         {"13B", {40, 5120, 13824, 40, 40}},
         {"70B", {80, 8192, 28672, 64, 8}}}}},
      {"llama3",
       {128256,
        "500000",
        "1e-5",
        0,
        false,
        {{"8B", {32, 4096, 14336, 32, 8}},
         {"70B", {80, 8192, 28672, 64, 8}},
         {"405B", {126, 16384, 53248, 128, 8}}}}},
      {"qwen3",
       {151936,
        "1000000",
        "1e-6",
        128,
        true,
        {{"0.6B", {28, 1024, 3072, 16, 8, true}},
         {"1.7B", {28, 2048, 6144, 16, 8, true}},
         {"4B", {36, 2560, 9728, 32, 8, true}},
         {"8B", {36, 4096, 12288, 32, 8}},
         {"14B", {40, 5120, 17408, 40, 8}},
         {"32B", {64, 5120, 25600, 64, 8}},
         {"30B-A3B", {48, 2048, 6144, 32, 4, false, Qwen3Experts("768")}},
         {"235B-A22B", {94, 4096, 12288, 64, 4, false, Qwen3Experts("1536")}}}}},
      {"deepseek_v3",
       {129280,
        "10000",
        "1e-6",
        0,
        false,
        {{"16B", {27, 2048, 10944, 16, 0, false, DeepSeek16B()}},
         {"671B", {61, 7168, 18432, 128, 0, false, DeepSeek671B()}}}}}};
  return families;
}

}  // namespace

bool SetTorchtitanModel(const std::string& name, const std::string& flavor, JobDraft& draft) {
  const auto family = Families().find(name);
  if (family == Families().end()) return false;
  const auto found = family->second.flavors.find(flavor);
  if (found == family->second.flavors.end()) return false;
  const Flavor& shape = found->second;
  draft.At(0, absl::StrCat("flavor ", flavor, " of ", name));
  const auto set = [&](const char* key, int value) { draft.Set(key, absl::StrCat(value)); };
  set("model.num_layers", shape.layers);
  set("model.hidden_size", shape.hidden);
  set("model.ffn_hidden_size", shape.ffn);
  set("model.num_attention_heads", shape.heads);
  if (shape.groups > 0) set("model.num_query_groups", shape.groups);
  set("model.vocab_size", family->second.vocab);
  if (family->second.head_size > 0) set("model.kv_channels", family->second.head_size);
  draft.Set("model.rotary_base", family->second.rotary_base);
  draft.Set("model.norm_epsilon", family->second.norm_epsilon);
  if (family->second.has_query_norm) draft.Set("model.qk_layernorm", "true");
  for (const auto& [key, value] : shape.more) draft.Set(key, value);
  if (shape.has_tied_head) draft.Set("model.untie_embeddings_and_output_weights", "false");
  draft.At(0, "");
  return true;
}

std::string TorchtitanModels() {
  std::vector<std::string> names;
  for (const auto& [name, family] : Families()) {
    for (const auto& [flavor, shape] : family.flavors) {
      names.push_back(absl::StrCat(name, " ", flavor));
    }
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace trainyard::cli

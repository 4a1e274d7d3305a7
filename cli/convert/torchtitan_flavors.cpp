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
  int groups;
  bool has_tied_head = false;
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

// Sources: LLaMA 2, arXiv 2307.09288; LLaMA 3, arXiv 2407.21783, table 3; Qwen3, arXiv 2505.09388,
// table 1. Feed-forward widths are from the models' public configurations.
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
         {"32B", {64, 5120, 25600, 64, 8}}}}}};
  return families;
}

}  // namespace

bool SetTorchtitanModel(const std::string& name, const std::string& flavor, JobDraft& draft) {
  const auto family = Families().find(name);
  if (family == Families().end()) return false;
  const auto found = family->second.flavors.find(flavor);
  if (found == family->second.flavors.end()) return false;
  const Flavor& shape = found->second;
  const auto set = [&](const char* key, int value) { draft.Set(key, absl::StrCat(value)); };
  set("model.num_layers", shape.layers);
  set("model.hidden_size", shape.hidden);
  set("model.ffn_hidden_size", shape.ffn);
  set("model.num_attention_heads", shape.heads);
  set("model.num_query_groups", shape.groups);
  set("model.vocab_size", family->second.vocab);
  if (family->second.head_size > 0) set("model.kv_channels", family->second.head_size);
  draft.Set("model.rotary_base", family->second.rotary_base);
  draft.Set("model.norm_epsilon", family->second.norm_epsilon);
  if (family->second.has_query_norm) draft.Set("model.qk_layernorm", "true");
  if (shape.has_tied_head) draft.Set("model.untie_embeddings_and_output_weights", "false");
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

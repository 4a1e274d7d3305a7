#include "cli/convert/nemo_classes.h"

#include <cctype>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainyard::cli {
namespace {

constexpr char kRecipeCall[] = ".pretrain_recipe";

struct NemoShape {
  int length;
  int layers;
  int hidden;
  int ffn;
  int heads;
  int groups;
  bool is_llama;
  const char* rotary_base = "10000";
  const char* scaling = "1";
};

// Source: the classes in collections/llm/gpt/model of NeMo 2. GPTConfig7B has only 5.2 B
// parameters, because its feed-forward layer has a width of 10,880 and no gate.
const std::map<std::string, NemoShape>& NemoShapes() {
  static const std::map<std::string, NemoShape> shapes = {
      {"GPTConfig126M", {2048, 12, 768, 3072, 12, 12, false}},
      {"GPTConfig5B", {2048, 24, 4096, 16384, 32, 32, false}},
      {"GPTConfig7B", {2048, 32, 4096, 10880, 32, 32, false}},
      {"GPTConfig20B", {2048, 44, 6144, 24576, 48, 48, false}},
      {"GPTConfig40B", {2048, 48, 8192, 32768, 64, 64, false}},
      {"GPTConfig175B", {2048, 96, 12288, 49152, 96, 96, false}},
      {"Llama2Config7B", {4096, 32, 4096, 11008, 32, 32, true}},
      {"Llama2Config13B", {4096, 40, 5120, 13824, 40, 40, true}},
      {"Llama2Config70B", {4096, 80, 8192, 28672, 64, 8, true}},
      {"Llama3Config8B", {8192, 32, 4096, 14336, 32, 8, true, "500000"}},
      {"Llama3Config70B", {8192, 80, 8192, 28672, 64, 8, true, "500000"}},
      {"Llama31Config8B", {131072, 32, 4096, 14336, 32, 8, true, "500000", "8"}},
      {"Llama31Config70B", {131072, 80, 8192, 28672, 64, 8, true, "500000", "8"}},
      {"Llama31Config405B", {131072, 126, 16384, 53248, 128, 8, true, "500000", "8"}}};
  return shapes;
}

// Returns the class that defines the model shape used by a recipe's module.
std::string ClassOf(const std::string& call) {
  static const std::map<std::string, std::string> modules = {
      {"llama2_7b", "Llama2Config7B"},     {"llama3_8b", "Llama3Config8B"},
      {"llama3_70b", "Llama3Config70B"},   {"llama31_8b", "Llama31Config8B"},
      {"llama31_70b", "Llama31Config70B"}, {"llama31_405b", "Llama31Config405B"}};
  if (!absl::EndsWith(call, kRecipeCall)) return call.substr(call.rfind('.') + 1);
  const std::string module = call.substr(0, call.size() - sizeof(kRecipeCall) + 1);
  const auto found = modules.find(module.substr(module.rfind('.') + 1));
  return found == modules.end() ? "" : found->second;
}

}  // namespace

bool IsNemoCall(const std::string& call) {
  const std::string name = call.substr(call.rfind('.') + 1);
  const size_t config = name.find("Config");
  const size_t size = config + 6;
  return absl::EndsWith(call, kRecipeCall) ||
         (config != std::string::npos && size < name.size() &&
          std::isdigit(static_cast<unsigned char>(name[size])) != 0);
}

bool AssumeNemoModel(const std::string& call, JobDraft& draft) {
  const auto found = NemoShapes().find(ClassOf(call));
  if (found == NemoShapes().end()) return false;
  const NemoShape& shape = found->second;
  const auto assume = [&](const char* key, int value) { draft.Assume(key, absl::StrCat(value)); };
  assume("train.seq_length", shape.length);
  assume("model.num_layers", shape.layers);
  assume("model.hidden_size", shape.hidden);
  assume("model.ffn_hidden_size", shape.ffn);
  assume("model.num_attention_heads", shape.heads);
  assume("model.num_query_groups", shape.groups);
  if (!shape.is_llama) return true;
  const std::map<std::string, std::string> settings = {
      {"model.activation", "swiglu"},
      {"model.normalization", "rms_norm"},
      {"model.add_bias_linear", "false"},
      {"model.untie_embeddings_and_output_weights", "true"},
      {"model.position_embedding_type", "rope"},
      {"model.rotary_base", shape.rotary_base},
      {"model.rope_scaling_factor", shape.scaling}};
  for (const auto& [key, value] : settings) draft.Assume(key, value);
  return true;
}

std::string NemoModels() {
  std::vector<std::string> names;
  for (const auto& [name, shape] : NemoShapes()) names.push_back(name);
  return absl::StrJoin(names, ", ");
}

}  // namespace trainyard::cli

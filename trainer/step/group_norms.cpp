#include "trainer/step/group_norms.h"

#include <algorithm>
#include <cstdint>

#include "proto/model/model_size.h"
#include "trainer/model/block.h"
#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr char kFinalNorm[] = "final_norm";

// Converts a group name to a part name, such as "layer 3" to "layer_3". A layer includes its
// experts. In the head's group, the parameters without weight decay are the final norm.
std::string PartName(const std::string& group, bool decays) {
  if (group == Decoder::kHeadGroup && !decays) return kFinalNorm;
  std::string name = group.substr(0, group.rfind(Block::kExpertGroupSuffix));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

std::vector<std::string> GradientPartNames(const ModelConfig& model) {
  std::vector<std::string> names = {Decoder::kEmbeddingGroup};
  if (model.position_embedding_type == PositionEmbedding::kLearnedAbsolute) {
    names.push_back(Decoder::kPositionGroup);
  }
  for (int64_t layer = 0; layer < LayersWithMtp(model); ++layer) {
    names.push_back("layer_" + std::to_string(layer));
  }
  for (int64_t module = 0; module < model.mtp_num_layers; ++module) {
    names.push_back("mtp_" + std::to_string(module));
  }
  if (NormVectors(model) > 0) names.push_back(kFinalNorm);
  if (model.untie_embeddings_and_output_weights) names.push_back(Decoder::kHeadGroup);
  return names;
}

GroupNorms::GroupNorms(const ModelConfig& model, const ParameterStore& store,
                       const AdamW& optimizer)
    : optimizer_(optimizer) {
  const std::vector<std::string> names = GradientPartNames(model);
  const auto& parts = optimizer.measured_parts();
  Tensor membership = torch::zeros(
      {static_cast<int64_t>(names.size()), static_cast<int64_t>(parts.size())}, torch::kFloat64);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = PartName(store.groups()[parts[i].group].name, parts[i].decays);
    const auto found = std::find(names.begin(), names.end(), name);
    TORCH_CHECK(found != names.end(), "telemetry has no metric for gradient part ", name);
    membership[found - names.begin()][static_cast<int64_t>(i)] = 1;
  }
  membership_ = membership.to(store.device());
}

Tensor GroupNorms::Squares() const { return at::mv(membership_, optimizer_.squared_norms()); }

}  // namespace trainyard::trainer

#include "trainer/checkpoint_tools/hugging_face/weight_names.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "trainer/checkpoint_tools/hugging_face/weights_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

PlacedTensors WithPrefix(PlacedTensors tensors, const ModelFamily& family) {
  const bool has_it = std::any_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
    return tensor.first.starts_with(family.prefix);
  });
  if (has_it) return tensors;
  PlacedTensors named;
  for (auto& [name, tensor] : tensors) {
    named[name == family.head ? name : family.prefix + name] = std::move(tensor);
  }
  return named;
}

bool IsSkipped(const std::string& name, const ModelFamily& family) {
  return std::any_of(family.skipped_tensors.begin(), family.skipped_tensors.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

// True for a tensor of a layer that the family skips.
bool IsOfLaterLayer(const std::string& name, const ImportedModel& model) {
  const std::string prefix = "model.layers.";
  if (!model.family->skips_later_layers || !name.starts_with(prefix)) return false;
  return std::atoll(name.c_str() + prefix.size()) >= model.model.num_layers;
}

bool HaveSameBytes(const PlacedTensor& a, const PlacedTensor& b) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  const int64_t bytes = a.end - a.begin;
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  const WeightsFile file_a(a.path), file_b(b.path);
  std::string piece_a(kPiece, '\0'), piece_b(kPiece, '\0');
  for (int64_t done = 0; done < bytes; done += kPiece) {
    const int64_t end = std::min(done + kPiece, bytes);
    file_a.Read(a.begin + done, a.begin + end, "the head's weight", piece_a.data());
    file_b.Read(b.begin + done, b.begin + end, "the embedding", piece_b.data());
    if (piece_a != piece_b) return false;
  }
  return true;
}

}  // namespace

PlacedTensors WithFamilyNames(PlacedTensors tensors, const ImportedModel& model,
                              const std::string& directory) {
  const ModelFamily& family = *model.family;
  tensors = WithPrefix(std::move(tensors), family);
  std::erase_if(tensors, [&](const auto& tensor) {
    return IsSkipped(tensor.first, family) || IsOfLaterLayer(tensor.first, model);
  });
  const auto head = tensors.find(family.head), embedding = tensors.find(family.embedding);
  if (model.model.untie_embeddings_and_output_weights || head == tensors.end()) return tensors;
  if (embedding != tensors.end() && HaveSameBytes(head->second, embedding->second)) {
    tensors.erase(head);
    return tensors;
  }
  throw TrainerError(
      ExitCode::kBadCheckpoint,
      directory + " has " + family.head + " with values that differ from " + family.embedding +
          ", but its config.json ties the two tensors (`tie_word_embeddings`); copy the directory, "
          "then set `tie_word_embeddings` to false or remove the first tensor in the copy");
}

}  // namespace trainyard::trainer

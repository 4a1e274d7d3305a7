// Splits tensors into boxes and saves them from several ranks.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_CUT_TENSORS_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_CUT_TENSORS_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint/checkpoint_writer.h"

namespace trainyard::trainer {

// Splits a tensor into up to `pieces` boxes. Each cut is at a random position of a random dimension
// of a random box.
inline std::vector<TensorChunk> Cut(const std::string& name, const torch::Tensor& tensor,
                                    int pieces, std::mt19937* random) {
  std::vector<TensorChunk> chunks = {WholeTensor(name, tensor)};
  for (int tries = 0; static_cast<int>(chunks.size()) < pieces && tries < 100; ++tries) {
    TensorChunk& victim = chunks[(*random)() % chunks.size()];
    const int64_t d = static_cast<int64_t>((*random)() % victim.offset.size());
    const int64_t extent = victim.tensor.size(d);
    if (extent < 2) continue;
    const int64_t at = 1 + static_cast<int64_t>((*random)() % (extent - 1));
    TensorChunk rest = victim;
    rest.tensor = victim.tensor.narrow(d, at, extent - at);
    rest.offset[d] += at;
    victim.tensor = victim.tensor.narrow(d, 0, at);
    chunks.push_back(rest);
  }
  return chunks;
}

// Saves the chunks from `world` concurrent ranks, assigned round-robin.
inline void SaveFromRanks(const CheckpointDirectory& directory, int64_t step, int world,
                          const std::vector<TensorChunk>& chunks,
                          const nlohmann::json& trainer_state = {}) {
  std::vector<std::unique_ptr<CheckpointWriter>> writers;
  for (int rank = 0; rank < world; ++rank) {
    CheckpointWriterOptions options = directory.Options();
    options.rank = rank;
    options.world_size = world;
    writers.push_back(std::make_unique<CheckpointWriter>(options));
  }
  for (int rank = world - 1; rank >= 0; --rank) {
    std::vector<TensorChunk> mine;
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (static_cast<int>(i) % world == rank) mine.push_back(chunks[i]);
    }
    writers[rank]->Save(step, trainer_state, mine);
  }
  for (const auto& writer : writers) writer->Finish();
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_CUT_TENSORS_H_

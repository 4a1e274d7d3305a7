// The safetensors file that one rank writes.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_

#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// Writes the chunks (contiguous CPU tensors) to directory/RankDataName(rank), durably, and returns
// the entries that describe them. A chunk that is a whole tensor is stored under the tensor's name,
// so that any reader of safetensors finds it; others get "@offset" behind it.
// Throws TrainerError: kCannotWrite, or kInternal for a dtype that cannot be stored.
Entries WriteRankFile(const std::string& directory, int rank,
                      const std::vector<TensorChunk>& chunks);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RANK_FILE_H_

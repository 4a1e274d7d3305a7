// Passes a text, such as the error of one rank, to all ranks of a group.
#ifndef TRAINYARD_TRAINER_PARALLEL_SHARED_TEXT_H_
#define TRAINYARD_TRAINER_PARALLEL_SHARED_TEXT_H_

#include <torch/types.h>

#include <cstddef>
#include <string>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Longer texts are cut. The limit admits a message with a path of PATH_MAX bytes.
inline constexpr std::size_t kSharedTextBytes = 5120;

// Collective: returns, on every member, the text of the first member whose `mine` is not empty; ""
// if there is none. Throws TrainerError(kPeerLost).
std::string SharedText(Communicator& group, const std::string& mine, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_SHARED_TEXT_H_

// Chooses the exchange of tokens between the ranks that share experts.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_DISPATCH_CHOICE_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_DISPATCH_CHOICE_H_

#include <memory>

#include "proto/contract/model_config.h"
#include "trainer/model/experts/token_dispatch.h"
#include "trainer/model/parallel/expert_parallel.h"

namespace trainyard::trainer {

// Returns LocalDispatch for one rank, otherwise the dispatch that `parallel` requests. kAuto
// selects the dispatch that moves the fewest bytes: AllGatherDispatch if a token would be sent more
// often than there are ranks, otherwise AllToAllDispatch.
std::unique_ptr<TokenDispatch> MakeTokenDispatch(const ModelConfig& model,
                                                 const ExpertParallel& parallel);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_DISPATCH_CHOICE_H_

#include "trainer/model/token_dispatch.h"

#include "trainer/model/all_gather_dispatch.h"
#include "trainer/model/all_to_all_dispatch.h"
#include "trainer/model/local_dispatch.h"

namespace trainyard::trainer {

std::unique_ptr<TokenDispatch> MakeTokenDispatch(const ModelConfig& model,
                                                 const ExpertParallel& parallel) {
  if (parallel.size() == 1) return std::make_unique<LocalDispatch>();
  const bool gathers_less = model.moe_router_topk * parallel.parts() > parallel.size();
  const TokenDispatcher dispatcher = parallel.dispatcher();
  if (dispatcher == TokenDispatcher::kAllgather ||
      (dispatcher == TokenDispatcher::kAuto && gathers_less)) {
    return std::make_unique<AllGatherDispatch>(parallel);
  }
  return std::make_unique<AllToAllDispatch>(parallel);
}

}  // namespace trainyard::trainer

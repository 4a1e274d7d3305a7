#include "trainer/model/token_dispatch.h"

#include "trainer/model/all_gather_dispatch.h"
#include "trainer/model/all_to_all_dispatch.h"
#include "trainer/model/local_dispatch.h"

namespace trainyard::trainer {

std::unique_ptr<TokenDispatch> MakeTokenDispatch(const ModelConfig& model,
                                                 const ExpertParallel& parallel) {
  if (parallel.size() == 1) return std::make_unique<LocalDispatch>();
  const int64_t rows = model.moe_router_topk * parallel.parts();
  if (rows > parallel.size()) return std::make_unique<AllGatherDispatch>(parallel);
  return std::make_unique<AllToAllDispatch>(parallel);
}

}  // namespace trainyard::trainer

#include "trainer/model/experts/dispatch_choice.h"

#include "proto/rules/expert_dispatch.h"
#include "trainer/model/experts/all_gather_dispatch.h"
#include "trainer/model/experts/all_to_all_dispatch.h"
#include "trainer/model/experts/local_dispatch.h"

namespace trainyard::trainer {

std::unique_ptr<TokenDispatch> MakeTokenDispatch(const ModelConfig& model,
                                                 const ExpertParallel& parallel) {
  switch (DispatchAmong(parallel.size(), parallel.parts(), model.moe_router_topk,
                        parallel.dispatcher())) {
    case ExpertDispatch::kAllToAll:
      return std::make_unique<AllToAllDispatch>(parallel);
    case ExpertDispatch::kAllGather:
      return std::make_unique<AllGatherDispatch>(parallel);
    case ExpertDispatch::kLocal:
      break;
  }
  return std::make_unique<LocalDispatch>();
}

}  // namespace trainyard::trainer

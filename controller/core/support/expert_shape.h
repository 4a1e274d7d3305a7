// The sizes of a record of experts, read from its message.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_EXPERT_SHAPE_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_EXPERT_SHAPE_H_

#include "proto/contract/expert_load.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

inline ExpertShape ExpertShapeOf(const v1::ExpertsRecord& record) {
  return {.first_layer = record.first_layer(),
          .layers = record.balance_size(),
          .experts = record.experts(),
          .topk = record.topk()};
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_EXPERT_SHAPE_H_

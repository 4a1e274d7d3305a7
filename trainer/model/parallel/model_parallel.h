// The part of the model that a rank has, and the groups of ranks with which it shares computation.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_MODEL_PARALLEL_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_MODEL_PARALLEL_H_

#include "proto/layout/pipeline_place.h"
#include "trainer/model/parallel/context_parallel.h"
#include "trainer/model/parallel/expert_parallel.h"
#include "trainer/model/parallel/tensor_parallel.h"

namespace trainyard::trainer {

// By default, the rank has the whole model.
struct ModelParallel {
  PipelinePlace pipeline;
  TensorParallel tensor;
  ContextParallel context;
  ExpertParallel expert;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_MODEL_PARALLEL_H_

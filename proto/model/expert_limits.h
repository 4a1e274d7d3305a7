// Limits of the trainer on the experts of a model.
#ifndef TRAINYARD_PROTO_MODEL_EXPERT_LIMITS_H_
#define TRAINYARD_PROTO_MODEL_EXPERT_LIMITS_H_

#include <cstdint>

namespace trainyard {

// The largest number of experts that the CUDA kernels of routing and sorting support. If tensor
// parallelism divides experts, the kernels count each part as an expert. The kernels keep one value
// per expert in shared memory.
inline constexpr int64_t kMostExpertsOnGpus = 512;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_EXPERT_LIMITS_H_

// The tensors of the heads of latent attention.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_LATENT_HEAD_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_LATENT_HEAD_TENSORS_H_

#include <torch/types.h>

namespace trainyard::trainer {

// All tensors are contiguous. The size of a query or key head is `unrotated + rotated`.
struct LatentHeads {
  torch::Tensor query;     // [batch, length, heads, unrotated + rotated]
  torch::Tensor key;       // Like query.
  torch::Tensor expanded;  // [batch, length, heads, unrotated + value size]
  torch::Tensor shared;    // [batch * length, rotated]: the rotated elements of all key heads.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_LATENT_HEAD_TENSORS_H_

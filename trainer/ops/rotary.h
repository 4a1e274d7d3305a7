// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) in the half-split convention of
// LLaMA checkpoints on Hugging Face: element i is paired with element i + head_size / 2.
#ifndef TRAINYARD_TRAINER_OPS_ROTARY_H_
#define TRAINYARD_TRAINER_OPS_ROTARY_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// cos and sin of position * base^(-2i / head_size), each [positions, head_size / 2].
struct RotaryTable {
  torch::Tensor cos;
  torch::Tensor sin;
};

// Computed in fp64 and rounded once to `type`.
RotaryTable MakeRotaryTable(int64_t positions, int64_t head_size, double base,
                            torch::ScalarType type, torch::Device device);

struct AttentionHeads {
  int64_t query_heads = 0;
  int64_t key_heads = 0;  // Also the value heads.
  int64_t head_size = 0;
};

// Query, key and value, each [batch, heads, length, head_size] and contiguous.
struct QueryKeyValue {
  torch::Tensor query;
  torch::Tensor key;
  torch::Tensor value;
};

// Splits packed rows [batch, length, (query_heads + 2 * key_heads) * head_size] (query heads first,
// then key heads, then value heads) and rotates query and key, in one pass over each. The table
// holds exactly `length` positions.
QueryKeyValue SplitAndRotate(const torch::Tensor& packed, const RotaryTable& table,
                             const AttentionHeads& heads);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ROTARY_H_

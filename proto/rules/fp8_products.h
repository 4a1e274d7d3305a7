// Decides which matrix products of a run are computed in FP8. Pure functions, shared by the trainer
// and the predictions.
#ifndef TRAINYARD_PROTO_RULES_FP8_PRODUCTS_H_
#define TRAINYARD_PROTO_RULES_FP8_PRODUCTS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/model/model_size.h"

namespace trainyard {

// True if the matrix products of the blocks use FP8.
bool HasFp8(const TrainConfig& train);

// The matrices of a block whose products can use FP8. In a block with experts, kUp and kDown are
// the matrices of the shared expert.
enum class BlockMatrix : int64_t { kQueryKeyValue, kAttentionOutput, kUp, kDown };
inline constexpr int64_t kBlockMatrices = 4;

// True for each matrix whose products use FP8, indexed by BlockMatrix.
using Fp8Matrices = std::array<bool, kBlockMatrices>;

// Returns the matrices of a block that use FP8 in this run. All false without train.fp8. The result
// is the same for all ranks and all layers of one kind.
Fp8Matrices Fp8MatricesOf(const RunConfig& config, BlockKind kind);

// Returns the number of weights in the matrices of Fp8MatricesOf on the first tensor-parallel rank.
int64_t Fp8WeightsOf(const RunConfig& config, BlockKind kind);

// Describes the products that use FP8 and those that do not, one line each with the reason, such as
// "shared expert, down projection: 16-bit, because ...". Empty without train.fp8.
std::vector<std::string> DescribeFp8Products(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_FP8_PRODUCTS_H_

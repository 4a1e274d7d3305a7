// Looks up tokens in a table, and computes the gradient of the table. The table may cover a part of
// the vocabulary: row i belongs to token first_token + i.
#ifndef TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_
#define TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Sets out[r] to table[tokens[r] - first_token], or adds this row to out[r]. If the table has no
// such row, zeros are used.
struct EmbeddingForwardArguments {
  const void* table = nullptr;      // [table_rows, width] of `type`
  const int64_t* tokens = nullptr;  // [rows]
  void* out = nullptr;              // [rows, width] of `type`
  bool accumulate = false;          // True: adds to `out`. False: overwrites it.
  int64_t rows = 0;
  int64_t width = 0;
  int64_t first_token = 0;
  int64_t table_rows = 0;
  ElementType type = ElementType::kBFloat16;
};

void EmbeddingForward(const EmbeddingForwardArguments& arguments, cudaStream_t stream);

// Computes gradient[tokens[r] - first_token] += dy[r]. Skips tokens that have no row in the table.
// Table rows without tokens do not change.
struct EmbeddingBackwardArguments {
  const void* dy = nullptr;         // [rows, width] of `type`
  const int64_t* tokens = nullptr;  // [rows]
  float* gradient = nullptr;        // [table_rows, width]; the result is added
  void* workspace = nullptr;  // EmbeddingBackwardWorkspaceBytes(rows, width); 256-byte aligned
  int64_t rows = 0;
  int64_t width = 0;
  int64_t first_token = 0;
  int64_t table_rows = 0;
  ElementType type = ElementType::kBFloat16;
};

// Returns a size that depends only on the shape and the CUDA version. Allocates nothing.
size_t EmbeddingBackwardWorkspaceBytes(int64_t rows, int64_t width);

// Sorts the tokens, and adds the rows of each token. The order of additions depends only on the
// tokens, so the result has the same bits in every run. The function is fast even if one token
// makes up most of the batch.
void EmbeddingBackward(const EmbeddingBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_

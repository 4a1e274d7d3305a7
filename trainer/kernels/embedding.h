// Rows of a table by token, and the gradient of the table. The table may hold a part of the
// vocabulary: row i is of the token first_token + i.
#ifndef TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_
#define TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// out[r] = or += table[tokens[r] - first_token], or zeros where the table has no such row.
struct EmbeddingForwardArguments {
  const void* table = nullptr;      // [table_rows, width] of `type`
  const int64_t* tokens = nullptr;  // [rows]
  void* out = nullptr;              // [rows, width] of `type`
  bool accumulate = false;          // Adds to `out`, else overwrites it.
  int64_t rows = 0;
  int64_t width = 0;
  int64_t first_token = 0;
  int64_t table_rows = 0;
  ElementType type = ElementType::kBFloat16;
};

void EmbeddingForward(const EmbeddingForwardArguments& arguments, cudaStream_t stream);

// gradient[tokens[r] - first_token] += dy[r], without the tokens that the table has no row for;
// rows of the table that no token names stay as they are.
struct EmbeddingBackwardArguments {
  const void* dy = nullptr;         // [rows, width] of `type`
  const int64_t* tokens = nullptr;  // [rows]
  float* gradient = nullptr;        // [table_rows, width]; added to
  void* workspace =
      nullptr;  // EmbeddingBackwardWorkspaceBytes(rows, width) bytes, 256-byte aligned
  int64_t rows = 0;
  int64_t width = 0;
  int64_t first_token = 0;
  int64_t table_rows = 0;
  ElementType type = ElementType::kBFloat16;
};

// A function of the shape and of the CUDA version only. Makes no allocation.
size_t EmbeddingBackwardWorkspaceBytes(int64_t rows, int64_t width);

// Sorts the tokens and adds the rows of each token in an order that depends on the tokens only:
// equal bits in every run. A token that is most of the batch does not slow it down much.
void EmbeddingBackward(const EmbeddingBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EMBEDDING_H_

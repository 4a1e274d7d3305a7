// The token table, whose rows are divided among tensor-parallel ranks, and the table of learned
// positions, of which every rank has a full copy.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_EMBEDDING_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_EMBEDDING_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/model_config.h"
#include "proto/layout/layout_parts.h"
#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// Returns this rank's part of the vocabulary.
IndexRange VocabularyHere(const ModelConfig& model, const TensorParallel& tensor);

// Declares a matrix [vocabulary, hidden], of which this rank has the rows of VocabularyHere.
ParameterDeclaration DeclareVocabularyMatrix(const ModelConfig& model, const std::string& name,
                                             const TensorParallel& tensor);

// Declares a matrix [max_position_embeddings, hidden], of which every rank has a full copy. Weight
// decay applies to this matrix, because nanoGPT and Megatron-LM apply weight decay to all
// two-dimensional parameters.
ParameterDeclaration DeclarePositionMatrix(const ModelConfig& model, const std::string& name,
                                           const TensorParallel& tensor);

class Embedding {
 public:
  struct Parameters {
    int64_t table = 0;
    int64_t first_token = 0;  // The token of row 0 of this rank's table.
    int64_t positions = -1;   // Index of the position table; -1: none.
  };

  // The store must outlive this object.
  Embedding(const ParameterStore& store, const Parameters& parameters, const TensorParallel& tensor)
      : store_(store), parameters_(parameters), tensor_(tensor) {}

  // Returns the sum of the token vectors and the position vectors for the inputs of the
  // micro-batch: [RowsHere(rows), hidden].
  torch::Tensor Forward(const MicroBatch& micro_batch) const;
  void Backward(const torch::Tensor& dy, const MicroBatch& micro_batch,
                WeightGradients& gradients) const;

 private:
  torch::Tensor PositionsHere(const MicroBatch& micro_batch) const;

  const ParameterStore& store_;
  Parameters parameters_;
  TensorParallel tensor_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_EMBEDDING_H_

// The table of token vectors, its rows cut over tensor-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_EMBEDDING_H_
#define TRAINYARD_TRAINER_MODEL_EMBEDDING_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/layout_parts.h"
#include "proto/contract/run_config.h"
#include "trainer/model/micro_batch.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// This rank's part of the vocabulary.
IndexRange VocabularyHere(const ModelConfig& model, const TensorParallel& tensor);

// A matrix [vocabulary, hidden] of which this rank has the rows VocabularyHere.
ParameterDeclaration DeclareVocabularyMatrix(const ModelConfig& model, const std::string& name,
                                             const TensorParallel& tensor);

class Embedding {
 public:
  // parameter: of the table. first_token: of its first row. The store must outlive this.
  Embedding(const ParameterStore& store, int64_t parameter, int64_t first_token,
            const TensorParallel& tensor)
      : store_(store), parameter_(parameter), first_token_(first_token), tensor_(tensor) {}

  // The vectors of the micro-batch's inputs, [RowsHere(rows), hidden].
  torch::Tensor Forward(const MicroBatch& micro_batch) const;
  void Backward(const torch::Tensor& dy, const MicroBatch& micro_batch,
                WeightGradients& gradients) const;

 private:
  const ParameterStore& store_;
  int64_t parameter_;
  int64_t first_token_;
  TensorParallel tensor_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EMBEDDING_H_

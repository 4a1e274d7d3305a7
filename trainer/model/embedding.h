// The token table, with its rows split over tensor-parallel ranks, and the table of learned
// positions, replicated on each rank.
#ifndef TRAINYARD_TRAINER_MODEL_EMBEDDING_H_
#define TRAINYARD_TRAINER_MODEL_EMBEDDING_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "proto/contract/model_config.h"
#include "proto/layout/layout_parts.h"
#include "trainer/model/micro_batch.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// This rank's part of the vocabulary.
IndexRange VocabularyHere(const ModelConfig& model, const TensorParallel& tensor);

// A matrix [vocabulary, hidden], with the rows VocabularyHere on this rank.
ParameterDeclaration DeclareVocabularyMatrix(const ModelConfig& model, const std::string& name,
                                             const TensorParallel& tensor);

// A matrix [max_position_embeddings, hidden], replicated on every rank. It decays like the token
// table: nanoGPT and Megatron-LM apply weight decay to all two-dimensional parameters.
ParameterDeclaration DeclarePositionMatrix(const ModelConfig& model, const std::string& name,
                                           const TensorParallel& tensor);

class Embedding {
 public:
  struct Parameters {
    int64_t table = 0;
    int64_t first_token = 0;  // Token of the table's first row here.
    int64_t positions = -1;   // -1 without learned positions.
  };

  // The store must outlive this.
  Embedding(const ParameterStore& store, const Parameters& parameters, const TensorParallel& tensor)
      : store_(store), parameters_(parameters), tensor_(tensor) {}

  // Token vectors of the micro-batch's inputs plus their position vectors: [RowsHere(rows),
  // hidden].
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

#endif  // TRAINYARD_TRAINER_MODEL_EMBEDDING_H_

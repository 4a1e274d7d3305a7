#include "trainer/model/layers/embedding.h"

#include <utility>

#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/embedding.h"

namespace trainyard::trainer {

using torch::Tensor;

IndexRange VocabularyHere(const ModelConfig& model, const TensorParallel& tensor) {
  return PartOf(model.vocab_size, tensor.size(), tensor.index());
}

ParameterDeclaration DeclareVocabularyMatrix(const ModelConfig& model, const std::string& name,
                                             const TensorParallel& tensor) {
  const IndexRange rows = VocabularyHere(model, tensor);
  return {{RowsOfLogicalTensor(name, {model.vocab_size, model.hidden_size}, rows.first, rows.length,
                               model.init_method_std)},
          /*decays=*/true};
}

ParameterDeclaration DeclarePositionMatrix(const ModelConfig& model, const std::string& name,
                                           const TensorParallel& tensor) {
  LogicalTensorSlice table = WholeLogicalTensor(
      name, {model.max_position_embeddings, model.hidden_size}, model.init_method_std);
  return {{Replicated(std::move(table), tensor)}, /*decays=*/true};
}

// Returns the positions of the rows that this rank has between matrix products (TensorParallel).
Tensor Embedding::PositionsHere(const MicroBatch& micro_batch) const {
  const int64_t rows = tensor_.RowsHere(micro_batch.rows());
  const int64_t first = tensor_.splits_rows() ? tensor_.index() * rows : 0;
  return micro_batch.positions.narrow(0, first, rows);
}

Tensor Embedding::Forward(const MicroBatch& micro_batch) const {
  const Tensor table = store_.Value(parameters_.table);
  Tensor x = torch::empty({micro_batch.rows(), table.size(1)}, table.options());
  EmbeddingForward(table, micro_batch.inputs, x, parameters_.first_token);
  x = tensor_.Sum(x);
  if (parameters_.positions < 0) return x;
  AddEmbedding(store_.Value(parameters_.positions), PositionsHere(micro_batch), x);
  return x;
}

void Embedding::Backward(const Tensor& dy, const MicroBatch& micro_batch,
                         WeightGradients& gradients) const {
  EmbeddingBackward(tensor_.Gather(dy), micro_batch.inputs, gradients.Target(parameters_.table),
                    parameters_.first_token);
  if (parameters_.positions < 0) return;
  EmbeddingBackward(dy, PositionsHere(micro_batch), gradients.Target(parameters_.positions));
}

}  // namespace trainyard::trainer

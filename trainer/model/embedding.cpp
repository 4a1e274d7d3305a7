#include "trainer/model/embedding.h"

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

Tensor Embedding::Forward(const MicroBatch& micro_batch) const {
  const Tensor table = store_.Value(parameter_);
  Tensor x = torch::empty({micro_batch.rows(), table.size(1)}, table.options());
  EmbeddingForward(table, micro_batch.inputs, x, first_token_);
  return tensor_.Sum(x);
}

void Embedding::Backward(const Tensor& dy, const MicroBatch& micro_batch,
                         WeightGradients& gradients) const {
  EmbeddingBackward(tensor_.Gather(dy), micro_batch.inputs, gradients.Target(parameter_),
                    first_token_);
}

}  // namespace trainyard::trainer

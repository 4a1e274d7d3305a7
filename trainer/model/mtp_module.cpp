#include "trainer/model/mtp_module.h"

#include <string>
#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> MtpModule::Declare(const ModelConfig& model, int64_t layer,
                                                     const TensorParallel& tensor) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const int64_t hidden = model.hidden_size;
  LogicalTensorSlice projection =
      WholeLogicalTensor(prefix + "eh_proj.weight", {hidden, 2 * hidden}, model.init_method_std);
  std::vector<ParameterDeclaration> all = {
      {{Replicated(std::move(projection), tensor)}, /*decays=*/true}};
  for (const char* name : {"enorm", "hnorm", "shared_head.norm"}) {
    Append(DeclareNorm(prefix + name, hidden, NormFormOf(model), tensor), all);
  }
  return all;
}

MtpModule::MtpModule(const ModelConfig& model, const ParameterStore& store, int64_t first_parameter,
                     Block block)
    : store_(store),
      projection_(first_parameter),
      embedding_norm_(store, first_parameter + 1, NormFormOf(model)),
      hidden_norm_(store, first_parameter + 1 + NormVectors(model), NormFormOf(model)),
      final_norm_(store, first_parameter + 1 + 2 * NormVectors(model), NormFormOf(model)),
      block_(std::move(block)) {}

void MtpModule::Forward(const Tensor& h, const Embedding& embedding, Kept& kept) const {
  kept.h = h;
  kept.embedding = embedding.Forward(kept.micro_batch);
  Norm::Result of_embedding = embedding_norm_.Forward(kept.embedding);
  Norm::Result of_h = hidden_norm_.Forward(h);
  kept.joined = at::cat({of_embedding.y, of_h.y}, 1);
  kept.embedding_statistics = std::move(of_embedding.statistics);
  kept.h_statistics = std::move(of_h.statistics);
  Tensor x = torch::empty_like(h);
  LinearForward(kept.joined, store_.Value(projection_), x);
  kept.result = block_.Forward(x, kept.micro_batch);
  Norm::Result of_result = final_norm_.Forward(kept.result);
  kept.result_statistics = std::move(of_result.statistics);
  kept.y = std::move(of_result.y);
}

Tensor MtpModule::Backward(Tensor dy, const Embedding& embedding, Kept& kept,
                           WeightGradients& gradients) const {
  const Tensor d_result =
      final_norm_.Backward(std::move(dy), kept.result, kept.result_statistics, Tensor(), gradients);
  const Tensor dx = block_.Backward(d_result, kept.micro_batch, gradients);
  Tensor d_joined = torch::empty_like(kept.joined);
  LinearInputGradient(dx, store_.Value(projection_), d_joined);
  gradients.AddLinear(projection_, dx, kept.joined);
  const int64_t width = dx.size(1);
  const Tensor d_embedding =
      embedding_norm_.Backward(d_joined.narrow(1, 0, width).contiguous(), kept.embedding,
                               kept.embedding_statistics, Tensor(), gradients);
  embedding.Backward(d_embedding, kept.micro_batch, gradients);
  return hidden_norm_.Backward(d_joined.narrow(1, width, width).contiguous(), kept.h,
                               kept.h_statistics, Tensor(), gradients);
}

}  // namespace trainyard::trainer

// Feed-forward layers that each process some of the rows.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_EXPERTS_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_EXPERTS_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/parallel/expert_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"
#include "trainer/ops/experts/grouped_linear.h"

namespace trainyard::trainer {

// The rows of a rank's experts, sorted by expert.
struct ExpertRows {
  torch::Tensor x;        // [rows, hidden].
  torch::Tensor weights;  // [rows], in the compute type: the weight of each row's result.
  RowSegments segments;
};

// Computes weight * down(activation(up(x))) for each row. The weight multiplies the activation, not
// the result. The result is then not needed for the gradient of the weight, and the results of a
// token only have to be added.
class Experts {
 public:
  // The matrices contain only the experts of this rank, and this rank's part of their width.
  struct Parameters {
    int64_t up = 0;    // [experts * ffn, hidden]; gated: twice the rows, gate of an expert first.
    int64_t down = 0;  // [experts * hidden, ffn]
  };

  // Declares the parameters in the order of Parameters. `prefix` precedes the logical names of the
  // feed-forward layer.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const ExpertParallel& parallel);

  // If `keeps_activation` is false, the weighted activation is recomputed in the backward pass. The
  // store must outlive this object.
  Experts(const ParameterStore& store, const Parameters& parameters, Activation activation,
          bool keeps_activation)
      : store_(store),
        parameters_(parameters),
        activation_(activation),
        keeps_activation_(keeps_activation) {}

  // Returns [rows, hidden].
  torch::Tensor Forward(const ExpertRows& rows, MicroBatch& micro_batch) const;

  // Tensors that a forward pass keeps for the backward pass.
  struct Kept {
    torch::Tensor packed;
    torch::Tensor scaled;  // Undefined if it is recomputed.
  };
  Kept TakeKept(MicroBatch& micro_batch) const;

  // Gradients of the inputs, and the factors of the gradients of the parameters.
  struct Gradients {
    torch::Tensor x;        // [rows, hidden].
    torch::Tensor weights;  // [rows].
    torch::Tensor packed;
    torch::Tensor scaled;
  };
  // Computes the gradients of the inputs. Overwrites `kept`.
  Gradients Backward(const torch::Tensor& dy, const ExpertRows& rows, Kept kept) const;
  // Adds the gradients of the parameters. These gradients are computed separately, so that the
  // gradients of the inputs can be exchanged in the meantime.
  void AddParameterGradients(const torch::Tensor& dy, const ExpertRows& rows,
                             const Gradients& computed, WeightGradients& gradients) const;

 private:
  // Returns a parameter as [experts, out, in].
  torch::Tensor Stacked(int64_t parameter, const ExpertRows& rows) const;

  const ParameterStore& store_;
  const Parameters parameters_;
  const Activation activation_;
  const bool keeps_activation_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_EXPERTS_H_

// The use of a matrix in one pass of a micro-batch, for the products with the matrix.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_LINEAR_USE_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_LINEAR_USE_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// The indices of a matrix and its bias in the parameter store.
struct LinearParameters {
  int64_t weight = 0;
  int64_t bias = -1;  // -1 if there is no bias.
};

struct LinearUse {
  const LinearParameters& parameters;
  const ParameterStore& store;
  const ModelParallel& parallel;
  MicroBatch* micro_batch = nullptr;  // Null: the products do not use FP8.
};

// True if the products with the matrix use FP8.
bool UsesFp8(const LinearUse& use);

// Returns the bias; undefined if there is no bias.
torch::Tensor BiasOf(const LinearUse& use);

// Tensor-parallel ranks have either the same tensor or parts of it.
enum class TensorParts { kWhole, kDivided };

// A factor of products: the input of a product, or the gradient of its output. In a product without
// FP8, `scale` is undefined and `cast` is empty. A factor that was computed in FP8 has only `cast`.
struct LinearFactor {
  torch::Tensor rows;
  Fp8Scale scale = {};
  Fp8Matrix cast = {};

  bool IsFp8() const { return scale.scale.defined(); }
  bool IsCast() const { return cast.rows.defined() || cast.columns.defined(); }
  // Needs the rows, in either type.
  int64_t row_count() const { return (rows.defined() ? rows : cast.rows).size(0); }
};

// ChooseInput begins the forward pass of a matrix: decides whether its products use FP8, and
// chooses the scale of the input x, or of this rank's part of x. RepeatInput returns the same
// choice for the backward pass of the micro-batch. ChooseGradient does the same for the gradient of
// the output. The choices are collective over the ranks that have other parts of the tensor.
LinearFactor ChooseInput(const torch::Tensor& x, TensorParts parts, const LinearUse& use);
LinearFactor RepeatInput(const torch::Tensor& x, const LinearUse& use);
LinearFactor ChooseGradient(const torch::Tensor& dy, TensorParts parts, const LinearUse& use);

// Like ChooseInput and ChooseGradient for a tensor that does not exist yet, so that it can be
// computed in FP8. Return nullopt if the products do not use FP8 or the scale depends on the
// tensor. All products of a step get the same answer.
std::optional<Fp8Scale> KnownInputScale(const LinearUse& use);
std::optional<Fp8Scale> KnownGradientScale(const LinearUse& use);
// Like RepeatInput, after KnownInputScale.
Fp8Scale RepeatInputScale(const LinearUse& use);

// Cast the rows of a factor, or return them unchanged without FP8.
LinearFactor CastInput(LinearFactor x, Fp8Arrangement arrangement);
LinearFactor CastGradient(LinearFactor dy, Fp8Arrangement arrangement);

// Returns `count` rows of a factor, from row `first`. A factor that is cast has only cast rows
// there.
LinearFactor RowsOfFactor(const LinearFactor& factor, int64_t first, int64_t count);

// y = x weight^T + bias. x must be cast with its rows. The bias may be undefined.
void MultiplyInput(const LinearFactor& x, const LinearUse& use, torch::Tensor& y,
                   const torch::Tensor& bias = {});
// Like MultiplyInput, and gelu = GELU(y), in the tanh approximation.
void MultiplyInputWithGelu(const LinearFactor& x, const LinearUse& use, const torch::Tensor& bias,
                           torch::Tensor& y, torch::Tensor& gelu);
// dx = dy weight. dy must be cast with its rows.
void MultiplyGradient(const LinearFactor& dy, const LinearUse& use, torch::Tensor& dx);
// Sets d_y to the gradient of y, where x = GELU(y) is the input of the product.
void MultiplyGradientWithGelu(const LinearFactor& dy, const LinearUse& use, const torch::Tensor& y,
                              torch::Tensor& d_y);
// Adds dy^T x to the gradient of the weight. dy must be cast with its columns. x must be this
// rank's rows that belong to dy; casts x with the scale of the forward pass, unless it is cast.
void AddWeightGradient(LinearFactor dy, const LinearFactor& x, const LinearUse& use,
                       WeightGradients& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_LINEAR_USE_H_

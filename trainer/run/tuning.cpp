#include "trainer/run/tuning.h"

#include <torch/types.h>
#include <torch/utils.h>

#include "trainer/config/trainer_error.h"
#include "trainer/model/decoder.h"
#include "trainer/ops/gpu.h"
#include "trainer/parallel/device/device.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

TrainingTokens Noise(const RunConfig& config, torch::Device device) {
  const int64_t rows = config.layout.micro_batch, length = config.train.seq_length;
  return {torch::randint(0, config.model.vocab_size, {rows, length + 1}, torch::kInt64).to(device),
          torch::full({rows * length}, 1.0 / static_cast<double>(rows * length),
                      torch::dtype(torch::kFloat32).device(device))};
}

}  // namespace

void TuneMatrixProductsOf(const RunConfig& config, const std::string& path) {
  const torch::NoGradGuard no_grad;
  const torch::Device device = OpenDevice(config.resources.device, 0);
  if (!device.is_cuda()) {
    throw TrainerError(ExitCode::kBadConfig, "--tune needs settings with resources.device gpu.");
  }
  gpu::TuneMatrixProducts();
  ModelConfig shape = config.model;
  shape.window_size = 0;  // Matrix products do not need it; cuDNN may not support it.
  Decoder model(shape, {.type = StoredType(config.train.precision),
                        .device = device,
                        .blocks = {.recompute = config.layout.recompute},
                        .seed = config.train.seed});
  WeightGradients gradients(model.parameters());
  torch::Tensor loss = torch::zeros({}, torch::dtype(torch::kFloat64).device(device));
  // The first micro-batch of a step overwrites gradients, and the second one adds to them. These
  // are different products, so two rounds are needed to tune both.
  for (int round = 0; round < 2; ++round) {
    model.ForwardBackward(Noise(config, device), loss, gradients);
  }
  model.Loss(Noise(config, device), loss);
  gpu::SaveTunedMatrixProducts(path);
}

}  // namespace trainyard::trainer

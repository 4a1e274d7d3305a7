#include "trainer/evaluator.h"

#include <torch/utils.h>

#include <algorithm>
#include <vector>

#include "proto/contract/token_format.h"

namespace trainyard::trainer {
namespace {

SampleSourceOptions ValidationOrder(const RunConfig& config) {
  SampleSourceOptions options;
  options.seq_length = config.train.seq_length;
  options.vocab_size = config.model.vocab_size;
  options.order = SampleOrder::kSequential;
  return options;
}

torch::Tensor ReadSamples(const SampleSource& source, int64_t first, int64_t count) {
  torch::Tensor tokens = torch::empty({count, source.seq_length() + 1}, torch::kInt64);
  for (int64_t i = 0; i < count; ++i) {
    source.Fill(first + i, tokens.data_ptr<int64_t>() + i * tokens.size(1));
  }
  return tokens;
}

}  // namespace

Evaluator::Evaluator(const RunConfig& config, Decoder& model, Communicator& communicator,
                     torch::Device device)
    : file_(config.data.path, token_format::kValidationSplit),
      source_(file_, ValidationOrder(config)),
      model_(model),
      communicator_(communicator),
      device_(device),
      batch_samples_(config.layout.micro_batch),
      samples_(std::min(config.evaluation.samples, source_.samples_per_epoch())) {}

EvaluationResult Evaluator::Run() {
  torch::NoGradGuard no_grad;
  const int64_t batches = (samples_ + batch_samples_ - 1) / batch_samples_;
  std::vector<double> sums(batches, 0.0);
  const torch::Tensor weights = torch::ones({batch_samples_ * source_.seq_length()},
                                            torch::dtype(torch::kFloat32).device(device_));
  for (int64_t batch = communicator_.rank(); batch < batches; batch += communicator_.size()) {
    const int64_t first = batch * batch_samples_;
    const torch::Tensor tokens =
        ReadSamples(source_, first, std::min(batch_samples_, samples_ - first)).to(device_);
    torch::Tensor sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
    const int64_t rows = tokens.size(0) * source_.seq_length();
    model_.Loss({tokens, weights.narrow(0, 0, rows)}, sum);
    sums[batch] = sum.item<double>();
  }
  // One member's sum and zeros from the others: the addition is exact.
  sums = SumOverMembers(communicator_, sums, device_);
  EvaluationResult result;
  result.tokens = samples_ * source_.seq_length();
  for (const double sum : sums) result.loss += sum;
  result.loss /= static_cast<double>(result.tokens);
  return result;
}

}  // namespace trainyard::trainer

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

bool Evaluator::AnyMemberStops(bool this_one) const {
  return SumOverMembers(communicator_, {this_one ? 1.0 : 0.0}, device_)[0] > 0;
}

double Evaluator::SumOfBatch(int64_t batch) {
  const int64_t first = batch * batch_samples_;
  const torch::Tensor tokens =
      ReadSamples(source_, first, std::min(batch_samples_, samples_ - first)).to(device_);
  const torch::Tensor weights = torch::ones({tokens.size(0) * source_.seq_length()},
                                            torch::dtype(torch::kFloat32).device(device_));
  torch::Tensor sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
  model_.Loss({tokens, weights}, sum);
  return sum.item<double>();
}

std::optional<EvaluationResult> Evaluator::Run(const std::function<bool()>& stop_requested) {
  torch::NoGradGuard no_grad;
  const int64_t batches = (samples_ + batch_samples_ - 1) / batch_samples_;
  std::vector<double> sums(batches, 0.0);
  // All members take part in every round, also those for which the last one has no batch.
  for (int64_t round = 0; round < batches; round += communicator_.size()) {
    if (AnyMemberStops(stop_requested())) return std::nullopt;
    const int64_t batch = round + communicator_.rank();
    if (batch < batches) sums[batch] = SumOfBatch(batch);
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

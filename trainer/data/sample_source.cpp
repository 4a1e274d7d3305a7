#include "trainer/data/sample_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/samples/window_order.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

std::shared_ptr<const TokenFile> NotOwned(const TokenFile& file) {
  return {std::shared_ptr<const TokenFile>(), &file};
}

BlendSpan SpanOf(const std::vector<WeightedTokens>& files) {
  BlendSpan span;
  for (const WeightedTokens& tokens : files) span.shares.push_back(tokens.share);
  span.taken.assign(files.size(), 0);
  return span;
}

int64_t CountWindows(const TokenFile& file, const SampleSourceOptions& options) {
  if (file.header().vocab_size > options.vocab_size) {
    throw TrainerError(ExitCode::kBadConfig,
                       file.path() + " was made with " + std::to_string(file.header().vocab_size) +
                           " token ids, but model.vocab_size is " +
                           std::to_string(options.vocab_size) + "; raise model.vocab_size");
  }
  const int64_t windows = WindowsIn(file.size(), options.seq_length);
  if (windows > 0) return windows;
  throw TrainerError(ExitCode::kBadData, file.path() + " has " + std::to_string(file.size()) +
                                             " tokens, but one sample needs " +
                                             std::to_string(options.seq_length + 1) +
                                             "; lower train.seq_length, or prepare more data");
}

}  // namespace

SampleSource::SampleSource(std::vector<WeightedTokens> files, SampleSourceOptions options)
    : files_(std::move(files)), options_(std::move(options)), order_({SpanOf(files_)}) {
  for (const WeightedTokens& tokens : files_) {
    windows_.push_back(CountWindows(*tokens.file, options_));
  }
}

SampleSource::SampleSource(const TokenFile& file, SampleSourceOptions options)
    : SampleSource({{NotOwned(file), 1}}, std::move(options)) {}

int64_t SampleSource::positions_before_repeat() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t source = 0; source < sources(); ++source) {
    if (spans().front().shares[source] == 0) continue;
    least = std::min(least, order_.order_of_first().PositionOf({source, windows_[source]}));
  }
  return least;
}

double SampleSource::PassesBefore(int64_t sample, int64_t source) const {
  return static_cast<double>(CountBefore(sample, source)) / static_cast<double>(windows_[source]);
}

int64_t SampleSource::CountBefore(int64_t sample, int64_t source) const {
  return order_.Count(source, PositionOf(sample));
}

void SampleSource::SetSkip(std::vector<SkipRange> skip) { options_.skip = std::move(skip); }

void SampleSource::SetSpans(std::vector<BlendSpan> spans) {
  order_ = StagedOrder(std::move(spans));
}

int64_t SampleSource::PositionOf(int64_t sample) const {
  return trainyard::PositionOf(sample, options_.skip);
}

int64_t SampleSource::WindowAt(const BlendOrder::Place& place) const {
  const int64_t windows = windows_[place.source];
  if (options_.order == SampleOrder::kSequential) return place.index % windows;
  return ShuffledWindow(place, options_.seed, windows).number;
}

void SampleSource::Fill(int64_t sample, int64_t* tokens) const {
  const BlendOrder::Place place = order_.At(PositionOf(sample));
  FillWindow(place.source, WindowAt(place), tokens);
}

void SampleSource::CheckTokens(int64_t windows) const {
  std::vector<int64_t> tokens(options_.seq_length + 1);
  for (int64_t source = 0; source < sources(); ++source) {
    const int64_t checked = std::min(windows, windows_[source]);
    const int64_t last = windows_[source] - 1;
    for (int64_t i = 0; i < checked; ++i) {
      // The first window is number 0, the last one is `last`. The product does not overflow,
      // because `windows` is small.
      FillWindow(source, checked == 1 ? 0 : i * last / (checked - 1), tokens.data());
    }
  }
}

void SampleSource::FillWindow(int64_t source, int64_t window, int64_t* tokens) const {
  const TokenFile& file = *files_[source].file;
  const int64_t first = window * options_.seq_length;
  const int64_t largest = file.Copy(first, options_.seq_length + 1, tokens);
  if (largest >= 0 && largest < options_.vocab_size) return;
  throw TrainerError(ExitCode::kBadData, file.path() + ": token id " + std::to_string(largest) +
                                             " among tokens " + std::to_string(first) + " to " +
                                             std::to_string(first + options_.seq_length) +
                                             " is outside the model's vocabulary of " +
                                             std::to_string(options_.vocab_size) +
                                             "; raise model.vocab_size or prepare the data again");
}

}  // namespace trainyard::trainer

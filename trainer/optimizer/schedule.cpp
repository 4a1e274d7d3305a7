#include "trainer/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard::trainer {
namespace {

// Returns the completed fraction of the decay: 0 before its start, 1 after its end.
double Progress(const ScheduleSpans& spans, int64_t samples) {
  if (samples <= spans.decay_begin) return 0;
  if (samples >= spans.decay_end) return 1;
  return static_cast<double>(samples - spans.decay_begin) /
         static_cast<double>(spans.decay_end - spans.decay_begin);
}

double Cosine(double progress) { return 0.5 * (1 + std::cos(std::numbers::pi * progress)); }

double WsdCoefficient(WsdDecayStyle style, double progress) {
  switch (style) {
    case WsdDecayStyle::kLinear:
      return 1 - progress;
    case WsdDecayStyle::kCosine:
      return Cosine(progress);
    case WsdDecayStyle::kExponential:
      return 2 * std::pow(0.5, progress) - 1;
    case WsdDecayStyle::kMinusSqrt:
      return 1 - std::sqrt(progress);
  }
  return 0;
}

// Returns the relative learning rate, from 0 (the minimum) to 1 (the peak).
double Coefficient(const ScheduleConfig& schedule, double progress) {
  switch (schedule.kind) {
    case ScheduleKind::kLinear:
      return 1 - progress;
    case ScheduleKind::kCosine:
      return Cosine(progress);
    case ScheduleKind::kWsd:
      return WsdCoefficient(schedule.wsd_decay_style, progress);
    case ScheduleKind::kConstant:
    case ScheduleKind::kInverseSquareRoot:
      break;
  }
  return 1;
}

double InverseSquareRoot(const OptimizerConfig& optimizer, const ScheduleSpans& spans,
                         int64_t samples) {
  if (samples > spans.decay_end) return optimizer.min_lr;
  const double ratio = static_cast<double>(spans.peak) / static_cast<double>(samples);
  return std::max(optimizer.min_lr, optimizer.lr * std::sqrt(ratio));
}

}  // namespace

double LearningRate(const ScheduleConfig& schedule, const OptimizerConfig& optimizer,
                    const ScheduleSpans& spans, int64_t samples) {
  if (samples < spans.warmup_end) {
    return optimizer.lr * static_cast<double>(samples) / static_cast<double>(spans.warmup_end);
  }
  if (schedule.kind == ScheduleKind::kInverseSquareRoot) {
    return InverseSquareRoot(optimizer, spans, samples);
  }
  const double coefficient = Coefficient(schedule, Progress(spans, samples));
  if (coefficient == 1) return optimizer.lr;  // Avoids the rounding error of the sum below.
  return optimizer.min_lr + coefficient * (optimizer.lr - optimizer.min_lr);
}

}  // namespace trainyard::trainer

#include "trainer/report/step_time_values.h"

#include "proto/contract/telemetry_keys.h"

namespace trainyard::trainer {
namespace {

const char* KeyOf(StepPart part) {
  switch (part) {
    case StepPart::kCompute:
      return telemetry::kComputeSeconds;
    case StepPart::kInputWait:
      return telemetry::kInputWaitSeconds;
    case StepPart::kTensorWait:
      return telemetry::kTensorWaitSeconds;
    case StepPart::kContextWait:
      return telemetry::kContextWaitSeconds;
    case StepPart::kExpertWait:
      return telemetry::kExpertWaitSeconds;
    case StepPart::kPipelineWait:
      return telemetry::kPipelineWaitSeconds;
    case StepPart::kDataWait:
      return telemetry::kDataWaitSeconds;
    case StepPart::kWorldWait:
      return telemetry::kWorldWaitSeconds;
    case StepPart::kOptimizer:
      return telemetry::kOptimizerSeconds;
    case StepPart::kCheckpointWait:
      break;
  }
  return telemetry::kCheckpointWaitSeconds;
}

bool IsAlwaysWritten(StepPart part) {
  return part == StepPart::kCompute || part == StepPart::kOptimizer;
}

}  // namespace

MetricValues StepTimeValues(const StepTimes& times) {
  MetricValues values;
  for (size_t i = 0; i < kStepParts; ++i) {
    const auto part = static_cast<StepPart>(i);
    if (times[i] > 0 || IsAlwaysWritten(part)) values.emplace_back(KeyOf(part), times[i]);
  }
  return values;
}

}  // namespace trainyard::trainer

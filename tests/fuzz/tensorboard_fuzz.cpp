// Fuzzes TensorBoard event files: as they are, and each input as the content of an intact record.
#include <string>
#include <string_view>

#include "proto/contract/limits.h"
#include "proto/parsers/tensorboard_metrics.h"
#include "proto/parsers/tf_record.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

void CheckSteps(std::string_view bytes, bool idle) {
  using namespace trainyard;
  const TensorboardSteps read = ReadTensorboardSteps(bytes, idle);
  for (const TensorboardStep& step : read.steps) {
    FUZZ_EXPECT(step.metrics.step() >= 0 && step.metrics.step() <= kMaxStep);
    FUZZ_EXPECT(step.metrics.values_size() > 0);
    FUZZ_EXPECT(static_cast<std::size_t>(step.metrics.values_size()) <= kMaxTelemetryKeys);
  }
  // Only a skipped record may end behind the bytes. A later read makes progress or waits.
  FUZZ_EXPECT(read.bytes <= bytes.size() || read.bytes > kMaxTfRecordBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const bool idle : {false, true}) {
    CheckSteps(input, idle);
    CheckSteps(trainyard::TfRecord(input) + trainyard::TfRecord(input), idle);
  }
  return 0;
}

#include "trainer/data/skip_setting.h"

#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

std::vector<SkipRange> ParseSkipRanges(const std::string& text) {
  SkipRanges read = ReadSkipRanges(text);
  if (read.problem.empty()) return std::move(read.ranges);
  throw TrainerError(ExitCode::kBadConfig, "TRAINYARD_SKIP_SAMPLES is \"" + text +
                                               "\": " + read.problem +
                                               "; it must look like 100:200,350:360");
}

}  // namespace trainyard::trainer

#include "trainer/data/skip_setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

TEST(ParseSkipRangesTest, ErrorsNameTheVariableAndTheProblem) {
  EXPECT_EQ(ErrorOf([] { ParseSkipRanges("1:2,5"); }, ExitCode::kBadConfig),
            "TRAINYARD_SKIP_SAMPLES is \"1:2,5\": \"5\" is not a range; it must look like "
            "100:200,350:360");
  EXPECT_EQ(SkipRangesToText(ParseSkipRanges("30:40,1:7")), "1:7,30:40");
}

}  // namespace
}  // namespace trainyard::trainer

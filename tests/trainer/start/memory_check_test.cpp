#include "trainer/start/memory_check.h"

#include <gtest/gtest.h>

#include "proto/memory/memory_model.h"
#include "tests/proto/memory/memory_configs.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;

// Needs 70.2 GB including CUDA and its libraries.
RunConfig Config() { return Llama3_1b5(16); }

void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(MemoryCheckTest, EnoughMemoryIsNotWorthAWord) {
  EXPECT_EQ(CheckMemory(Config(), {150 * kGigabyte, 149 * kGigabyte}), "");
  EXPECT_EQ(CheckMemory(Config(), {74 * kGigabyte, 74 * kGigabyte}), "");
  EXPECT_EQ(CheckMemory(Config(), {}), "") << "a CPU, or a driver that does not say";
}

TEST(MemoryCheckTest, WarnsWhereThePredictionMayBeTooLow) {
  const std::string tight = CheckMemory(Config(), {72 * kGigabyte, 72 * kGigabyte});
  ExpectHas(tight, "than is free on the GPU (72.0 GB of 72.0 GB): the prediction is 70.2 GB (");
  ExpectHas(tight, "layout.micro_batch to 12 (");
  ExpectHas(CheckMemory(Config(), {68 * kGigabyte, 68 * kGigabyte}), "may need more memory");
}

TEST(MemoryCheckTest, WarnsOfMemoryThatOtherProgramsUse) {
  const std::string text = CheckMemory(Config(), {150 * kGigabyte, 60 * kGigabyte});
  ExpectHas(text, "free on the GPU (60.0 GB of 150.0 GB)");
  ExpectHas(text, "layout.micro_batch to 8 (");
}

TEST(MemoryCheckTest, RefusesWhatCannotFit) {
  try {
    CheckMemory(Config(), {66 * kGigabyte, 66 * kGigabyte});
    ADD_FAILURE() << "70.2 GB do not fit into 66 GB";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    ExpectHas(error.what(), "memory of 66.0 GB; the run needs about 70.2 GB (weights 6.2 GB, ");
    ExpectHas(error.what(), "Set layout.micro_batch to 12 (");
    ExpectHas(error.what(), "layout.recompute to selective (");
  }
}

TEST(MemoryCheckTest, ARunThatIsOutOfMemoryIsToldWhatNeedsLess) {
  const DeviceMemory large{150 * kGigabyte, 0};
  const std::string text = MemoryShortageText(Config(), large);
  ExpectHas(text, "The prediction was 70.2 GB (weights 6.2 GB, ");
  ExpectHas(text, " of the GPU's 150.0 GB. Set layout.micro_batch to 12 (");
  ExpectHas(MemoryShortageText(Config(), {40 * kGigabyte, 0}), "micro_batch to 3 (");
  ExpectHas(MemoryShortageText(Config(), {}), "). Set layout.micro_batch to 12 (");
}

}  // namespace
}  // namespace trainyard::trainer

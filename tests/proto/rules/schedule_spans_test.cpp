#include "proto/rules/schedule_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns 100 steps of 8 samples with 16 tokens each.
TrainConfig HundredSteps() {
  TrainConfig train;
  train.seq_length = 16;
  train.global_batch = 8;
  train.steps = 100;
  return train;
}

// Returns settings whose steps have 4, 4, 4, 8, 8, 12, 16, 16, ... samples.
TrainConfig GrowingBatch() {
  TrainConfig train = HundredSteps();
  train.global_batch = 16;
  train.rampup_batch_start = train.rampup_batch_increment = 4;
  train.rampup_batch_samples = 36;
  return train;
}

std::vector<std::string> ScheduleProblems(const ScheduleConfig& schedule,
                                          const TrainConfig& train = HundredSteps()) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : FindScheduleProblems(train, schedule)) {
    EXPECT_THAT(problem.message, HasSubstr("schedule"));
    messages.push_back(problem.message);
  }
  return messages;
}

TEST(ScheduleSpansTest, EveryWayToWriteALengthGivesTheSameSpans) {
  ScheduleConfig written[4];
  written[0].warmup_steps = 10;
  written[1].warmup_samples = 80;
  written[2].warmup_tokens = 80 * 16 - 15;  // Rounded up.
  written[3].warmup_fraction = 0.1;
  for (const ScheduleConfig& schedule : written) {
    const ScheduleSpans spans = SpansOf(HundredSteps(), schedule);
    EXPECT_EQ(spans.warmup_end, 80);
    EXPECT_EQ(spans.peak, 80);
    EXPECT_EQ(spans.decay_begin, 80);
    EXPECT_EQ(spans.decay_end, 800);
    EXPECT_THAT(ScheduleProblems(schedule), IsEmpty());
  }
}

TEST(ScheduleSpansTest, WsdDecaysAtTheEnd) {
  ScheduleConfig written[4];
  written[0].decay_steps = 25;
  written[1].decay_samples = 200;
  written[2].decay_tokens = 3200;
  written[3].decay_fraction = 0.25;
  for (ScheduleConfig& schedule : written) {
    schedule.kind = ScheduleKind::kWsd;
    EXPECT_EQ(SpansOf(HundredSteps(), schedule).decay_begin, 600);
    EXPECT_EQ(SpansOf(HundredSteps(), schedule).decay_end, 800);
    schedule.kind = ScheduleKind::kCosine;
    EXPECT_EQ(SpansOf(HundredSteps(), schedule).decay_end, 200) << "from the start";
  }
}

TEST(ScheduleSpansTest, StepsOfAGrowingBatchAreTheirSamples) {
  ScheduleConfig schedule;
  schedule.warmup_steps = 5;
  EXPECT_EQ(SpansOf(GrowingBatch(), schedule).warmup_end, 28);
  EXPECT_EQ(SpansOf(GrowingBatch(), schedule).decay_end, 40 + 94 * 16);
  schedule.kind = ScheduleKind::kWsd;
  schedule.decay_steps = 95;
  EXPECT_EQ(SpansOf(GrowingBatch(), schedule).decay_begin, 28);
  EXPECT_THAT(ScheduleProblems(schedule, GrowingBatch()), IsEmpty());
  schedule.decay_steps = 96;
  EXPECT_THAT(ScheduleProblems(schedule, GrowingBatch()),
              ElementsAre(HasSubstr("warm-up and decay take 101 steps, but the run has 100")));
}

TEST(ScheduleSpansTest, WithoutAWarmUpThePeakIsTheFirstStep) {
  EXPECT_EQ(SpansOf(HundredSteps(), {}).warmup_end, 0);
  EXPECT_EQ(SpansOf(HundredSteps(), {}).peak, 8);
  EXPECT_EQ(SpansOf(GrowingBatch(), {}).peak, 4);
}

TEST(ScheduleSpansTest, RefusesTwoLengthsOfOnePart) {
  ScheduleConfig schedule;
  schedule.warmup_steps = 3;
  schedule.warmup_fraction = 0.1;
  EXPECT_THAT(ScheduleProblems(schedule),
              ElementsAre("`schedule.warmup_steps` and `schedule.warmup_fraction` are both set; "
                          "keep one"));
  schedule = {};
  schedule.decay_tokens = schedule.decay_samples = 500;
  EXPECT_THAT(ScheduleProblems(schedule),
              ElementsAre(HasSubstr("`schedule.decay_tokens` are both set")));
}

TEST(ScheduleSpansTest, RefusesPartsThatDoNotFit) {
  ScheduleConfig schedule;
  schedule.warmup_samples = 801;
  EXPECT_THAT(ScheduleProblems(schedule),
              ElementsAre("schedule: warm-up takes 801 samples, but the run has 800 in 100 steps"));
  schedule = {.kind = ScheduleKind::kWsd, .warmup_steps = 50};
  schedule.decay_fraction = 0.51;
  EXPECT_THAT(ScheduleProblems(schedule),
              ElementsAre(HasSubstr("decay take 808 samples, but the run has")));
  schedule = {.warmup_steps = 50, .decay_steps = 50};
  EXPECT_THAT(ScheduleProblems(schedule),
              ElementsAre(HasSubstr("before the warm-up ends (400 samples)")));
  schedule.decay_steps = 1000;
  EXPECT_THAT(ScheduleProblems(schedule), IsEmpty()) << "a run may end before its schedule";
}

TEST(ScheduleSpansTest, RefusesSettingsWithoutAnEffect) {
  ScheduleConfig schedule;
  schedule.wsd_decay_style = WsdDecayStyle::kCosine;
  EXPECT_THAT(ScheduleProblems(schedule), ElementsAre(HasSubstr("needs `schedule.kind` wsd")));
  schedule = {.kind = ScheduleKind::kConstant, .decay_steps = 5};
  EXPECT_THAT(ScheduleProblems(schedule), ElementsAre(HasSubstr("no effect with `schedule.kind`")));
  schedule = {.kind = ScheduleKind::kWsd};
  EXPECT_THAT(ScheduleProblems(schedule), ElementsAre(HasSubstr("wsd needs one of them")));
}

}  // namespace
}  // namespace trainyard

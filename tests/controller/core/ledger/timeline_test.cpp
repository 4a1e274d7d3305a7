#include "controller/core/ledger/timeline.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

void ExpectRange(const Timeline& timeline, const v1::LedgerSpan& span, Timestamp begin,
                 Timestamp end) {
  const Timeline::Range range = timeline.RangeOf(span);
  EXPECT_EQ(range.begin, begin) << span.DebugString();
  EXPECT_EQ(range.end, end) << span.DebugString();
}

TEST(TimelineTest, OnlyMixedPhasesAreSpreadOverTheirCommonTime) {
  Timeline timeline(100);
  timeline.AddUntil(v1::LEDGER_PHASE_INIT, 1, 4, 200);
  timeline.AddUntil(v1::LEDGER_PHASE_CHECKPOINT, 1, 4, 250);
  timeline.AddUntil(v1::LEDGER_PHASE_TRAIN, 1, 4, 400);
  timeline.MixSince(200);
  timeline.AddUntil(v1::LEDGER_PHASE_RECOMPUTE, 1, 4, 500);
  ASSERT_EQ(timeline.spans().size(), 4);
  ExpectRange(timeline, timeline.spans()[0], 100, 200);
  ExpectRange(timeline, timeline.spans()[1], 200, 400);
  ExpectRange(timeline, timeline.spans()[2], 200, 400);
  ExpectRange(timeline, timeline.spans()[3], 400, 500);
}

TEST(TimelineTest, AnEmptyMixtureHidesNoOtherOne) {
  Timeline timeline(100);
  timeline.MixSince(100);
  timeline.AddUntil(v1::LEDGER_PHASE_RESTART, 1, 4, 200);
  timeline.MixSince(200);
  timeline.AddUntil(v1::LEDGER_PHASE_TRAIN, 2, 4, 300);
  timeline.MixSince(200);
  ASSERT_EQ(timeline.spans().size(), 2);
  ExpectRange(timeline, timeline.spans()[0], 100, 200);
  ExpectRange(timeline, timeline.spans()[1], 200, 300);
}

TEST(TimelineTest, QueuedAndPausedJobsHoldNoSlots) {
  Timeline timeline(0);
  timeline.AddUntil(v1::LEDGER_PHASE_QUEUED, 0, 4, 10);
  timeline.AddUntil(v1::LEDGER_PHASE_PAUSED, 0, 4, 20);
  timeline.AddUntil(v1::LEDGER_PHASE_RESTART, 0, 4, 20);
  ASSERT_EQ(timeline.spans().size(), 2) << "a phase without time has no span";
  EXPECT_EQ(timeline.spans()[0].slots(), 0);
  EXPECT_EQ(timeline.spans()[1].slots(), 0);
}

}  // namespace
}  // namespace trainyard::controller

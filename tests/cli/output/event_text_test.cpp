#include "cli/output/event_text.h"

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

TEST(EventTextTest, APreemptedAttemptNamesTheJobThatGetsItsSlots) {
  v1::Event event;
  v1::AttemptYielded& yielded = *event.mutable_attempt_yielded();
  yielded.set_attempt(2);
  yielded.mutable_yield()->set_reason("job 9 (large) of a higher priority needs its slots");
  EXPECT_EQ(EventText(event, {}),
            "attempt 2 yields its slots: job 9 (large) of a higher priority needs its slots");
}

}  // namespace
}  // namespace trainyard::cli

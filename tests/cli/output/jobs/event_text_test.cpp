#include "cli/output/jobs/event_text.h"

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

TEST(EventTextTest, ASessionBesideARankNamesCommandAndNode) {
  v1::Event event;
  v1::ExecOpened& opened = *event.mutable_exec_opened();
  opened.set_attempt(2);
  opened.set_rank(3);
  opened.set_node_id("a1");
  opened.set_command("nvidia-smi -L");
  NodeNames names;
  names["a1"] = "gpu07";
  EXPECT_EQ(EventText(event, names),
            "ran `nvidia-smi -L` beside rank 3 of attempt 2 on node gpu07");
  opened.clear_command();
  EXPECT_EQ(EventText(event, names), "opened a shell beside rank 3 of attempt 2 on node gpu07");
}

TEST(EventTextTest, AHandOverNamesBothControllers) {
  v1::Event event;
  event.mutable_leadership_handed_over()->set_from("10.0.0.1:7070");
  event.mutable_leadership_handed_over()->set_to("10.0.0.2:7070");
  EXPECT_EQ(EventText(event, {}), "leadership handed over from 10.0.0.1:7070 to 10.0.0.2:7070");
}

TEST(EventTextTest, AnAlertWithoutAStepNamesNone) {
  v1::Event event;
  v1::AlertRaised& alert = *event.mutable_alert_raised();
  alert.set_code("launcher_restart");
  alert.set_message("the launcher of rank 0 starts its ranks again");
  EXPECT_EQ(EventText(event, {}),
            "alert launcher_restart: the launcher of rank 0 starts its ranks again");
  alert.set_step(7);
  EXPECT_EQ(EventText(event, {}),
            "alert launcher_restart at step 7: the launcher of rank 0 starts its ranks again");
}

}  // namespace
}  // namespace trainyard::cli

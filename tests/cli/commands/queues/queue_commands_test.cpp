// Tests `queue` and its subcommands.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class QueueCommandsTest : public CliFixture {
 protected:
  void AddWaitingJob() {
    answers().queues.set_waiting_jobs(3);
    answers().queues.set_as_of_ms(3'600'000);
    v1::QueuedJob& job = *answers().queues.add_jobs();
    job.set_job_id(17);
    job.set_name("llama");
    job.set_user("ada");
    job.set_queue("night");
    job.set_priority(2);
    job.set_device(v1::DEVICE_KIND_GPU);
    job.set_nodes(4);
    job.set_slots_per_node(8);
    job.set_queued_since_ms(1'800'000);
    job.mutable_reason()->set_queue_position(1);
    job.mutable_reason()->set_message("needs 4 nodes");
  }
  void AddQueue() {
    v1::QueueState& state = *answers().queues.add_queues();
    state.mutable_queue()->set_name("night");
    state.mutable_queue()->set_shares(3);
    v1::SlotQuota& quota = *state.mutable_queue()->add_quotas();
    quota.set_device(v1::DEVICE_KIND_GPU);
    quota.set_max_slots(64);
    v1::QueueSlots& slots = *state.add_slots();
    slots.set_device(v1::DEVICE_KIND_GPU);
    slots.set_held_slots(40);
    slots.set_fair_share(0.75);
    slots.set_usage_share(0.5);
  }
};

TEST_F(QueueCommandsTest, TheListHasTheOrderAndTheReason) {
  AddWaitingJob();
  const CliResult result = Run({"queue"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("POSITION"), HasSubstr("4x8 gpu"), HasSubstr("30m"),
                                HasSubstr("night"), HasSubstr("needs 4 nodes")));
  EXPECT_THAT(result.err, HasSubstr("showing 1 of 3 waiting jobs"));
  EXPECT_EQ(answers().queue_lists.back().limit(), 100);
  EXPECT_EQ(Run({"queue", "list", "--limit", "7", "-o", "name"}).out, "17\n");
  EXPECT_EQ(answers().queue_lists.back().limit(), 7);
}

TEST_F(QueueCommandsTest, AnEmptyListSaysWhereTheQueuesAre) {
  answers();  // Starts the server.
  EXPECT_THAT(Run({"queue"}).err, HasSubstr("trainyard queue shares"));
}

TEST_F(QueueCommandsTest, SharesListsQueuesWithTheirUse) {
  AddQueue();
  EXPECT_THAT(Run({"queue", "shares"}).out,
              AllOf(HasSubstr("night"), HasSubstr("75%"), HasSubstr("50%"), HasSubstr("64")));
}

TEST_F(QueueCommandsTest, SetKeepsWhatIsNotNamed) {
  AddQueue();
  const CliResult result = Run(
      {"queue", "set", "night", "--tier", "1", "--max-per-user", "gpu=16", "--nominal", "cpu=4"});
  EXPECT_EQ(result.out,
            "queue night: 3 shares, tier 1; gpu: at most 64, 16 per user; cpu: nominal 4\n");
  ASSERT_EQ(answers().queue_settings.size(), 1u);
  EXPECT_EQ(answers().queue_settings[0].user(), "ada");
}

TEST_F(QueueCommandsTest, BadLimitsAreRefusedBeforeTheCall) {
  answers();  // Starts the server.
  for (const char* text : {"gpu", "gpu=x", "tpu=1", "=1", "gpu="}) {
    const CliResult result = Run({"queue", "set", "q", "--max", text});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("write KIND=SLOTS, such as gpu=64")) << text;
  }
  EXPECT_TRUE(answers().queue_settings.empty());
}

TEST_F(QueueCommandsTest, DeleteAndMove) {
  answers();  // Starts the server.
  EXPECT_EQ(Run({"queue", "delete", "night"}).out, "queue night deleted\n");
  EXPECT_EQ(answers().queue_deletions[0].name(), "night");
  EXPECT_EQ(Run({"queue", "move", "17", "--queue", "night", "--priority", "-3"}).out,
            "job 17 job: queue night, priority -3\n");
  ASSERT_EQ(answers().moves.size(), 1u);
  EXPECT_EQ(answers().moves[0].priority(), -3);
  EXPECT_THAT(Run({"queue", "move", "17"}).err, HasSubstr("add --queue NAME, --priority N"));
}

}  // namespace
}  // namespace trainyard::cli

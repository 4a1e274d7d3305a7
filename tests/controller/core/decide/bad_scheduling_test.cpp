// Requests that the scheduler must refuse with one clear line, without any change of the state.
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kTenYearsS = int64_t{3650} * 86'400;
constexpr std::size_t kLongestLine = 300;

struct BadRequest {
  std::string what;
  std::function<absl::Status(const TestCluster&)> send;
  std::string message;
};

absl::Status TrySpec(const TestCluster& cluster, const std::function<void(v1::JobSpec&)>& edit) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("new", 1, 1);
  edit(*request.mutable_spec());
  const auto checked = JobSubmission::Check(request, {"ada"});
  return checked.ok() ? cluster.Try(*checked) : checked.status();
}

absl::Status TryQueue(const TestCluster& cluster, const std::function<void(v1::Queue&)>& edit) {
  SetQueue set{.request = {}, .principal = {"ada"}};
  set.request.mutable_queue()->set_name("lab");
  edit(*set.request.mutable_queue());
  return cluster.Try(set);
}

absl::Status TryQuota(const TestCluster& cluster, int max_slots, int per_user) {
  return TryQueue(cluster, [&](v1::Queue& queue) {
    queue.add_quotas()->set_device(v1::DEVICE_KIND_CPU);
    queue.mutable_quotas(0)->set_max_slots(max_slots);
    queue.mutable_quotas(0)->set_max_slots_per_user(per_user);
  });
}

absl::Status TryPriority(const TestCluster& cluster, int priority) {
  MoveInQueue move{.request = {}, .principal = {"ada"}};
  move.request.set_job("runs");
  move.request.set_priority(priority);
  return cluster.Try(move);
}

absl::Status TryExtension(const TestCluster& cluster, int64_t seconds) {
  ExtendJob extend{.request = {}, .principal = {"ada"}};
  extend.request.set_job("runs");
  extend.request.mutable_by()->set_seconds(seconds);
  return cluster.Try(extend);
}

const std::vector<BadRequest>& BadRequests() {
  static const std::vector<BadRequest> kRequests = {
      {"priority too great",
       [](const auto& c) { return TrySpec(c, [](auto& spec) { spec.set_priority(1001); }); },
       "`priority` must be at most 1000, got 1001"},
      {"priority too small",
       [](const auto& c) { return TrySpec(c, [](auto& spec) { spec.set_priority(INT32_MIN); }); },
       "`priority` must be at least -1000, got -2147483648"},
      {"move to a priority too great", [](const auto& c) { return TryPriority(c, 1001); },
       "`priority` is 1001; it must be from -1000 to 1000"},
      {"move to a priority too small", [](const auto& c) { return TryPriority(c, -1001); },
       "`priority` is -1001; it must be from -1000 to 1000"},
      {"limit below the slots in use", [](const auto& c) { return TryQuota(c, 2, 0); },
       "the queue lab holds 3 cpu slots, so `max_slots` cannot be 2; stop or pause"},
      {"limit of a user below the slots in use", [](const auto& c) { return TryQuota(c, 0, 2); },
       "ada holds 3 cpu slots in the queue lab, so `max_slots_per_user` cannot be 2"},
      {"queue with jobs",
       [](const auto& c) {
         DeleteQueue deletion{.request = {}, .principal = {"ada"}};
         deletion.request.set_name("lab");
         return c.Try(deletion);
       },
       "is in the queue lab; move its jobs first"},
      {"job that waits for itself",
       [](const auto& c) { return TrySpec(c, [](auto& spec) { spec.add_after("new"); }); },
       "names this job, and a job cannot wait for itself"},
      {"cycle through a later job",
       [](const auto& c) { return TrySpec(c, [](auto& spec) { spec.add_after("3:end"); }); },
       "there is no job `3`"},
      {"time limit of 0",
       [](const auto& c) {
         return TrySpec(c, [](auto& spec) { spec.mutable_time_limit()->set_seconds(0); });
       },
       "`time_limit` must be at least 1s, got 0s"},
      {"time limit of ten years",
       [](const auto& c) {
         return TrySpec(c, [](auto& spec) { spec.mutable_time_limit()->set_seconds(kTenYearsS); });
       },
       "`time_limit` must be at most 31536000s, got 315360000s"},
      {"extension by 0", [](const auto& c) { return TryExtension(c, 0); },
       "the time to add must be at least 1 ms"},
      {"extension by ten years", [](const auto& c) { return TryExtension(c, kTenYearsS); },
       "a time limit may have at most"},
      {"shares below 0",
       [](const auto& c) { return TryQueue(c, [](auto& queue) { queue.set_shares(-1); }); },
       "`shares` is -1; it must be from 0 to 1000000"},
      {"tier out of range",
       [](const auto& c) { return TryQueue(c, [](auto& queue) { queue.set_tier(101); }); },
       "`tier` is 101; it must be from -100 to 100"},
  };
  return kRequests;
}

TEST(BadSchedulingTest, EachRequestIsRefusedWithOneLineAndChangesNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  SetQueue lab{.request = {}, .principal = {"ada"}};
  lab.request.mutable_queue()->set_name("lab");
  cluster.Do(lab);
  v1::JobSpec spec = TestSpec("runs", 1, 3);
  spec.set_queue("lab");
  spec.mutable_time_limit()->set_seconds(3600);
  cluster.RunJob(cluster.Submit(spec));
  const std::string before = Bytes(cluster.state);
  for (const BadRequest& bad : BadRequests()) {
    const absl::Status refused = bad.send(cluster);
    EXPECT_FALSE(refused.ok()) << bad.what;
    const std::string message(refused.message());
    EXPECT_THAT(message, HasSubstr(bad.message)) << bad.what;
    EXPECT_THAT(message, Not(HasSubstr("\n"))) << bad.what;
    EXPECT_LT(message.size(), kLongestLine) << bad.what;
  }
  EXPECT_EQ(Bytes(cluster.state), before);
}

}  // namespace
}  // namespace trainyard::controller

// The nodes that `placement` of a job file allows, and the kinds of device of a gang.
#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/state/nodes/node_groups.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kA100[] = "NVIDIA A100-SXM4-40GB";
constexpr char kH200[] = "NVIDIA H200";

v1::JobSpec GpuSpec(const std::string& name, int nodes, int slots) {
  v1::JobSpec spec = TestSpec(name, nodes, slots);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  return spec;
}

class NodeChoiceTest : public ::testing::Test {
 protected:
  // Four nodes with two GPUs each. The nodes of the pool `a` are gpu01 and gpu03.
  NodeChoiceTest() {
    for (const char* id : {"gpu01", "gpu02", "gpu03", "gpu04"}) {
      const bool is_odd = id[4] % 2 == 1;
      cluster_.AddGpuNode(id, 2, kH200, {{"pool", is_odd ? "a" : "b"}});
    }
  }

  std::string Message(const Request& request) const {
    return std::string(cluster_.Try(request).message());
  }
  std::string Why(int64_t job) {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).message();
  }
  JobSubmission Submission(const v1::JobSpec& spec) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = spec;
    return Checked(request);
  }

  TestCluster cluster_;
};

TEST_F(NodeChoiceTest, NodesExcludeAndLabelsRestrictTheNodes) {
  v1::JobSpec named = GpuSpec("named", 2, 1);
  named.mutable_placement()->add_nodes("gpu[02-04]");
  named.mutable_placement()->add_exclude("gpu03");
  v1::JobSpec labeled = GpuSpec("labeled", 2, 1);
  (*labeled.mutable_placement()->mutable_labels())["pool"] = "a";
  const int64_t first = cluster_.Submit(named), second = cluster_.Submit(labeled);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(first), "gpu02:0 gpu04:0");
  EXPECT_EQ(cluster_.Placement(second), "gpu01:0 gpu03:0");
}

TEST_F(NodeChoiceTest, AJobThatItsNodesCannotHoldIsRefused) {
  v1::JobSpec spec = GpuSpec("job", 2, 2);
  spec.mutable_placement()->add_exclude("gpu[02-05]");
  EXPECT_THAT(
      Message(Submission(spec)),
      HasSubstr("the job needs 2 nodes with 2 gpu slots each, but `placement` allows 1 of 4 "
                "nodes, and the largest gang that fits these is 1 node with 2 gpu slots; no "
                "node is called gpu05; change `placement`, or reduce resources.nodes or "
                "resources.slots_per_node"));
  spec.mutable_placement()->clear_exclude();
  (*spec.mutable_placement()->mutable_labels())["pool"] = "c";
  EXPECT_THAT(Message(Submission(spec)), HasSubstr("`placement` allows none of 4 nodes; change"));
  spec.mutable_placement()->clear_labels();
  EXPECT_EQ(Message(Submission(spec)), "");
}

TEST_F(NodeChoiceTest, WhyCountsTheAllowedNodes) {
  const int64_t other = cluster_.Submit(GpuSpec("other", 3, 2));
  cluster_.RunJob(other);
  v1::JobSpec spec = GpuSpec("job", 1, 2);
  (*spec.mutable_placement()->mutable_labels())["pool"] = "a";
  const int64_t job = cluster_.Submit(spec);
  cluster_.Settle();
  EXPECT_THAT(Why(job), HasSubstr("needs 1 node with 2 gpu slots; `placement` allows 2 of 4 nodes; "
                                  "none of these has enough available slots"));
}

TEST_F(NodeChoiceTest, AHeadDelaysNoJobOnNodesThatItMayNotUse) {
  const int64_t running = cluster_.Submit(GpuSpec("running", 3, 2));
  cluster_.RunJob(running);
  ASSERT_EQ(cluster_.Placement(running), "gpu01:0 gpu01:1 gpu02:0 gpu02:1 gpu03:0 gpu03:1");
  v1::JobSpec head = GpuSpec("head", 2, 2);
  head.mutable_placement()->add_nodes("gpu[01-02]");
  const int64_t waiting = cluster_.Submit(head);
  const int64_t later = cluster_.Submit(GpuSpec("later", 1, 2));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(waiting), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.Placement(later), "gpu04:0 gpu04:1");
}

TEST_F(NodeChoiceTest, AClassHasOnePlacement) {
  v1::JobSpec blocked = GpuSpec("blocked", 1, 2);
  blocked.mutable_placement()->add_nodes("gpu01");
  cluster_.RunJob(cluster_.Submit(blocked));
  blocked.set_name("blocked-2");
  const int64_t first = cluster_.Submit(blocked);
  blocked.set_name("free");
  blocked.mutable_placement()->set_nodes(0, "gpu02");
  const int64_t second = cluster_.Submit(blocked);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(first), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.Placement(second), "gpu02:0 gpu02:1");
}

TEST_F(NodeChoiceTest, PreemptionTakesOnlyAllowedNodes) {
  std::vector<int64_t> low;
  for (const char* name : {"r", "s", "t", "u"}) {
    low.push_back(cluster_.Submit(GpuSpec(name, 1, 2)));
    cluster_.RunJob(low.back());
  }
  ASSERT_EQ(cluster_.Placement(low[2]), "gpu03:0 gpu03:1");
  v1::JobSpec head = GpuSpec("head", 1, 2);
  head.set_priority(1);
  head.mutable_placement()->add_nodes("gpu03");
  const int64_t waiting = cluster_.Submit(head);
  EXPECT_THAT(Kinds(cluster_.Pass(PreemptionLimits{}.wait_ms + 2000, 1000)),
              ElementsAre("AttemptYielded"));
  EXPECT_TRUE(cluster_.Attempt(low[2]).has_yield());
  cluster_.ExitAll(low[2], 143);
  cluster_.ClearAll(low[2]);
  EXPECT_EQ(cluster_.Placement(waiting), "gpu03:0 gpu03:1");
}

TEST_F(NodeChoiceTest, AGangStaysWhenItsNodeLosesALabel) {
  v1::JobSpec spec = GpuSpec("job", 2, 1);
  (*spec.mutable_placement()->mutable_labels())["pool"] = "a";
  const int64_t job = cluster_.Submit(spec);
  cluster_.RunJob(job);
  v1::Hello hello = cluster_.HelloOf("gpu03");
  hello.set_incarnation("2");
  (*hello.mutable_labels())["pool"] = "b";
  *hello.add_attempts() = cluster_.Report("gpu03", job);
  const auto events = cluster_.Do(AttachWorker{hello});
  ASSERT_THAT(Kinds(events), ElementsAre("NodeJoined", "AlertRaised"));
  EXPECT_THAT(events[1].alert_raised().message(),
              HasSubstr("`placement` no longer allows node gpu03"));
  EXPECT_EQ(events[1].alert_raised().job_id(), job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
  EXPECT_THAT(cluster_.Do(AttachWorker{hello}), IsEmpty()) << "the same labels are no change";
}

TEST_F(NodeChoiceTest, LabelsOfAHelloAreChecked) {
  v1::Hello hello = cluster_.HelloOf("gpu03");
  (*hello.mutable_labels())["device"] = "x";
  EXPECT_THAT(Message(AttachWorker{hello}), HasSubstr("no worker sets it"));
  hello.mutable_labels()->clear();
  (*hello.mutable_labels())["a b"] = "x";
  EXPECT_THAT(Message(AttachWorker{hello}), HasSubstr("a label in Hello is not valid: its name"));
  hello.mutable_labels()->clear();
  for (int i = 0; i < 51; ++i) (*hello.mutable_labels())["l" + std::to_string(i)] = "x";
  EXPECT_THAT(Message(AttachWorker{hello}), HasSubstr("51 labels, but at most 50"));
}

TEST_F(NodeChoiceTest, AGangNeverMixesKindsOfDevice) {
  for (const char* id : {"old1", "old2"}) cluster_.AddGpuNode(id, 2, kA100);
  EXPECT_THAT(Message(Submission(GpuSpec("job", 5, 1))),
              HasSubstr("the largest gang that fits this cluster is 4 nodes with 2 gpu slots each, "
                        "because a gang uses one kind of device"));
  cluster_.RunJob(cluster_.Submit(GpuSpec("small", 2, 2)));
  // Two nodes of each kind are free for a gang of three, which would fit on both together.
  const int64_t large = cluster_.Submit(GpuSpec("large", 3, 2));
  const int64_t pair = cluster_.Submit(GpuSpec("pair", 2, 2));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(large), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(large),
              HasSubstr("a gang uses one kind of device, and at most 2 nodes of one kind "
                        "have enough available slots"));
  EXPECT_EQ(cluster_.Placement(pair), "old1:0 old1:1 old2:0 old2:1")
      << "the other kind, which the head cannot use";
}

TEST_F(NodeChoiceTest, TheLabelDeviceIsTheModelOfTheGpus) {
  cluster_.AddGpuNode("old1", 2, kA100);
  v1::JobSpec spec = GpuSpec("job", 1, 1);
  (*spec.mutable_placement()->mutable_labels())["device"] = kA100;
  const int64_t job = cluster_.Submit(spec);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "old1:0");
}

TEST_F(NodeChoiceTest, ALayoutIsChosenForTheKindOnWhichTheGangRuns) {
  for (const char* id : {"old1", "old2"}) cluster_.AddGpuNode(id, 2, kA100);
  v1::JobSpec spec = AutoSpec("auto", 2, 2);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  const int64_t job = cluster_.Submit(spec);
  const auto answer = [&](const std::string& device, int nodes) {
    v1::GrantedLayout choice;
    choice.set_device(device);
    choice.set_asked_nodes(2);
    choice.set_slots_per_node(2);
    choice.set_nodes(nodes);
    cluster_.Do(ChooseLayout{job, choice});
  };
  std::vector<std::string> devices;
  for (const LayoutQuestion& question : cluster_.View().schedule.layout_questions) {
    devices.push_back(question.device);
  }
  EXPECT_THAT(devices, ElementsAre(kH200, kA100));
  answer(kH200, 0);
  EXPECT_TRUE(HasNoLayout(cluster_.state, cluster_.state.jobs.at(job)));
  answer(kA100, 2);
  EXPECT_FALSE(HasNoLayout(cluster_.state, cluster_.state.jobs.at(job)));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "old1:0 old1:1 old2:0 old2:1");
  EXPECT_EQ(cluster_.Attempt(job).layout().device(), kA100);
}

TEST_F(NodeChoiceTest, ARestartedGangStaysOnItsKind) {
  for (const char* id : {"old1", "old2", "old3"}) cluster_.AddGpuNode(id, 2, kA100);
  v1::JobSpec spec = GpuSpec("job", 2, 2);
  (*spec.mutable_placement()->mutable_labels())["device"] = kA100;
  spec.mutable_placement()->clear_labels();
  cluster_.RunJob(cluster_.Submit(GpuSpec("filler", 3, 2)));
  const int64_t job = cluster_.Submit(spec);
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "old1:0 old1:1 old2:0 old2:1");
  cluster_.StopHeartbeats("old2");
  cluster_.Pass(60'000);
  cluster_.ClearNode(job, "old1");
  cluster_.Pass(10'000);
  EXPECT_EQ(cluster_.Placement(job), "old1:0 old1:1 old3:0 old3:1");
}

TEST_F(NodeChoiceTest, DevicesAreForgottenWithTheirNodes) {
  cluster_.AddGpuNode("old1", 2, kA100);
  EXPECT_EQ(cluster_.state.nodes_by_device.at(v1::DEVICE_KIND_GPU).size(), 2U);
  v1::Hello hello = cluster_.HelloOf("old1");
  hello.set_incarnation("2");
  for (v1::Slot& slot : *hello.mutable_inventory()->mutable_slots()) slot.set_model(kH200);
  cluster_.Do(AttachWorker{hello});
  EXPECT_EQ(cluster_.state.nodes_by_device.at(v1::DEVICE_KIND_GPU).size(), 1U);
  EXPECT_EQ(cluster_.state.nodes_by_device.at(v1::DEVICE_KIND_GPU).at(kH200).size(), 5U);
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(DifferentIndexes(restored, cluster_.state), "");
}

TEST_F(NodeChoiceTest, PlanShowsAllowedNodes) {
  cluster_.RunJob(cluster_.Submit(GpuSpec("running", 4, 2)));
  v1::JobSpec spec = GpuSpec("job", 2, 1);
  spec.mutable_placement()->add_exclude("gpu[01-02]");
  const auto plan = PreviewJob(cluster_.View(), spec, nullptr, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->starts_now());
  EXPECT_EQ(plan->ranks(0).node_id(), "gpu03");
  EXPECT_EQ(plan->ranks(1).node_id(), "gpu04");
}

}  // namespace
}  // namespace trainyard::controller

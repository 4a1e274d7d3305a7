// Reservations of nodes by users.
#include "controller/core/state/nodes/node_reservations.h"

#include <string>

#include "controller/core/decide/reservation_requests.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/schedule/open_nodes.h"
#include "controller/core/schedule/schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kLeadTimeMs = 60'000;
constexpr int64_t kOneDayMs = 86'400'000;

class NodeReservationsTest : public ::testing::Test {
 protected:
  NodeReservationsTest() {
    for (const char* id : {"n1", "n2"}) cluster_.AddNode(id, 2);
  }

  // Begins in a minute and lasts a minute.
  v1::NodeReservation Maintenance(const std::string& nodes) const {
    v1::NodeReservation reservation;
    reservation.set_name("maint");
    reservation.add_nodes(nodes);
    reservation.set_start_ms(cluster_.now + kLeadTimeMs);
    reservation.set_end_ms(cluster_.now + 2 * kLeadTimeMs);
    reservation.set_reason("new fans");
    return reservation;
  }

  static CreateReservation Creation(const v1::NodeReservation& reservation) {
    CreateReservation creation{.request = {}, .principal = {"ada"}};
    *creation.request.mutable_reservation() = reservation;
    return creation;
  }

  void Reserve(const v1::NodeReservation& reservation) { cluster_.Do(Creation(reservation)); }

  absl::Status Refusal(const v1::NodeReservation& reservation) const {
    return cluster_.Try(Creation(reservation));
  }

  int64_t Submit(int nodes, int64_t limit_s, const std::string& user = "ada") {
    v1::SubmitJobRequest request;
    *request.mutable_spec() =
        TestSpec("job-" + std::to_string(cluster_.state.next_job_id), nodes, 2);
    request.mutable_spec()->mutable_stop_grace()->set_seconds(0);
    if (limit_s > 0) request.mutable_spec()->mutable_time_limit()->set_seconds(limit_s);
    cluster_.Do(Checked(request, {user}));
    cluster_.Settle();
    return cluster_.state.next_job_id - 1;
  }

  std::string Why(int64_t job) const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).message();
  }

  TestCluster cluster_;
};

TEST_F(NodeReservationsTest, BeforeTheStartOnlyJobsThatEndInTimeStart) {
  Reserve(Maintenance("n1"));
  EXPECT_EQ(cluster_.Placement(Submit(1, 60)), "n1:0 n1:1");
  const int64_t longer = Submit(1, 61);
  EXPECT_EQ(cluster_.Placement(longer), "n2:0 n2:1");
}

TEST_F(NodeReservationsTest, AJobWithoutLimitDoesNotStart) {
  Reserve(Maintenance("n[1-2]"));
  const int64_t job = Submit(1, 0);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job),
              HasSubstr("; n1, n2 have enough free slots, but are reserved (maint, begins in "
                        "60 s, ends in 2 min)"));
  EXPECT_THAT(WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).advice(),
              HasSubstr("set a `time_limit` that ends before it begins"));
}

TEST_F(NodeReservationsTest, ADistantReservationKeepsNobodyOff) {
  v1::NodeReservation reservation = Maintenance("n[1-2]");
  reservation.set_start_ms(cluster_.now + 61 * kOneDayMs);
  reservation.set_end_ms(cluster_.now + 62 * kOneDayMs);
  Reserve(reservation);
  EXPECT_EQ(cluster_.StateOf(Submit(2, 0)), v1::JOB_STATE_STARTING);
}

TEST_F(NodeReservationsTest, InItsTimeOnlyItsUserStartsJobs) {
  v1::NodeReservation reservation = Maintenance("n[1-2]");
  reservation.set_user("grace");
  Reserve(reservation);
  cluster_.Pass(kLeadTimeMs);
  const int64_t other = Submit(1, 1);
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(Submit(1, 0, "grace")), v1::JOB_STATE_STARTING)
      << "the job behind the head does not delay it";
}

TEST_F(NodeReservationsTest, ItsQueueMayUseTheNodesBeforeTheStart) {
  v1::NodeReservation reservation = Maintenance("n[1-2]");
  reservation.set_queue("default");
  Reserve(reservation);
  EXPECT_EQ(cluster_.StateOf(Submit(2, 0)), v1::JOB_STATE_STARTING);
}

TEST_F(NodeReservationsTest, ThePromiseComesAfterTheReservation) {
  Reserve(Maintenance("n[1-2]"));
  const Timestamp end = cluster_.now + 2 * kLeadTimeMs;
  const int64_t job = Submit(2, 120);
  const ClusterView view = cluster_.View();
  const QueueHead* head = view.schedule.AsHead(job);
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->promised, end);
  EXPECT_EQ(head->fitting_nodes, 0);
}

TEST_F(NodeReservationsTest, AtItsEndItIsDeletedAndJobsStart) {
  Reserve(Maintenance("n[1-2]"));
  const int64_t job = Submit(2, 0);
  cluster_.Pass(2 * kLeadTimeMs - 500);
  EXPECT_EQ(cluster_.state.node_reservations.size(), 1U);
  EXPECT_THAT(Kinds(cluster_.Pass(500)), ::testing::Contains("ReservationEnded"));
  EXPECT_THAT(cluster_.state.node_reservations, IsEmpty());
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
}

TEST_F(NodeReservationsTest, RunningJobsStayWithoutADrain) {
  const int64_t job = Submit(1, 0);
  cluster_.StartAll(job);
  Reserve(Maintenance("n1"));
  EXPECT_THAT(JobsInTheWay(cluster_.state, Maintenance("n1"), cluster_.now, 100),
              ElementsAre("job 1 (job-1) runs on n1 and may run beyond the start"));
  cluster_.Pass(kLeadTimeMs);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
}

TEST_F(NodeReservationsTest, ADrainMovesRunningJobsAtTheStart) {
  const int64_t job = cluster_.Submit(SparesSpec("job", 1, 2, 0));
  cluster_.RunJob(job);
  ASSERT_EQ(cluster_.Placement(job), "n1:0 n1:1");
  v1::NodeReservation reservation = Maintenance("n1");
  reservation.set_drain(true);
  Reserve(reservation);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RUNNING);
  cluster_.Pass(kLeadTimeMs);
  ASSERT_TRUE(cluster_.Attempt(job).has_yield());
  EXPECT_EQ(cluster_.Attempt(job).yield().cause(), v1::YIELD_CAUSE_DRAIN);
  EXPECT_EQ(cluster_.Attempt(job).yield().reason(), "node n1 is reserved: maint, new fans");
  cluster_.ExitAll(job, 143);
  cluster_.ClearAll(job);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "n2:0 n2:1");
}

TEST_F(NodeReservationsTest, ARestartedJobLeavesTheReservedNode) {
  const int64_t job = Submit(1, 0);
  cluster_.StartAll(job);
  Reserve(Maintenance("n1"));
  cluster_.Pass(kLeadTimeMs);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(60'000);
  EXPECT_EQ(cluster_.Placement(job), "n2:0 n2:1");
}

TEST_F(NodeReservationsTest, OpenNodesAreWithoutReservedOnes) {
  const int64_t job = Submit(1, 0);
  Reserve(Maintenance("n2"));
  const NodeLimits limits{.changing = {}, .closed = {}, .now = cluster_.now};
  EXPECT_EQ(CountOpenNodesFor(cluster_.state, limits, cluster_.state.jobs.at(job), 1), 1);
}

TEST_F(NodeReservationsTest, SurvivesASnapshot) {
  Reserve(Maintenance("n[1-2]"));
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(restored.node_reservations.at("maint").reason(), "new fans");
}

TEST_F(NodeReservationsTest, RepeatedRequestsChangeNothing) {
  Reserve(Maintenance("n1"));
  EXPECT_THAT(cluster_.Do(Creation(Maintenance("n1"))), IsEmpty());
  EXPECT_EQ(Refusal(Maintenance("n2")).code(), absl::StatusCode::kAlreadyExists);
  DeleteReservation deletion{.request = {}, .principal = {"ada"}};
  deletion.request.set_name("maint");
  EXPECT_THAT(Kinds(cluster_.Do(deletion)), ElementsAre("ReservationEnded"));
  EXPECT_EQ(cluster_.Try(deletion).code(), absl::StatusCode::kNotFound);
}

TEST_F(NodeReservationsTest, BadRequestsAreRefused) {
  const auto refusal = [&](const auto& change) {
    v1::NodeReservation reservation = Maintenance("n1");
    change(reservation);
    return std::string(Refusal(reservation).message());
  };
  using R = v1::NodeReservation;
  EXPECT_EQ(refusal([](R&) {}), "");
  EXPECT_THAT(refusal([](R& r) { r.set_name("No"); }), HasSubstr("is not valid"));
  EXPECT_THAT(refusal([](R& r) { r.set_nodes(0, "x[1-9]"); }),
              HasSubstr("no node is called x1, x2, x3, x4, x5 or 4 other names"));
  EXPECT_THAT(refusal([](R& r) { r.clear_nodes(); }), HasSubstr("at least one node"));
  EXPECT_THAT(refusal([](R& r) { r.set_end_ms(r.start_ms()); }), HasSubstr("end after its start"));
  EXPECT_THAT(refusal([](R& r) { r.set_start_ms(1), r.set_end_ms(2); }), HasSubstr("in the past"));
  EXPECT_THAT(refusal([](R& r) { r.set_end_ms(r.start_ms() + kLongestReservationMs); }),
              HasSubstr("more than 10 years"));
  EXPECT_THAT(refusal([](R& r) { r.set_queue("nope"); }), HasSubstr("no queue is called `nope`"));
  EXPECT_THAT(refusal([](R& r) { r.set_queue("default"), r.set_user("ada"); }),
              HasSubstr("only one of them"));
  EXPECT_THAT(refusal([](R& r) { r.set_reason(std::string(20'000, 'x')); }),
              HasSubstr("is longer than"));
  Reserve(Maintenance("n[1-2]"));
  EXPECT_THAT(refusal([](R& r) { r.set_name("second"); }),
              HasSubstr("n1 is reserved by maint in this time"));
  EXPECT_EQ(refusal([](R& r) {
              r.set_name("second");
              r.set_start_ms(r.end_ms());
              r.set_end_ms(r.start_ms() + 1);
            }),
            "");
}

TEST_F(NodeReservationsTest, TheirNumberIsLimited) {
  for (std::size_t i = 0; i < kMaxReservations; ++i) {
    v1::NodeReservation reservation = Maintenance("n1");
    reservation.set_name("r" + std::to_string(i));
    reservation.set_start_ms(cluster_.now + static_cast<int64_t>(i) * kLeadTimeMs);
    reservation.set_end_ms(reservation.start_ms() + kLeadTimeMs);
    cluster_.state.node_reservations[reservation.name()] = reservation;
  }
  EXPECT_EQ(Refusal(Maintenance("n2")).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace trainyard::controller

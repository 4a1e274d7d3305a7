#include "controller/core/state/slots/reservations.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;

class ReservationsTest : public ::testing::Test {
 protected:
  // From now on, the nodes send no heartbeats. Rank 0 of each job, which runs on another node,
  // fails.
  void LoseNodes(const std::vector<std::string>& node_ids, const std::vector<int64_t>& jobs) {
    for (const std::string& id : node_ids) cluster_.StopHeartbeats(id);
    for (const int64_t job : jobs) cluster_.ExitRank(job, 0, 1);
    cluster_.Settle();
  }
  const std::map<int64_t, Reservation>& Reservations() const { return cluster_.state.reservations; }
  const Reservation* ReservationAt(const std::string& node_id, int position) const {
    return FindReservation(cluster_.state, cluster_.state.nodes.at(node_id), position);
  }

  TestCluster cluster_;
};

TEST_F(ReservationsTest, SlotsOfALostNodeAreReservedOnceItIsCleared) {
  for (const char* id : {"a", "b"}) cluster_.AddNode(id, 1);
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  EXPECT_THAT(Reservations(), IsEmpty());
  LoseNodes({"b"}, {job});
  cluster_.ClearNode(job, "a");
  cluster_.Pass(12'000);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  const Reservation of_a{{job, 1}, {{"a", {0}}}};
  EXPECT_THAT(Reservations(), ElementsAre(Pair(job, of_a)));
  EXPECT_EQ(ReservationAt("b", 0), nullptr);
  cluster_.Wake("b");
  cluster_.Pass(1000);
  EXPECT_THAT(Reservations(), ElementsAre(Pair(job, of_a)));
  cluster_.ClearNode(job, "b");
  const Reservation of_both{{job, 1}, {{"a", {0}}, {"b", {0}}}};
  EXPECT_THAT(Reservations(), ElementsAre(Pair(job, of_both)));
  EXPECT_EQ(ReservationAt("b", 0), &Reservations().at(job));
  cluster_.RunJob(job);
  EXPECT_THAT(Reservations(), IsEmpty());
}

TEST_F(ReservationsTest, ASlotThatAnEarlierJobTakesLeavesTheReservation) {
  for (const char* id : {"a", "b", "c", "d"}) cluster_.AddNode(id, 1);
  const int64_t first = cluster_.Submit("first", 2, 1);
  const int64_t second = cluster_.Submit("second", 2, 1);
  for (const int64_t job : {first, second}) cluster_.RunJob(job);
  LoseNodes({"b", "d"}, {first, second});
  cluster_.ClearNode(first, "a");
  cluster_.ClearNode(second, "c");
  cluster_.Pass(12'000);
  ASSERT_EQ(cluster_.Placement(first), "a:0 c:0");
  EXPECT_THAT(Reservations(), ElementsAre(Pair(second, Field(&Reservation::slots, IsEmpty()))));
  EXPECT_EQ(ReservationAt("c", 0), nullptr);
}

TEST_F(ReservationsTest, ASlotThatANodeNoLongerHasLeavesTheReservation) {
  cluster_.AddNode("a", 2);
  v1::JobSpec patient = TestSpec("job", 1, 2);
  patient.mutable_restart()->mutable_backoff()->set_seconds(60);
  const int64_t job = cluster_.Submit(patient);
  cluster_.RunJob(job);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  const Reservation of_both{{job, 1}, {{"a", {0, 1}}}};
  ASSERT_THAT(Reservations(), ElementsAre(Pair(job, of_both)));
  v1::Hello smaller = cluster_.HelloOf("a");
  smaller.mutable_inventory()->mutable_slots()->DeleteSubrange(0, 1);
  cluster_.Do(AttachWorker{smaller});
  const Reservation of_one{{job, 1}, {{"a", {1}}}};
  EXPECT_THAT(Reservations(), ElementsAre(Pair(job, of_one)));
  EXPECT_EQ(ReservationAt("a", 0), &Reservations().at(job)) << "slot 1 is the first one now";
}

TEST_F(ReservationsTest, AStoppedJobHasNone) {
  cluster_.AddNode("a", 1);
  v1::JobSpec patient = TestSpec("job", 1, 1);
  patient.mutable_restart()->mutable_backoff()->set_seconds(60);
  const int64_t job = cluster_.Submit(patient);
  cluster_.RunJob(job);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  ASSERT_EQ(Reservations().size(), 1u);
  cluster_.Stop(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(Reservations(), IsEmpty());
  EXPECT_EQ(cluster_.state.nodes.at("a").node.slot_uses(0).job_id(), 0);
}

}  // namespace
}  // namespace trainyard::controller

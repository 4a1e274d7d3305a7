#include "cli/output/cluster/queue_views.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

constexpr Timestamp kListedAt = 1'700'000'000'000;

v1::ListQueuesResponse OneJob() {
  v1::ListQueuesResponse response;
  response.set_as_of_ms(kListedAt);
  v1::QueuedJob& job = *response.add_jobs();
  job.set_job_id(17);
  job.set_name("sweep.3");
  job.set_queued_since_ms(kListedAt - 60'000);
  return response;
}

std::vector<std::string> CellsOf(const v1::ListQueuesResponse& response) {
  return QueuedJobListing(response).rows.at(0).cells;
}

TEST(QueueViewsTest, AnElementNamesTheElementsBehindIt) {
  v1::ListQueuesResponse response = OneJob();
  EXPECT_THAT(CellsOf(response), testing::Contains("sweep.3"));
  response.mutable_jobs(0)->set_elements_to_come(97);
  EXPECT_THAT(CellsOf(response), testing::Contains("sweep.3 (+97)"));
  EXPECT_THAT(QueuedJobListing(response).rows.at(0).exact_cells, testing::Contains("sweep.3"));
}

TEST(QueueViewsTest, TheEstimatedStartFollowsTheWait) {
  v1::ListQueuesResponse response = OneJob();
  EXPECT_EQ(CellsOf(response).at(8), "-");
  v1::PendingReason& reason = *response.mutable_jobs(0)->mutable_reason();
  reason.set_estimated_earliest_ms(kListedAt + 60'000);
  reason.set_estimated_start_ms(kListedAt + 120'000);
  reason.set_estimated_latest_ms(kListedAt + 180'000);
  const Listing listing = QueuedJobListing(response);
  EXPECT_EQ(listing.rows.at(0).cells.at(7), "1m00s");
  EXPECT_EQ(listing.rows.at(0).cells.at(8), "~2m00s");
  EXPECT_EQ(listing.rows.at(0).exact_cells.at(8), "120");
  EXPECT_EQ(listing.rows.at(0).cells.size(), listing.columns.size());
}

TEST(QueueViewsTest, TheUsersWhoHoldSlotsAreNamed) {
  v1::ListQueuesResponse response;
  v1::QueueState& state = *response.add_queues();
  v1::QueueSlots& slots = *state.add_slots();
  const auto add = [&](const std::string& name, int64_t held) {
    v1::QueueUser& user = *slots.add_users();
    user.set_user(name);
    user.set_held_slots(held);
  };
  EXPECT_EQ(QueueListing(response).rows.at(0).cells.back(), "-");
  add("ada", 32);
  add("eve", 0);
  add("bob\n", 8);
  const Listing listing = QueueListing(response);
  EXPECT_EQ(listing.columns.back().title, "HELD BY");
  EXPECT_EQ(listing.rows.at(0).cells.back(), "ada 32, bob  8");
  EXPECT_EQ(listing.rows.at(0).cells.size(), listing.columns.size());
}

}  // namespace
}  // namespace trainyard::cli

// Tests the samples about the database server, which the page of a controller on SQLite lacks.
#include "controller/part_samples.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::controller {
namespace {

using test::ValueOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kReadMs = 60'000;

v1::GetServerInfoResponse Info() {
  v1::GetServerInfoResponse info;
  info.mutable_leadership()->set_term(7);
  info.set_revision(2000);
  for (const int64_t seen_ms : {int64_t{0}, kReadMs}) {
    v1::StandbyController& standby = *info.add_standbys();
    standby.set_seen_ms(seen_ms);
    standby.set_position(90);
  }
  v1::DatabaseStatus& database = *info.mutable_database();
  database.set_read_ms(kReadMs);
  database.set_newest_event(93);
  database.set_synchronous_commit("on");
  database.set_fsync(true);
  database.set_size_bytes(4096);
  database.set_connections(12);
  database.set_connections_max(97);
  database.set_replicas_readable(true);
  for (const int lag_ms : {250, 1500}) {
    v1::DatabaseReplica& replica = *database.add_replicas();
    replica.set_sync_state("async");
    replica.set_lag_ms(lag_ms);
    replica.set_behind_bytes(10 * lag_ms);
  }
  return info;
}

std::string PageOf(const v1::GetServerInfoResponse& info) {
  MetricSet metrics;
  AddDatabaseSamples(info, metrics);
  return RenderText(metrics.Take());
}

TEST(PartSamplesTest, TheDatabaseHasAllSamplesThatDashboardsBuildOn) {
  const std::string page = PageOf(Info());
  test::ExpectGolden("database_metrics.txt", test::ShapeOf(page));
  EXPECT_EQ(ValueOf(page, "trainyard_leader_term"), 7);
  EXPECT_EQ(ValueOf(page, "trainyard_standby_controllers"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_standby_behind_events"), 3);
  EXPECT_EQ(ValueOf(page, "trainyard_database_readable"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_database_durable"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_database_connections_max"), 97);
  EXPECT_EQ(ValueOf(page, "trainyard_database_replicas{sync_state=\"async\"}"), 2);
  EXPECT_EQ(ValueOf(page, "trainyard_database_replica_lag_seconds"), 1.5);
  EXPECT_EQ(ValueOf(page, "trainyard_database_replica_behind_bytes"), 15'000);
}

TEST(PartSamplesTest, UnknownValuesHaveNoSample) {
  v1::GetServerInfoResponse info = Info();
  info.mutable_database()->set_replicas_readable(false);
  EXPECT_THAT(PageOf(info), Not(HasSubstr("replica_lag")));
  info.mutable_database()->set_error("no answer");
  EXPECT_EQ(ValueOf(PageOf(info), "trainyard_database_readable"), 0);
  info.mutable_database()->set_read_ms(0);
  EXPECT_THAT(PageOf(info), Not(HasSubstr("trainyard_database_durable")));
  info.clear_database();
  EXPECT_THAT(PageOf(info), Not(HasSubstr("trainyard_database")));
  EXPECT_EQ(ValueOf(PageOf(info), "trainyard_leader_term"), 7);
}

}  // namespace
}  // namespace trainyard::controller

#include "controller/store/files/store_check.h"

#include <cstdio>
#include <filesystem>

#include "controller/store/files/store_identity.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "controller/store/stores.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kOne[] = "11111111111111111111111111111111";
constexpr char kOther[] = "22222222222222222222222222222222";

class StoreCheckTest : public testing::Test {
 protected:
  // Creates the stores and writes one metric batch and one event.
  void Fill() {
    auto stores = OpenSqliteStores(Path(""));
    ASSERT_TRUE(stores.ok()) << stores.status();
    v1::Event event;
    event.mutable_node_joined()->mutable_node()->set_id("a");
    ASSERT_TRUE(stores->events->Append({event}, {}).ok());
    MetricBatch batch;
    batch.stream = {1, 1, 0, v1::STREAM_KIND_TELEMETRY};
    batch.end_offset = 10;
    for (int step = 1; step < 5000; ++step)
      batch.points.push_back({"loss", step, step, 1.0 / step});
    ASSERT_TRUE(stores->metrics->Append({batch}).ok());
  }

  std::string Path(const std::string& name) const { return directory_.path() + "/store/" + name; }

  // Changes one byte of the page that begins at `offset`.
  void Damage(const std::string& path, long offset) {
    std::FILE* file = std::fopen(path.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, offset + 100, SEEK_SET);
    const int byte = std::fgetc(file);
    std::fseek(file, offset + 100, SEEK_SET);
    std::fputc(byte ^ 0xff, file);
    std::fclose(file);
  }

  TemporaryDirectory directory_;
};

TEST_F(StoreCheckTest, FindsADamagedPageThatNothingReads) {
  Fill();
  ASSERT_TRUE(BindStores(Path(""), kOne).ok());
  const StoreCheckResult sound = CheckDatabase(Path("metrics.db"));
  EXPECT_THAT(sound.problems, IsEmpty());
  EXPECT_EQ(sound.cluster_id, kOne);
  const int64_t last = static_cast<int64_t>(fs::file_size(Path("metrics.db"))) - 4096;
  ASSERT_GT(last, 4096);
  Damage(Path("metrics.db"), last);
  const StoreCheckResult damaged = CheckDatabase(Path("metrics.db"));
  ASSERT_FALSE(damaged.problems.empty());
  EXPECT_THAT(damaged.problems[0], HasSubstr("restore a backup"));
  EXPECT_THAT(CheckDatabase(Path("none.db")).problems[0], HasSubstr("missing"));
}

TEST_F(StoreCheckTest, AScrubGoesOverTheFileInSteps) {
  Fill();
  const int64_t pages = static_cast<int64_t>(fs::file_size(Path("metrics.db"))) / 4096;
  Damage(Path("metrics.db"), 2 * 4096);
  PageScrub scrub(Path("metrics.db"));
  int steps = 0;
  for (bool done = false; !done; ++steps) {
    const auto step = scrub.Step(4096);
    ASSERT_TRUE(step.ok());
    done = *step;
    ASSERT_LE(steps, pages);
  }
  EXPECT_EQ(steps, pages);
  EXPECT_EQ(scrub.damaged_pages(), 1);
  EXPECT_THAT(scrub.damaged(), testing::ElementsAre(2 * 4096));
  ASSERT_TRUE(scrub.Step(1 << 30).ok());
  EXPECT_EQ(scrub.damaged_pages(), 1) << "the next pass counts anew";
}

TEST_F(StoreCheckTest, DatabasesOfTwoClustersAreNotMixed) {
  Fill();
  EXPECT_TRUE(CheckStoreIdentities(Path(""), false).ok()) << "an older release wrote no id";
  ASSERT_TRUE(BindStores(Path(""), kOne).ok());
  EXPECT_TRUE(BindStores(Path(""), kOne).ok());
  EXPECT_TRUE(CheckStoreIdentities(Path(""), false).ok());
  EXPECT_EQ(BindStores(Path(""), kOther).code(), absl::StatusCode::kFailedPrecondition);
  const absl::Status fresh = CheckStoreIdentities(Path(""), true);
  EXPECT_EQ(fresh.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(fresh.message()), HasSubstr("events.db is missing"));
  {
    auto database = SqliteDatabase::Open(Path("logs.db"), SqliteDatabase::Mode::kWriter);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->Run("UPDATE cluster SET id = ?", std::string(kOther)).ok());
  }
  const absl::Status mixed = CheckStoreIdentities(Path(""), false);
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("logs.db belongs to cluster 2"));
}

}  // namespace
}  // namespace trainyard::controller

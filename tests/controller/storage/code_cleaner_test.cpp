#include "controller/storage/code_cleaner.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kLater = code::BlobStore::kUploadLeaseMs + 1;

// A loop with a fixed state.
class FixedLoop final : public ClusterLoop {
 public:
  void Read(std::function<void(const ClusterView& view)> work) override {
    work({state, observations, options, schedule});
  }
  void Submit(Request, RequestDone) override { ADD_FAILURE() << "the cleaner changes nothing"; }
  void Listen(TickListener) override { ADD_FAILURE() << "the cleaner does not listen"; }

  ClusterState state;
  Observations observations;
  CoreOptions options;
  Schedule schedule;
};

// An archive of jobs, newest first.
class FixedArchive final : public JobArchive {
 public:
  bool HasJobs() const override { return !jobs.empty(); }
  std::map<v1::JobState, int64_t> CountByState() const override { return {}; }
  Found Find(int64_t) override { return std::nullopt; }
  Found FindByName(const std::string&) override { return std::nullopt; }
  Found FindByRequestId(const std::string&) override { return std::nullopt; }
  absl::StatusOr<ArchivedPage> List(const v1::ListJobsRequest& request,
                                    const std::optional<JobPlace>& after, int limit) override {
    if (damaged) return absl::DataLossError("the record of a job is damaged");
    ArchivedPage page;
    for (const v1::ArchivedJob& job : jobs) {
      if (after.has_value() && PlaceIn(request, job.job(), {}) <= *after) continue;
      if (page.jobs.size() < static_cast<std::size_t>(limit)) page.jobs.push_back(job);
    }
    return page;
  }
  absl::Status ForEachTime(int64_t, const std::function<void(const v1::JobTime&)>&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<ArchivedEnd>> EndedBy(int64_t, int) override {
    return std::vector<ArchivedEnd>();
  }
  absl::StatusOr<std::vector<ArchivedEnd>> EndsOf(const std::vector<int64_t>&) override {
    return std::vector<ArchivedEnd>();
  }

  std::vector<v1::ArchivedJob> jobs;
  bool damaged = false;
};

class CodeCleanerTest : public testing::Test {
 protected:
  CodeCleanerTest() {
    auto store = code::BlobStore::Open({.directory = directory_.File("code")}, 0);
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    cleaner_ = std::make_unique<CodeCleaner>(store_.get(), loop_, archive_);
  }

  // Stores a snapshot with one file, and returns a spec that uses it.
  v1::JobSpec Stored(const std::string& content) {
    const std::string manifest =
        *code::WriteManifest({{{.path = "a",
                                .bytes = static_cast<int64_t>(content.size()),
                                .pieces = {code::DigestOf(content)}}}});
    code::PackBuilder builder;
    builder.Add(code::DigestOf(manifest), manifest);
    builder.Add(code::DigestOf(content), content);
    EXPECT_TRUE(store_->Add(builder.Finish(), 0).ok());
    v1::JobSpec spec;
    spec.mutable_code()->set_snapshot(code::DigestOf(manifest));
    return spec;
  }
  void Archive(int64_t id, const v1::JobSpec& spec) {
    v1::ArchivedJob& job = *archive_.jobs.emplace(archive_.jobs.begin());
    job.mutable_job()->set_id(id);
    *job.mutable_job()->mutable_spec() = spec;
  }
  bool Has(const std::string& content) { return store_->Read(code::DigestOf(content)).ok(); }

  TemporaryDirectory directory_;
  std::unique_ptr<code::BlobStore> store_;
  FixedLoop loop_;
  FixedArchive archive_;
  std::unique_ptr<CodeCleaner> cleaner_;
};

TEST_F(CodeCleanerTest, KeepsTheCodeOfJobsInStateAndArchive) {
  *loop_.state.jobs[900].job.mutable_spec() = Stored("in the state");
  Archive(1, Stored("in the archive"));
  // The oldest job is on the second page.
  for (int64_t id = 2; id < 800; ++id) Archive(id, {});
  Stored("of a deleted job");
  code::PackBuilder builder;
  builder.Add(code::DigestOf("difference"), "difference");
  ASSERT_TRUE(store_->Add(builder.Finish(), 0).ok());
  v1::JobSpec spec;
  spec.mutable_code()->mutable_record()->set_diff(code::DigestOf("difference"));
  Archive(800, spec);

  const auto freed = cleaner_->Clean(kLater);
  ASSERT_TRUE(freed.ok()) << freed.status();
  EXPECT_GT(*freed, 0);
  EXPECT_TRUE(Has("in the state"));
  EXPECT_TRUE(Has("in the archive"));
  EXPECT_TRUE(Has("difference"));
  EXPECT_FALSE(Has("of a deleted job"));
}

TEST_F(CodeCleanerTest, RemovesNothingIfAJobCannotBeRead) {
  Stored("of a deleted job");
  archive_.damaged = true;
  EXPECT_FALSE(cleaner_->Clean(kLater).ok());
  EXPECT_TRUE(Has("of a deleted job"));
}

TEST_F(CodeCleanerTest, StopsAtOnce) {
  cleaner_->Start();
  cleaner_->Stop();
  CodeCleaner without_store(nullptr, loop_, archive_);
  without_store.Start();
}

}  // namespace
}  // namespace trainyard::controller

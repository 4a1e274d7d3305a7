// Tests the event stream of a complete controller over real sockets.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"
#include "tests/fakes/keeps_data.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;

class StreamFeedTest : public testing::Test {
 protected:
  std::string address() const { return running_.controller->http_address(); }

  // The only node is cordoned, so all jobs stay queued.
  void SetUp() override {
    worker_.Take(v1::ControllerMessage::kWelcome);
    ASSERT_EQ(client_.Post("/api/v1/nodes/a/cordon", R"({"reason":"test"})").status, 200);
  }

  RunningController running_{OpenMemoryStores(), {}, "127.0.0.1:0"};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
  HttpClient client_{address()};
};

// A metric store that a test can switch to report a full disk.
class FullMetricStore final : public KeepsData<MetricStore> {
 public:
  void SetFull(bool full) { full_ = full; }
  absl::Status Append(const std::vector<MetricBatch>& batches) override {
    return full_ ? absl::ResourceExhaustedError("disk full") : inner_->Append(batches);
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override {
    return inner_->StoredOffset(stream);
  }
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) override {
    return inner_->Read(query);
  }
  absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) override {
    return inner_->Keys(job_id);
  }
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) override {
    return inner_->Attempts(job_id);
  }
  absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t job_id) override {
    return inner_->ReadExperts(job_id);
  }
  absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t job_id) override {
    return inner_->ReadDataReport(job_id);
  }
  absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t job_id) override {
    return inner_->ReadDataSets(job_id);
  }

 private:
  std::atomic<bool> full_{true};
  std::unique_ptr<MetricStore> inner_ = OpenMemoryStores().metrics;
};

class StoredPointsTest : public testing::Test {
 protected:
  static Stores StoresWith(FullMetricStore** metrics) {
    Stores stores = OpenMemoryStores();
    auto full = std::make_unique<FullMetricStore>();
    *metrics = full.get();
    stores.metrics = std::move(full);
    return stores;
  }

  FullMetricStore* metrics_ = nullptr;
  RunningController running_{StoresWith(&metrics_), {}, "127.0.0.1:0"};
  FakeWorker worker_{running_.channel, TestHello("a", 2)};
};

// Returns the next "jobs" event for which `wanted` returns true.
json ReadJobs(HttpClient& stream, const std::function<bool(const json&)>& wanted) {
  while (true) {
    const auto event = stream.ReadEvent();
    if (event.at("event") != "jobs") continue;
    json jobs = json::parse(event.at("data"));
    if (wanted(jobs)) return jobs;
  }
}

TEST_F(StoredPointsTest, AreAnnouncedOnceTheyAreStored) {
  worker_.Take(v1::ControllerMessage::kWelcome);
  ASSERT_EQ(running_.Submit("job"), 1);
  HttpClient stream(running_.controller->http_address());
  stream.SendBytes(
      "GET /api/v1/events/stream?topics=jobs,metrics:1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(stream.ReadAnswer().status, 200);
  // A stream that has sent hello is subscribed to its topics.
  EXPECT_EQ(stream.ReadEvent().at("event"), "hello");
  worker_.SendMetrics(Stream(1, v1::STREAM_KIND_TELEMETRY), 0, 100, 7, 2.5);
  while (running_.Get("1").progress().step() != 7) {
  }
  // This tick announces the progress.
  running_.Tick();
  running_.Submit("later");
  // Reads all events up to the event that contains the later job. The step must not appear, because
  // it was observed but not stored.
  while (true) {
    const auto event = stream.ReadEvent();
    ASSERT_NE(event.at("event"), "metrics") << "announced before it was stored";
    if (event.at("data").find("later") != std::string::npos) break;
  }
  metrics_->SetFull(false);
  auto event = stream.ReadEvent();
  while (event.at("event") != "metrics") event = stream.ReadEvent();
  EXPECT_EQ(json::parse(event.at("data"))["step"], 7);
}

TEST_F(StreamFeedTest, BeginsWithSnapshotsAndGoesOnWithChanges) {
  running_.Submit("before");
  HttpClient stream(address());
  stream.SendBytes(
      "GET /api/v1/events/stream?topics=jobs,events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(stream.ReadAnswer().headers.at("content-type"), "text/event-stream");
  const auto hello = stream.ReadEvent();
  EXPECT_EQ(hello.at("event"), "hello");
  EXPECT_EQ(json::parse(hello.at("data"))["resumed"], false);
  EXPECT_EQ(stream.ReadEvent().at("event"), "events");
  const json snapshot = json::parse(stream.ReadEvent().at("data"));
  EXPECT_EQ(snapshot["snapshot"], true);
  EXPECT_EQ(snapshot["jobs"].size(), 1u);
  running_.Submit("after");
  const json change = ReadJobs(stream, [](const json& jobs) { return !jobs["jobs"].empty(); });
  EXPECT_EQ(change["jobs"][0]["name"], "after");
  const json events = json::parse(stream.ReadEvent().at("data"));
  EXPECT_EQ(events["events"][0]["event"]["job_submitted"]["spec"]["name"], "after");
}

// A pending reason depends on other jobs, so it can change without an event of the job itself.
TEST_F(StreamFeedTest, TellsOfReasonsThatOthersHaveChanged) {
  running_.Submit("first");
  running_.Submit("second");
  HttpClient stream(address());
  stream.SendBytes("GET /api/v1/events/stream?topics=jobs HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.ReadAnswer();
  const auto place_of_second = [](const json& jobs) {
    return jobs["pending"].contains("2") ? jobs["pending"]["2"]["queue_position"].get<int>() : 0;
  };
  ReadJobs(stream, [&](const json& jobs) { return place_of_second(jobs) == 2; });
  // Pending reasons are read at most once per second of the controller's clock. A tick after the
  // subscription may already have read the reasons.
  running_.clock.Advance(1000);
  client_.Post("/api/v1/jobs/first/stop", R"({"user":"bob"})");
  ReadJobs(stream, [&](const json& jobs) { return place_of_second(jobs) == 1; });
}

TEST_F(StreamFeedTest, ResumesWhereItWasLeft) {
  running_.Submit("one");
  const json server = client_.Get("/api/v1/server").Json();
  const std::string revision = server["revision"].dump();
  running_.Submit("two");
  running_.Submit("three");
  HttpClient stream(address());
  stream.SendBytes(
      absl::StrCat("GET /api/v1/events/stream?topics=events,jobs HTTP/1.1\r\nHost: localhost\r\n",
                   "Last-Event-ID: ", revision, "\r\n\r\n"));
  stream.ReadAnswer();
  EXPECT_EQ(json::parse(stream.ReadEvent().at("data"))["resumed"], true);
  const json events = json::parse(stream.ReadEvent().at("data"))["events"];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["sequence"].get<int>(), server["revision"].get<int>() + 1);
  EXPECT_EQ(events[0]["event"]["job_submitted"]["spec"]["name"], "two");
  const json jobs = json::parse(stream.ReadEvent().at("data"));
  EXPECT_EQ(jobs["snapshot"], false);
  EXPECT_EQ(jobs["jobs"].size(), 2u);
}

TEST_F(StreamFeedTest, StartsAnewAfterAnUnknownRevision) {
  HttpClient stream(address());
  stream.SendBytes(
      "GET /api/v1/events/stream?topics=jobs HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: "
      "999999\r\n\r\n");
  stream.ReadAnswer();
  EXPECT_EQ(json::parse(stream.ReadEvent().at("data"))["resumed"], false);
  EXPECT_EQ(json::parse(stream.ReadEvent().at("data"))["snapshot"], true);
  EXPECT_EQ(client_.Get("/api/v1/events/stream?topics=odd").Json()["code"], "invalid_argument");
}

// Returns the next event with this name whose `removed` list is not empty.
json ReadRemoved(HttpClient& stream, const std::string& name) {
  while (true) {
    const auto event = stream.ReadEvent();
    if (event.empty()) return {};
    if (event.at("event") != name) continue;
    json data = json::parse(event.at("data"));
    if (!data["removed"].empty()) return data["removed"];
  }
}

TEST_F(StreamFeedTest, DeletedJobsReachOpenPagesAndResumedOnes) {
  running_.Submit("first");
  running_.Submit("second");
  const std::string head = "GET /api/v1/events/stream?topics=jobs HTTP/1.1\r\nHost: localhost\r\n";
  HttpClient stream(address());
  stream.SendBytes(head + "\r\n");
  EXPECT_EQ(stream.ReadAnswer().status, 200);
  EXPECT_EQ(stream.ReadEvent().at("event"), "hello");
  ASSERT_EQ(client_.Post("/api/v1/jobs/first/stop", "{}").status, 200);
  const std::string revision = client_.Get("/api/v1/server").Json()["revision"].dump();
  ASSERT_EQ(client_.Send("DELETE", "/api/v1/jobs/first?confirmed=true").status, 200);
  EXPECT_EQ(ReadRemoved(stream, "jobs"), json({1}));
  HttpClient resumed(address());
  resumed.SendBytes(absl::StrCat(head, "Last-Event-ID: ", revision, "\r\n\r\n"));
  resumed.ReadAnswer();
  EXPECT_EQ(ReadRemoved(resumed, "jobs"), json({1}));
}

TEST_F(StreamFeedTest, RemovedNodesReachOpenPagesAndResumedOnes) {
  auto leaving = std::make_unique<FakeWorker>(running_.channel, TestHello("b", 1));
  leaving->Take(v1::ControllerMessage::kWelcome);
  leaving.reset();
  const std::string head = "GET /api/v1/events/stream?topics=nodes HTTP/1.1\r\nHost: localhost\r\n";
  HttpClient stream(address());
  stream.SendBytes(head + "\r\n");
  EXPECT_EQ(stream.ReadAnswer().status, 200);
  EXPECT_EQ(stream.ReadEvent().at("event"), "hello");
  const auto state = [this] {
    const json listed = client_.Get("/api/v1/nodes").Json();
    for (const json& node : listed["nodes"]) {
      if (node["id"] == "b") return node["state"].get<std::string>();
    }
    return std::string("removed");
  };
  // The clock must advance in short steps: a longer step would count as a stall of the controller.
  for (int step = 0; step < 100 && state() != "lost"; ++step) {
    running_.clock.Advance(900);
    running_.Tick();
  }
  ASSERT_EQ(state(), "lost");
  const std::string revision = client_.Get("/api/v1/server").Json()["revision"].dump();
  ASSERT_EQ(client_.Send("DELETE", "/api/v1/nodes/b").status, 200);
  EXPECT_EQ(ReadRemoved(stream, "nodes"), json({"b"}));
  HttpClient resumed(address());
  resumed.SendBytes(absl::StrCat(head, "Last-Event-ID: ", revision, "\r\n\r\n"));
  resumed.ReadAnswer();
  EXPECT_EQ(ReadRemoved(resumed, "nodes"), json({"b"}));
}

// The first messages of a stream must not grow with the length of the queue.
TEST_F(StreamFeedTest, BeginsWithTheHeadOfALongQueueAndCountsTheRest) {
  constexpr int kJobs = 600;
  for (int job = 0; job < kJobs; ++job) running_.Submit(absl::StrCat("job-", job));
  const std::string head = "GET /api/v1/events/stream?topics=jobs HTTP/1.1\r\nHost: localhost\r\n";
  HttpClient fresh(address());
  fresh.SendBytes(head + "\r\n");
  fresh.ReadAnswer();
  fresh.ReadEvent();
  const json snapshot = json::parse(fresh.ReadEvent().at("data"));
  EXPECT_EQ(snapshot["snapshot"], true);
  EXPECT_EQ(snapshot["waiting"], kJobs);
  EXPECT_EQ(snapshot["placed"], 0);
  ASSERT_EQ(snapshot["jobs"].size(), 200u);
  EXPECT_EQ(snapshot["jobs"].back()["id"], 1) << "the head of the queue is there";
  EXPECT_EQ(snapshot["pending"]["1"]["queue_position"], 1);
  // The client has missed more changes than the controller sends one by one, so the resumed stream
  // begins with a snapshot.
  HttpClient resumed(address());
  resumed.SendBytes(head + "Last-Event-ID: 3\r\n\r\n");
  resumed.ReadAnswer();
  resumed.ReadEvent();
  const json missed = json::parse(resumed.ReadEvent().at("data"));
  EXPECT_EQ(missed["snapshot"], true);
  EXPECT_EQ(missed["jobs"].size(), 200u);
}

// Pages show a recovering job in the queue, so the counts of the stream must include it there.
TEST_F(StreamFeedTest, CountsAJobWhoseFailedAttemptIsStillBeingStoppedAsWaiting) {
  ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
  HttpClient stream(address());
  stream.SendBytes("GET /api/v1/events/stream?topics=jobs HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.ReadAnswer();
  ASSERT_EQ(running_.Submit("failing"), 1);
  worker_.Take(v1::ControllerMessage::kStartAttempt);
  worker_.SendFact(1, StartedFact(1));
  const auto in_state = [](const std::string& state) {
    return [state](const json& jobs) {
      return !jobs["jobs"].empty() && jobs["jobs"][0]["state"] == state;
    };
  };
  const json started = ReadJobs(stream, in_state("running"));
  EXPECT_EQ(started["waiting"], 0);
  EXPECT_EQ(started["placed"], 1);
  // The worker has not yet reported that all ranks are gone, so the attempt still counts as live.
  worker_.SendFact(2, ExitedFact(1, 3));
  const json failed = ReadJobs(stream, in_state("recovering"));
  EXPECT_EQ(failed["pending"]["1"]["code"], "stopping");
  EXPECT_EQ(failed["waiting"], 1);
  EXPECT_EQ(failed["placed"], 0);
}

}  // namespace
}  // namespace trainyard::controller::http

#include "controller/rpc/log_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;
using testing::ElementsAre;

// A client that reads one log stream.
class Reader {
 public:
  Reader(RunningController& running, const v1::ReadLogsRequest& request)
      : stream_((context_.set_deadline(std::chrono::system_clock::now() + kTestTimeout),
                 running.logs->ReadLogs(&context_, request))) {}

  // Reads until `count` lines have arrived or the stream ends. Returns all lines read so far.
  std::vector<std::string> Lines(std::size_t count) {
    v1::ReadLogsResponse response;
    while (lines_.size() < count && stream_->Read(&response)) {
      for (const v1::LogLine& line : response.lines()) lines_.push_back(line.text());
    }
    return lines_;
  }
  std::vector<std::string> AllLines() { return Lines(SIZE_MAX); }
  grpc::StatusCode End() {
    AllLines();
    return stream_->Finish().error_code();
  }
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ReadLogsResponse>> stream_;
  std::vector<std::string> lines_;
};

class LogServiceTest : public testing::Test {
 protected:
  LogServiceTest() {
    worker_.Take(Kind::kWelcome);
    running_.Submit("job");
    worker_.SendReport(RunningReport(1));
    worker_.SendFact(1, StartedFact(1));
    worker_.Take(Kind::kFactsAcknowledged);
  }

  void Write(const std::string& text) {
    worker_.SendOutput(log_, written_, text);
    written_ += static_cast<int64_t>(text.size());
    worker_.TakeAcknowledged(log_, written_);
  }

  // Ends the job. `extra` is the number of output bytes that have not been sent yet.
  void EndJob(int64_t extra = 0) {
    v1::AttemptReport report = RunningReport(1);
    report.mutable_ranks(0)->set_running(false);
    report.set_cleared(true);
    v1::StreamEnd& end = *report.add_stream_ends();
    *end.mutable_stream() = log_;
    end.set_end_offset(written_ + extra);
    worker_.SendReport(report);
    worker_.SendFact(2, ExitedFact(1, 0));
    worker_.SendFact(3, ClearedFact(1));
    running_.WaitForJob(1,
                        [](const v1::Job& job) { return job.state() == v1::JOB_STATE_SUCCEEDED; });
  }

  static v1::ReadLogsRequest Request(bool follow) {
    v1::ReadLogsRequest request;
    request.set_job("job");
    request.set_follow(follow);
    return request;
  }

  const v1::StreamId log_ = Stream(1, v1::STREAM_KIND_LOG);
  int64_t written_ = 0;
  const TemporaryDirectory directory_;
  RunningController running_{directory_.path()};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
};

TEST_F(LogServiceTest, ReadsWholeLinesOnce) {
  Write("one\ntwo\nthr");
  Reader reader(running_, Request(false));
  EXPECT_THAT(reader.AllLines(), ElementsAre("one", "two"));
  EXPECT_EQ(reader.End(), grpc::StatusCode::OK);
}

TEST_F(LogServiceTest, FollowsUntilTheLastByteOfTheJobHasCome) {
  Reader reader(running_, Request(true));
  Write("one\n");
  EXPECT_THAT(reader.Lines(1), ElementsAre("one"));
  Write("two\nthree");
  EXPECT_THAT(reader.Lines(2), ElementsAre("one", "two"));
  EndJob(4);
  // The job has ended, but this part of its output arrives later.
  Write(" and");
  EXPECT_THAT(reader.AllLines(), ElementsAre("one", "two", "three and"));
  EXPECT_EQ(reader.End(), grpc::StatusCode::OK);
}

TEST_F(LogServiceTest, FollowEndsWithoutANodeThatStaysAway) {
  Write("one\n");
  EndJob(100);
  Reader reader(running_, Request(true));
  EXPECT_THAT(reader.Lines(1), ElementsAre("one"));
  // The worker disconnects without sending the rest of the output.
  worker_.Send({});
  EXPECT_EQ(worker_.WaitForEnd().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (int i = 0; i < 12; ++i) {
    running_.clock.Advance(950);
    running_.Tick();
  }
  EXPECT_EQ(reader.End(), grpc::StatusCode::OK);
}

TEST_F(LogServiceTest, FollowEndsWithoutTheRestOfALostNode) {
  Write("one\n");
  EndJob(100);
  Reader reader(running_, Request(true));
  EXPECT_THAT(reader.Lines(1), ElementsAre("one"));
  // The worker's stream stays open, but no heartbeat arrives. The whole loop takes less time than
  // the controller waits for a disconnected worker.
  for (int i = 0; i < 10; ++i) {
    running_.clock.Advance(950);
    running_.Tick();
  }
  v1::ListNodesResponse nodes;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.nodes->ListNodes(&context, {}, &nodes).ok());
  ASSERT_EQ(nodes.nodes_size(), 1);
  EXPECT_EQ(nodes.nodes(0).state(), v1::NODE_STATE_LOST);
  EXPECT_EQ(reader.End(), grpc::StatusCode::OK);
}

TEST_F(LogServiceTest, GivesTheLastLinesThenFollows) {
  Write("one\ntwo\nthree\n");
  v1::ReadLogsRequest request = Request(true);
  request.set_tail(2);
  Reader reader(running_, request);
  EXPECT_THAT(reader.Lines(2), ElementsAre("two", "three"));
  Write("four\nfive\nsix\n");
  EXPECT_THAT(reader.Lines(5), ElementsAre("two", "three", "four", "five", "six"));
}

TEST_F(LogServiceTest, NewOnlyLeavesOutWhatWasThere) {
  Write("one\ntwo\n");
  EndJob();
  v1::ReadLogsRequest request = Request(true);
  request.set_new_only(true);
  Reader reader(running_, request);
  EXPECT_THAT(reader.AllLines(), testing::IsEmpty());
  EXPECT_EQ(reader.End(), grpc::StatusCode::OK);
}

TEST_F(LogServiceTest, GivesMatchingLines) {
  Write("loss 1\nnoise\nloss 2\n");
  v1::ReadLogsRequest request = Request(false);
  request.set_grep("loss");
  EXPECT_THAT(Reader(running_, request).AllLines(), ElementsAre("loss 1", "loss 2"));
}

TEST_F(LogServiceTest, ASlowReaderHoldsNobodyUp) {
  // The output exceeds what flow control sends to a client that does not read. There are more such
  // clients than threads.
  const std::string line(1000, 'x');
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::string text;
    for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, line, "\n");
    Write(text);
  }
  std::vector<std::unique_ptr<Reader>> slow;
  for (int i = 0; i < 8; ++i) slow.push_back(std::make_unique<Reader>(running_, Request(true)));
  for (auto& reader : slow) reader->Lines(1);
  v1::ReadLogsRequest request = Request(false);
  request.set_tail(1);
  EXPECT_EQ(Reader(running_, request).AllLines().size(), 1u);
  EXPECT_EQ(running_.Get("1").state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(slow[0]->Lines(8'000).size(), 8'000u);
  for (auto& reader : slow) reader->Cancel();
}

TEST_F(LogServiceTest, SaysWhatIsNotThere) {
  const auto code = [this](const std::function<void(v1::ReadLogsRequest&)>& change) {
    v1::ReadLogsRequest request = Request(false);
    change(request);
    return Reader(running_, request).End();
  };
  EXPECT_EQ(code([](auto& request) { request.set_job("nobody"); }), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code([](auto& request) { request.set_attempt(2); }), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code([](auto& request) { request.add_ranks(1); }), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code([](auto& request) { request.set_tail(-1); }), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) {
              request.set_tail(1);
              request.set_new_only(true);
            }),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) { request.set_grep(std::string(5000, 'g')); }),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([](auto& request) { request.add_ranks(0); }), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace trainyard::controller

#include "worker/rank_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/output_space.h"

namespace trainyard::worker {
namespace {

using testing::SizeIs;

class FixedClock : public Clock {
 public:
  Timestamp Now() const override { return 777; }
};

class RankStreamsTest : public testing::Test {
 protected:
  RankStreams Make(int rank, v1::LogParserKind kind = v1::LOG_PARSER_KIND_NONE,
                   int parsed_rank = 0) {
    v1::StartAttempt attempt;
    attempt.set_job_id(4);
    attempt.set_attempt(2);
    attempt.set_world_size(2);
    attempt.mutable_spec()->mutable_log_parser()->set_kind(kind);
    attempt.mutable_spec()->mutable_log_parser()->set_rank(parsed_rank);
    return {attempt,
            {{4, 2}, rank},
            {.output = dir_.File("output.log"), .telemetry = dir_.File("telemetry.jsonl")},
            [this] { return gone_; },
            clock_};
  }

  void Output(const std::string& text) { WriteText(dir_.File("output.log"), text); }
  void Telemetry(const std::string& text) { WriteText(dir_.File("telemetry.jsonl"), text); }

  TemporaryDir dir_;
  FixedClock clock_;
  bool gone_ = false;
};

TEST_F(RankStreamsTest, ShipsOutputFromTheOffsetAskedFor) {
  const auto sources = Make(1).MakeSources();
  ASSERT_THAT(sources, SizeIs(2));
  StreamSource& log = *sources[1];
  EXPECT_EQ(log.id().kind(), v1::STREAM_KIND_LOG);
  EXPECT_EQ(log.id().job_id(), 4);
  EXPECT_EQ(log.id().attempt(), 2);
  EXPECT_EQ(log.id().rank(), 1);
  EXPECT_FALSE(log.Read(0).has_value()) << "there is no file yet";
  Output("hello");
  const auto piece = log.Read(2);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->message.log().data(), "llo");
  EXPECT_EQ(piece->message.log().begin_offset(), 2);
  EXPECT_EQ(piece->message.log().time_ms(), 777);
  EXPECT_EQ(piece->end_offset, 5);
  EXPECT_FALSE(log.Read(5).has_value());
  EXPECT_FALSE(log.Read(9).has_value()) << "a file that was cut has nothing to give";
}

TEST_F(RankStreamsTest, DroppedOutputIsMarkedAndEveryByteKeepsItsOffset) {
  constexpr int64_t kGap = 512 << 10;
  const std::string kept = "kept line\n";
  Output(std::string(kGap - 4, 'x') + "abc\n" + kept);
  ASSERT_TRUE(DropOutput({dir_.File("output.log"), 0, kGap, kGap}).ok());
  const auto sources = Make(0).MakeSources();
  StreamSource& log = *sources[1];
  std::string shipped;
  while (const auto piece = log.Read(static_cast<int64_t>(shipped.size()))) {
    EXPECT_EQ(piece->message.log().begin_offset(), static_cast<int64_t>(shipped.size()));
    shipped += piece->message.log().data();
    EXPECT_EQ(piece->end_offset, static_cast<int64_t>(shipped.size()));
  }
  ASSERT_EQ(static_cast<int64_t>(shipped.size()), kGap + static_cast<int64_t>(kept.size()));
  EXPECT_EQ(shipped.substr(kGap), kept);
  EXPECT_THAT(shipped, testing::HasSubstr("output dropped here"));
  EXPECT_THAT(shipped, testing::Not(testing::HasSubstr(std::string(1, '\0'))));
}

TEST_F(RankStreamsTest, UnfinishedTelemetryLineWaitsUntilTheRankIsGone) {
  const auto sources = Make(0).MakeSources();
  StreamSource& telemetry = *sources[0];
  EXPECT_EQ(telemetry.id().kind(), v1::STREAM_KIND_TELEMETRY);
  const std::string first = "{\"type\":\"metrics\",\"step\":1,\"loss\":2.5}\n";
  const std::string second = "{\"type\":\"metrics\",\"step\":2,\"loss\":2.0}";
  Telemetry(first + second);
  auto piece = telemetry.Read(0);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->end_offset, static_cast<int64_t>(first.size()));
  ASSERT_THAT(piece->message.telemetry().records(), SizeIs(1));
  EXPECT_EQ(piece->message.telemetry().stream().rank(), 0);
  EXPECT_FALSE(telemetry.Ended());
  EXPECT_FALSE(telemetry.Read(piece->end_offset).has_value());
  gone_ = true;
  EXPECT_TRUE(telemetry.Ended());
  piece = telemetry.Read(static_cast<int64_t>(first.size()));
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->end_offset, static_cast<int64_t>(first.size() + second.size()));
}

TEST_F(RankStreamsTest, LogParserReadsTheLastRankWhenAsked) {
  EXPECT_THAT(Make(0, v1::LOG_PARSER_KIND_MEGATRON, -1).MakeSources(), SizeIs(2));
  RankStreams streams = Make(1, v1::LOG_PARSER_KIND_MEGATRON, -1);
  const auto sources = streams.MakeSources();
  ASSERT_THAT(sources, SizeIs(3));
  Output(
      " iteration       20/    1000 | elapsed time per iteration (ms): 250.0 | lm loss: 3.25 |\n");
  const auto piece = sources[2]->Read(0);
  ASSERT_TRUE(piece.has_value());
  const v1::TelemetryBatch& batch = piece->message.telemetry();
  EXPECT_EQ(batch.stream().rank(), 1);
  ASSERT_THAT(batch.records(), SizeIs(1));
  EXPECT_EQ(batch.records(0).metrics().values().at("loss"), 3.25);
  EXPECT_THAT(streams.Ends(), SizeIs(3));
}

// The second of two launchers runs ranks 2 and 3.
TEST_F(RankStreamsTest, LogParserReadsTheLauncherOfItsRank) {
  v1::StartAttempt attempt;
  attempt.set_world_size(4);
  for (const int rank : {0, 1, 2, 3}) {
    v1::Process& process =
        rank % 2 == 0 ? *attempt.add_processes() : *attempt.mutable_processes(rank / 2);
    process.add_ranks()->set_rank(rank);
  }
  attempt.mutable_spec()->mutable_log_parser()->set_kind(v1::LOG_PARSER_KIND_NANOGPT);
  attempt.mutable_spec()->mutable_log_parser()->set_rank(3);
  const auto make = [&](int first_rank) {
    return RankStreams(
        attempt, {{4, 2}, first_rank},
        {.output = dir_.File("output.log"), .telemetry = dir_.File("telemetry.jsonl")},
        [] { return false; }, clock_);
  };
  Output(
      "[default0]:iter 3: loss 1.5, time 20.0ms\n[default1]:iter 3: loss 2.5, time 20.0ms\n"
      "1/2 attempts left; will restart worker group\n");
  RankStreams second = make(2);
  const auto piece = second.MakeSources().at(2)->Read(0);
  ASSERT_TRUE(piece.has_value());
  ASSERT_THAT(piece->message.telemetry().records(), SizeIs(2));
  EXPECT_EQ(piece->message.telemetry().records(0).metrics().values().at("loss"), 2.5);
  EXPECT_EQ(piece->message.telemetry().records(1).alert().code(), "launcher_restart");
  RankStreams first = make(0);
  const auto other = first.MakeSources().at(2)->Read(0);
  ASSERT_TRUE(other.has_value());
  EXPECT_THAT(other->message.telemetry().records(), SizeIs(1)) << "only the restart";
  v1::RankReport report;
  first.Report(report);
  EXPECT_EQ(report.unmatched_lines(), 0) << "no metrics are expected from it";
}

TEST_F(RankStreamsTest, LogParserAddsAStreamForItsRankOnly) {
  EXPECT_THAT(Make(1, v1::LOG_PARSER_KIND_NANOGPT).MakeSources(), SizeIs(2));
  const auto sources = Make(0, v1::LOG_PARSER_KIND_NANOGPT).MakeSources();
  ASSERT_THAT(sources, SizeIs(3));
  StreamSource& parsed = *sources[2];
  EXPECT_EQ(parsed.id().kind(), v1::STREAM_KIND_PARSED_LOG);
  Output("starting\niter 3: loss 1.5000, time 20.00ms, mfu 10.00%\n");
  const auto piece = parsed.Read(0);
  ASSERT_TRUE(piece.has_value());
  ASSERT_THAT(piece->message.telemetry().records(), SizeIs(1));
  EXPECT_EQ(piece->message.telemetry().records(0).metrics().step(), 3);
}

TEST_F(RankStreamsTest, ReportFollowsStepPhaseAndActivity) {
  RankStreams streams = Make(0);
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.step(), 0);
  EXPECT_EQ(report.last_activity_ms(), 0);
  std::string text = "{\"type\":\"phase\",\"phase\":\"train\",\"step\":0}\n";
  text += "{\"type\":\"metrics\",\"step\":7,\"loss\":1}\n";
  Telemetry(text);
  streams.Report(report);
  EXPECT_EQ(report.step(), 7);
  EXPECT_EQ(report.phase(), "train");
  EXPECT_GT(report.last_activity_ms(), 1'000'000'000'000);
  Telemetry(text + "{\"type\":\"phase\",\"phase\":\"eval\",\"step\":8}\n");
  streams.Report(report);
  EXPECT_EQ(report.step(), 8);
  EXPECT_EQ(report.phase(), "eval");
}

TEST_F(RankStreamsTest, RestartedWorkerKnowsStepAndPhaseAtOnce) {
  std::string text = "{\"type\":\"phase\",\"phase\":\"train\",\"step\":0}\n";
  for (int step = 1; step <= 3000; ++step) {
    text += "{\"type\":\"metrics\",\"step\":" + std::to_string(step) + ",\"loss\":1.25}\n";
  }
  Telemetry(text);
  RankStreams streams = Make(0);
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.step(), 3000);
}

TEST_F(RankStreamsTest, StepComesFromParsedOutputToo) {
  RankStreams streams = Make(0, v1::LOG_PARSER_KIND_NANOGPT);
  Output("iter 3: loss 1.5000, time 20.00ms, mfu 10.00%\n");
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.step(), 3);
}

TEST_F(RankStreamsTest, LinesWithoutAStepAreReportedUntilOneIsFound) {
  RankStreams streams = Make(0, v1::LOG_PARSER_KIND_NANOGPT);
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "loading\n";
  Output(text);
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.unmatched_lines(), 1200);
  Make(0, v1::LOG_PARSER_KIND_NANOGPT).Report(report);
  EXPECT_EQ(report.unmatched_lines(), 1200) << "a restarted worker";
  Make(0).Report(report);
  EXPECT_EQ(report.unmatched_lines(), 0) << "without a parser";
  Output(text + "iter 3: loss 1.5000\n");
  streams.Report(report);
  EXPECT_EQ(report.unmatched_lines(), 0);
}

TEST_F(RankStreamsTest, ARestartedWorkerReadsNoHalfLineOfOutput) {
  // The last 64 KiB of the file begin inside the step number, after the first digit.
  std::string tail = "234 loss=1.5\n";
  while (tail.size() < 64 << 10) tail += "noise\n";
  tail.resize(64 << 10, '.');
  Output("step=1" + tail);
  v1::StartAttempt attempt;
  attempt.set_world_size(1);
  v1::LogParserSpec& parser = *attempt.mutable_spec()->mutable_log_parser();
  parser.set_kind(v1::LOG_PARSER_KIND_REGEX);
  parser.set_pattern("(?P<step>\\d+) loss=(?P<loss>\\S+)");
  RankStreams streams(
      attempt, {{4, 2}, 0}, {.output = dir_.File("output.log"), .telemetry = ""},
      [] { return false; }, clock_);
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.step(), 0) << "step 1234 was read as 234";
  EXPECT_EQ(report.unmatched_lines(), 0) << "the line was matched from its beginning";
}

TEST_F(RankStreamsTest, RankRecordsGoIntoTheReportAndCostNoMessages) {
  RankStreams streams = Make(1);
  const auto sources = streams.MakeSources();
  StreamSource& telemetry = *sources[0];
  const std::string phase = "{\"type\":\"phase\",\"phase\":\"train\"}\n";
  const std::string rank = "{\"type\":\"rank\",\"step\":9,\"step_seconds\":0.25}\n";
  Telemetry(phase + rank);
  auto piece = telemetry.Read(0);
  ASSERT_TRUE(piece.has_value());
  EXPECT_THAT(piece->message.telemetry().records(), SizeIs(1));
  const int64_t sent = piece->end_offset;
  std::string text = phase + rank;
  for (int i = 0; i < 5; ++i) {
    Telemetry(text += rank);
    EXPECT_FALSE(telemetry.Read(sent).has_value()) << "nothing to send but an offset";
  }
  v1::RankReport report;
  streams.Report(report);
  EXPECT_EQ(report.step(), 9);
  EXPECT_EQ(report.newest().step_seconds(), 0.25);

  Telemetry(text += phase);
  piece = telemetry.Read(sent);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->message.telemetry().begin_offset(), sent) << "no hole in the stream";
  EXPECT_EQ(piece->end_offset, static_cast<int64_t>(text.size()));
  EXPECT_THAT(piece->message.telemetry().records(), SizeIs(1));
}

TEST_F(RankStreamsTest, QuietTelemetryIsAcknowledgedNowAndThenAndAtTheEnd) {
  const auto sources = Make(1).MakeSources();
  StreamSource& telemetry = *sources[0];
  const std::string rank = "{\"type\":\"rank\",\"step\":9}\n";
  std::string text = rank;
  Telemetry(text);
  EXPECT_FALSE(telemetry.Read(0).has_value());
  while (text.size() < 64 << 10) text += rank;
  Telemetry(text);
  const auto piece = telemetry.Read(0);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->message.telemetry().begin_offset(), 0);
  EXPECT_EQ(piece->end_offset, static_cast<int64_t>(text.size()));
  Telemetry(text += rank);
  EXPECT_FALSE(telemetry.Read(piece->end_offset).has_value());
  gone_ = true;
  const auto last = telemetry.Read(piece->end_offset);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->end_offset, static_cast<int64_t>(text.size()));
  EXPECT_THAT(last->message.telemetry().records(), SizeIs(0));
}

TEST_F(RankStreamsTest, EndsAreTheSizesOfTheFiles) {
  Output("12345");
  const auto ends = Make(0, v1::LOG_PARSER_KIND_NANOGPT).Ends();
  ASSERT_THAT(ends, SizeIs(3));
  EXPECT_EQ(ends[0].stream().kind(), v1::STREAM_KIND_TELEMETRY);
  EXPECT_EQ(ends[0].end_offset(), 0);
  EXPECT_EQ(ends[1].stream().kind(), v1::STREAM_KIND_LOG);
  EXPECT_EQ(ends[1].end_offset(), 5);
  EXPECT_EQ(ends[2].stream().kind(), v1::STREAM_KIND_PARSED_LOG);
  EXPECT_EQ(ends[2].end_offset(), 5);
}

// A directory and a link replace the two files. Neither can be read, so waiting for more bytes
// would never end.
TEST_F(RankStreamsTest, WhatIsNoFileEndsWhereItBegins) {
  std::filesystem::create_directory(dir_.File("telemetry.jsonl"));
  std::filesystem::create_symlink(dir_.File("elsewhere"), dir_.File("output.log"));
  WriteText(dir_.File("elsewhere"), "foreign");
  const RankStreams streams = Make(0);
  for (const v1::StreamEnd& end : streams.Ends()) EXPECT_EQ(end.end_offset(), 0);
  for (const auto& source : streams.MakeSources()) EXPECT_FALSE(source->Read(0).has_value());
}

TEST_F(RankStreamsTest, AFileThatCannotBeReadOnEndsWhereTheLastReadEnded) {
  Output("hello");
  const RankStreams streams = Make(0);
  const auto sources = streams.MakeSources();
  ASSERT_TRUE(sources[1]->Read(0).has_value());
  Output("hello again");
  EXPECT_EQ(streams.Ends()[1].end_offset(), 11);
  ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(dir_.File("output.log").c_str(), 0), 0);
  // Root can read files without permission, so a test that runs as root must read the files as
  // another user.
  const uid_t user = geteuid();
  if (user == 0) setfsuid(65534);
  EXPECT_FALSE(sources[1]->Read(5).has_value());
  if (user == 0) setfsuid(user);
  EXPECT_EQ(streams.Ends()[1].end_offset(), 5);
  ASSERT_EQ(chmod(dir_.File("output.log").c_str(), 0600), 0);
  EXPECT_TRUE(sources[1]->Read(5).has_value());
  EXPECT_EQ(streams.Ends()[1].end_offset(), 11) << "it can be read again";
}

}  // namespace
}  // namespace trainyard::worker

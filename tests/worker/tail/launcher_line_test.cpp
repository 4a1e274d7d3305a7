#include "worker/tail/launcher_line.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/worker/tail/parsed_text.h"

namespace trainyard::worker {
namespace {

std::string TextOf(const std::string& line, int first_rank = 4) {
  const std::optional<v1::AlertRecord> alert = AlertOfLauncher(line, first_rank);
  return alert.has_value() ? alert->code() + ": " + alert->message() : "";
}

TEST(LauncherLineTest, ARestartOfTheRanksIsAnAlert) {
  const std::string expected =
      "launcher_restart: the launcher of rank 4 starts its ranks again after a failure, 2 of 3 "
      "restarts left";
  for (const char* prefix :
       {"", "[default] Worker group FAILED. ",
        "I1129 10:00:00.123000 140 torch/distributed/elastic/agent/server/api.py:868] [default] "
        "Worker group FAILED. ",
        "[2026-11-29 10:00:00,123] torch.distributed.elastic.agent.server.api: [INFO] [default] "
        "Worker group FAILED. "}) {
    EXPECT_EQ(TextOf(std::string(prefix) + "2/3 attempts left; will restart worker group"),
              expected)
        << prefix;
  }
}

TEST(LauncherLineTest, AFailedRankIsAnAlert) {
  EXPECT_EQ(
      TextOf("E1129 10:00:00.123000 140 torch/distributed/elastic/multiprocessing/api.py:826] "
             "failed (exitcode: 1) local_rank: 2 (pid: 151) of binary: /usr/bin/python3"),
      "launcher_rank_failed: rank 6 has ended with exit code 1 below its launcher");
  EXPECT_EQ(TextOf("failed (exitcode: -9) local_rank: 0 (pid: 151) of binary: /usr/bin/python3"),
            "launcher_rank_failed: rank 4 has ended by signal 9 below its launcher");
}

TEST(LauncherLineTest, OtherLinesAreNone) {
  for (const char* line :
       {"", "iter 5: loss 4.0", "will restart worker group", "failed (exitcode: x) local_rank: 0",
        "x/3 attempts left; will restart worker group",
        "failed (exitcode: 1) local_rank: 9999999 (pid: 1) of binary: x"}) {
    EXPECT_EQ(TextOf(line), "") << line;
  }
  EXPECT_EQ(TextOf(std::string(5000, 'x') + "1/3 attempts left; will restart worker group"), "");
}

TEST(LauncherLineTest, OnlyTheOutputOfALauncherHasAlerts) {
  const std::string text =
      "iter 1: loss 4.0, time 10.0ms\n1/3 attempts left; will restart worker group\n"
      "iter 1: loss 4.0, time 10.0ms\n";
  const GrowingFile file;
  file.Append(text);
  const auto parser = MakeParser(v1::LOG_PARSER_KIND_NANOGPT);
  const TailPosition position{file.path(), 0, true, 77};
  EXPECT_EQ(ReadParsedLog(position, *parser)->records_size(), 2);
  parser->ReadOnlyRank(0, 0);
  const v1::TelemetryBatch batch = *ReadParsedLog(position, *parser);
  ASSERT_EQ(batch.records_size(), 3);
  EXPECT_EQ(batch.records(1).alert().code(), "launcher_restart");
  EXPECT_EQ(batch.records(1).time_ms(), 77);
  const auto none = MakeLauncherParser();
  none->ReadOnlyRank(0, 0);
  EXPECT_EQ(ReadParsedLog(position, *none)->records_size(), 1) << "without log_parser";
}

}  // namespace
}  // namespace trainyard::worker

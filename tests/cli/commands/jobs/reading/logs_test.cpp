#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::LogLine Line(int rank, int64_t offset, const std::string& text) {
  v1::LogLine line;
  line.set_attempt(1);
  line.set_rank(rank);
  line.set_time_ms(kNow);
  line.set_offset(offset);
  line.set_text(text);
  return line;
}

class LogsTest : public CliFixture {};

TEST_F(LogsTest, PrintsAttemptAndRankBeforeEachLine) {
  answers().logs.push_back({{Line(0, 0, "hello"), Line(1, 0, "world")}});
  const CliResult result = Run({"logs", "tiny"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "[1.0] hello\n[1.1] world\n");
}

TEST_F(LogsTest, OneRankIsPrintedAsItWasWritten) {
  answers().logs.push_back({{Line(0, 0, "  hello")}});
  EXPECT_EQ(Run({"logs", "tiny", "--rank", "0"}).out, "  hello\n");
  answers().logs.push_back({{Line(0, 0, "hello")}});
  EXPECT_EQ(Run({"logs", "tiny", "--rank", "0", "-t"}).out, "2026-11-21T12:00:00.000Z hello\n");
}

TEST_F(LogsTest, AsksForWhatTheUserWants) {
  answers().logs.clear();
  Run({"logs", "tiny@2", "--rank", "0,8-10", "--grep", "nan", "-iE", "--errors", "--tail", "7"});
  Run({"logs", "tiny", "--attempt", "3"});
  ASSERT_EQ(answers().log_requests.size(), 2u);
  const v1::ReadLogsRequest& request = answers().log_requests[0];
  EXPECT_EQ(request.job(), "tiny");
  EXPECT_EQ(request.attempt(), 2);
  EXPECT_THAT(request.ranks(), ElementsAre(0, 8, 9, 10));
  EXPECT_EQ(request.grep(), "nan");
  EXPECT_TRUE(request.ignore_case());
  EXPECT_TRUE(request.regex());
  EXPECT_EQ(request.min_level(), v1::LOG_LEVEL_ERROR);
  EXPECT_EQ(request.tail(), 7);
  EXPECT_FALSE(request.follow());
  EXPECT_EQ(answers().log_requests[1].attempt(), 3);
}

TEST_F(LogsTest, JsonIsOneObjectALineAndSurvivesBrokenText) {
  answers().logs.push_back({{Line(0, 4, "a\tb"), Line(1, 0, "c")}});
  std::istringstream lines(Run({"logs", "tiny", "-o", "json"}).out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const nlohmann::json first = nlohmann::json::parse(line);
  EXPECT_EQ(first["text"], "a\tb");
  EXPECT_EQ(first["offset"], 4);
  EXPECT_EQ(first["time"], "2026-11-21T12:00:00.000Z");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["offset"], 0);
}

TEST_F(LogsTest, CsvQuotesText) {
  answers().logs.push_back({{Line(0, 0, "a, \"b\"")}});
  EXPECT_EQ(Run({"logs", "tiny", "-o", "csv"}).out,
            "attempt,rank,time,offset,text\n1,0,2026-11-21T12:00:00.000Z,0,\"a, \"\"b\"\"\"\n");
}

TEST_F(LogsTest, NothingToShowIsSaid) {
  answers().logs.clear();
  EXPECT_THAT(Run({"logs", "tiny"}).err, HasSubstr("no output yet"));
  EXPECT_THAT(Run({"logs", "tiny", "--grep", "x"}).err, HasSubstr("no line contains that text"));
}

TEST_F(LogsTest, FollowComesBackWithoutGapOrDouble) {
  const grpc::Status gone(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  answers().logs.push_back({{Line(0, 0, "one"), Line(0, 4, "two")}, gone});
  answers().logs.push_back({{Line(0, 0, "one"), Line(0, 4, "two"), Line(0, 8, "three")}});
  const CliResult result = Run({"logs", "-f", "tiny", "--rank", "0", "--tail", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "one\ntwo\nthree\n");
  ASSERT_EQ(answers().log_requests.size(), 2u);
  EXPECT_EQ(answers().log_requests[0].tail(), 2);
  EXPECT_EQ(answers().log_requests[1].tail(), 0);
}

TEST_F(LogsTest, TailZeroFollowsOnlyNewLines) {
  answers().logs.push_back({{Line(0, 8, "new")}});
  EXPECT_EQ(Run({"logs", "-f", "tiny", "--rank", "0", "--tail", "0"}).out, "new\n");
  EXPECT_TRUE(answers().log_requests[0].new_only());
  EXPECT_EQ(answers().log_requests[0].tail(), 0);
}

TEST_F(LogsTest, OnlyNewLinesStayNewAfterALostController) {
  const grpc::Status gone(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  v1::LogLine old = Line(1, 0, "old");
  old.set_time_ms(kNow - 5000);
  answers().logs.push_back({{Line(0, 8, "new")}, gone});
  answers().logs.push_back({{old, Line(0, 8, "new"), Line(0, 12, "newer")}});
  EXPECT_EQ(Run({"logs", "-f", "tiny", "--tail", "0"}).out, "[1.0] new\n[1.0] newer\n");
  EXPECT_FALSE(answers().log_requests[1].new_only());
}

TEST_F(LogsTest, TailZeroWithoutFollowSaysWhatToDo) {
  const CliResult result = Run({"logs", "tiny", "--tail", "0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--tail 0 prints nothing"));
  EXPECT_THAT(result.err, HasSubstr("-f"));
}

TEST_F(LogsTest, WithoutFollowALostControllerIsAnError) {
  answers().logs.push_back(
      {{Line(0, 0, "one")}, grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed")});
  EXPECT_EQ(Run({"logs", "tiny"}).exit_code, 7);
}

TEST_F(LogsTest, CtrlCDetaches) {
  answers().logs.push_back({{Line(0, 0, "one")}, {}, true, [this] { interrupt_.Raise(); }});
  const CliResult result = Run({"logs", "-f", "tiny"});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("trainyard logs -f tiny"));
}

}  // namespace
}  // namespace trainyard::cli

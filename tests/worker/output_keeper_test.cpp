#include "worker/output_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"
#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/output_space.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class OutputKeeperTest : public testing::Test {
 protected:
  // Creates telemetry and the output of two attempts, 2 MiB each.
  OutputKeeperTest() {
    for (const char* name : {"1", "2"}) {
      WriteText(dir_.File(absl::StrCat(name, ".log")), std::string(2 << 20, 'x'));
      WriteText(dir_.File(absl::StrCat(name, ".jsonl")), std::string(1 << 20, 'x'));
    }
  }

  std::string PathOf(const v1::StreamId& id) {
    const bool telemetry = id.kind() == v1::STREAM_KIND_TELEMETRY;
    return dir_.File(absl::StrCat(id.attempt(), telemetry ? ".jsonl" : ".log"));
  }

  static StreamPosition Position(int64_t attempt_number, v1::StreamKind kind,
                                 int64_t acknowledged) {
    StreamPosition position;
    position.id.set_job_id(1);
    position.id.set_attempt(attempt_number);
    position.id.set_kind(kind);
    position.acknowledged = acknowledged;
    return position;
  }

  OutputKeeper Keeper(int64_t bytes_max) {
    return OutputKeeper(dir_.path(), {.bytes_max = bytes_max, .free_min = 0},
                        [this](const v1::StreamId& id) { return PathOf(id); });
  }

  TemporaryDir dir_;
};

TEST_F(OutputKeeperTest, DropsStoredOutputThenTheOldestAndNeverTelemetry) {
  const std::vector<StreamPosition> streams = {
      Position(1, v1::STREAM_KIND_TELEMETRY, 0), Position(1, v1::STREAM_KIND_LOG, 0),
      Position(2, v1::STREAM_KIND_TELEMETRY, 0), Position(2, v1::STREAM_KIND_LOG, 1 << 20)};
  OutputKeeper ample = Keeper(7 << 20);
  ample.FreeSpace(streams);
  EXPECT_EQ(FirstKeptByte(dir_.File("2.log")), 0);
  // The limits are half a MiB away from whole MiB, because file systems add a few blocks to a file.
  OutputKeeper keeper = Keeper(11 << 19);
  keeper.FreeSpace(streams);
  EXPECT_EQ(FirstKeptByte(dir_.File("1.log")), 0);
  EXPECT_GE(FirstKeptByte(dir_.File("2.log")), 512 << 10) << "what the controller has goes first";
  EXPECT_EQ(keeper.lost_bytes(), 0);
  OutputKeeper tight = Keeper(4 << 20);
  tight.FreeSpace(streams);
  EXPECT_EQ(FirstKeptByte(dir_.File("2.log")), 1 << 20);
  EXPECT_GE(FirstKeptByte(dir_.File("1.log")), 1 << 20);
  EXPECT_EQ(tight.lost_bytes(), FirstKeptByte(dir_.File("1.log")));
  OutputKeeper none = Keeper(0);
  none.FreeSpace(streams);
  for (const char* name : {"1.jsonl", "2.jsonl"}) {
    EXPECT_EQ(ReadText(dir_.File(name)), std::string(1 << 20, 'x')) << "a metric is lost";
  }
}

TEST_F(OutputKeeperTest, StoredTelemetryIsDroppedToo) {
  OutputKeeper keeper = Keeper(0);
  keeper.FreeSpace({Position(1, v1::STREAM_KIND_TELEMETRY, 512 << 10)});
  EXPECT_EQ(FirstKeptByte(dir_.File("1.jsonl")), 448 << 10)
      << "the byte before the next line stays: a reader looks at it";
  EXPECT_EQ(keeper.lost_bytes(), 0);
}

TEST_F(OutputKeeperTest, OutputThatMetricsAreStillReadFromStays) {
  const std::vector<StreamPosition> streams = {Position(1, v1::STREAM_KIND_LOG, 2 << 20),
                                               Position(1, v1::STREAM_KIND_PARSED_LOG, 1 << 20)};
  OutputKeeper keeper = Keeper(0);
  keeper.FreeSpace(streams);
  EXPECT_EQ(FirstKeptByte(dir_.File("1.log")), 1 << 20);
}

// Collects the lines that the program logs during the object's lifetime.
class LoggedLines {
 public:
  LoggedLines() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
    logger->set_pattern("%v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~LoggedLines() { spdlog::set_default_logger(before_); }

  // Returns the lines logged since the last call.
  std::vector<std::string> Take() {
    std::vector<std::string> lines = absl::StrSplit(text_.str(), '\n', absl::SkipEmpty());
    text_.str("");
    return lines;
  }

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

// The executable of a running program, more than 1 MiB large. None of its space can be freed.
class SealedFile {
 public:
  ~SealedFile() { End(); }

  // Puts the file at `path`, replacing any file there.
  void PutAt(const std::string& path) {
    End();
    std::filesystem::remove(path);
    std::filesystem::copy_file("/bin/sleep", path);
    std::ofstream(path, std::ios::app) << std::string(1 << 20, 'x');
    std::string name = "sleep", seconds = "1000";
    char* const arguments[] = {name.data(), seconds.data(), nullptr};
    ASSERT_EQ(posix_spawn(&pid_, path.c_str(), nullptr, nullptr, arguments, environ), 0);
  }

 private:
  void End() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid_ = 0;
};

class OutputKeeperErrorTest : public OutputKeeperTest {
 protected:
  OutputKeeperErrorTest() {
    first_.PutAt(first_path_);
    second_.PutAt(second_path_);
  }

  void FreeSpace() { keeper_.FreeSpace(streams_); }

  const std::string first_path_ = dir_.File("1.log");
  const std::string second_path_ = dir_.File("2.log");
  SealedFile first_;
  SealedFile second_;
  std::vector<StreamPosition> streams_ = {Position(1, v1::STREAM_KIND_LOG, 0),
                                          Position(2, v1::STREAM_KIND_LOG, 0)};
  OutputKeeper keeper_ = Keeper(0);
  LoggedLines logged_;
};

TEST_F(OutputKeeperErrorTest, TheErrorOfEachFileIsLoggedOnce) {
  FreeSpace();
  EXPECT_THAT(logged_.Take(),
              UnorderedElementsAre(HasSubstr(first_path_), HasSubstr(second_path_)));
  for (int second = 0; second < 3; ++second) FreeSpace();
  EXPECT_THAT(logged_.Take(), IsEmpty());
}

TEST_F(OutputKeeperErrorTest, AnErrorThatReturnsIsLoggedAgain) {
  FreeSpace();
  std::filesystem::remove(first_path_);
  WriteText(first_path_, std::string(1 << 20, 'x'));
  FreeSpace();
  logged_.Take();
  first_.PutAt(first_path_);
  FreeSpace();
  EXPECT_THAT(logged_.Take(), ElementsAre(HasSubstr(first_path_)));
}

TEST_F(OutputKeeperErrorTest, AFileWhoseStreamHasEndedIsForgotten) {
  FreeSpace();
  const StreamPosition ended = streams_.front();
  streams_.erase(streams_.begin());
  FreeSpace();
  logged_.Take();
  streams_.insert(streams_.begin(), ended);
  FreeSpace();
  EXPECT_THAT(logged_.Take(), ElementsAre(HasSubstr(first_path_)));
}

}  // namespace
}  // namespace trainyard::worker

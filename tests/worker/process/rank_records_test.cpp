// Tests the record files of a rank and the text in them, without starting processes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "gmock/gmock.h"
#include "proto/support/durable_file.h"
#include "proto/text/utf8.h"
#include "tests/worker/process/rank_fixture.h"
#include "worker/process/memory_kills.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

TEST(RankFilesTest, CommandComesBackAsItWas) {
  const TemporaryDirectory directory;
  RankCommand command = {{"python3", "a b", "", "\"q\"\\\n"}, {{"A", ""}, {"Ü", "x=y\t"}}, "/w"};
  for (int i = 0; i < 1000; ++i) command.argv.push_back(std::string(100, 'x'));
  ASSERT_TRUE(WriteRankCommand(directory.path(), command).ok());
  const absl::StatusOr<RankCommand> read = ReadRankCommand(directory.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->argv, command.argv);
  EXPECT_EQ(read->environment, command.environment);
  EXPECT_EQ(read->working_directory, "/w");
}

TEST(RankFilesTest, SecretsAreNotWritten) {
  const TemporaryDirectory directory;
  const RankCommand command = {
      .argv = {"env"}, .working_directory = "/", .secrets = {{"KEY", "open sesame"}}};
  ASSERT_TRUE(WriteRankCommand(directory.path(), command).ok());
  const absl::StatusOr<std::string> text = ReadSmallFile(directory.File(kStartFile));
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, testing::Not(HasSubstr("open sesame")));
  EXPECT_TRUE(ReadRankCommand(directory.path())->secrets.empty());
}

TEST(RankFilesTest, DamagedRecordsAreDataLoss) {
  const TemporaryDirectory directory;
  for (const char* text : {"", "{", "[]", "null", "{\"exit_code\":\"1\"}", "{\"exit_code\":1}"}) {
    ASSERT_TRUE(WriteFileAtomically(directory.File(kExitFile), text).ok());
    EXPECT_EQ(ReadRankExit(directory.path()).status().code(), absl::StatusCode::kDataLoss) << text;
  }
  for (const char* text : {"{\"argv\":[],\"environment\":{},\"working_directory\":\"/\"}",
                           "{\"argv\":[1],\"environment\":{},\"working_directory\":\"/\"}",
                           "{\"argv\":[\"a\"],\"environment\":{\"A\":1},"
                           "\"working_directory\":\"/\"}"}) {
    ASSERT_TRUE(WriteFileAtomically(directory.File(kStartFile), text).ok());
    EXPECT_EQ(ReadRankCommand(directory.path()).status().code(), absl::StatusCode::kDataLoss)
        << text;
  }
}

TEST(ProcessTableTest, ReadsStatOfProcessesWithOddNames) {
  const std::string rest = " S 1 42 43 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 98765 1000 10";
  for (const char* name : {"sh", "a b", "x) R (y", "((()"}) {
    const std::optional<ProcessStat> stat =
        ParseProcessStat("41 (" + std::string(name) + ")" + rest);
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->pid, 41);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 1);
    EXPECT_EQ(stat->group, 42);
    EXPECT_EQ(stat->start_time, 98765);
  }
  for (const char* text : {"", "41", "41 (sh", "41 (sh) S 1", "x (sh) S 1 42 43 0 -1 0 0 0 0 0"}) {
    EXPECT_FALSE(ParseProcessStat(text).has_value()) << text;
  }
}

TEST(ProcessTableTest, KnowsThisProcess) {
  const std::optional<ProcessStat> own = ReadProcessStat(getpid());
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->parent, getppid());
  EXPECT_EQ(own->group, getpgrp());
  EXPECT_TRUE(IsRunning({own->pid, own->start_time}));
  EXPECT_FALSE(IsRunning({own->pid, own->start_time + 1}));
  EXPECT_FALSE(IsRunning({0, own->start_time}));
}

class MemoryKillsTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const std::string path = directory_.File(name);
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      mkdir(path.substr(0, slash).c_str(), 0700);
    }
    ASSERT_TRUE(WriteFileAtomically(path, text).ok());
  }
  std::optional<int64_t> Kills() const {
    return MemoryKills(directory_.File("membership"), directory_.File("cgroup"));
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(MemoryKillsTest, ReadsVersionTwo) {
  Write("membership", "0::/system.slice/trainyard.service\n");
  Write("cgroup/system.slice/trainyard.service/memory.events",
        "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(Kills(), 2);
}

TEST_F(MemoryKillsTest, ReadsVersionOneBesideAnEmptyVersionTwo) {
  Write("membership", "9:name=systemd:/\n4:cpu,memory:/box\n0::/\n");
  Write("cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(Kills(), 5);
}

TEST_F(MemoryKillsTest, InAContainerTheMountIsTheGroup) {
  Write("membership", "0::/docker/0123\n");
  Write("cgroup/memory.events", "oom 1\noom_kill 1\n");
  EXPECT_EQ(Kills(), 1);
}

TEST_F(MemoryKillsTest, UnknownWhereTheKernelDoesNotTell) {
  EXPECT_EQ(Kills(), std::nullopt);
  Write("membership", "0::/\nnonsense\n");
  EXPECT_EQ(Kills(), std::nullopt);
}

class LogTailTest : public testing::Test {
 protected:
  std::string TailOf(const std::string& text, std::size_t max_bytes) {
    std::ofstream(directory_.File(kOutputFile), std::ios::trunc) << text;
    return ReadLogTail(directory_.path(), max_bytes);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(LogTailTest, GivesWholeLines) {
  EXPECT_EQ(TailOf("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
  EXPECT_EQ(TailOf("one\ntwo\nthree\n", 13), "two\nthree\n");
  EXPECT_EQ(TailOf("one\ntwo\nthree\n", 10), "two\nthree\n");
  EXPECT_EQ(TailOf("one\ntwo\nthree\n", 9), "three\n");
  EXPECT_EQ(TailOf("one\nunfinished", 12), "unfinished");
  EXPECT_EQ(TailOf("a line that is too long", 8), "too long");
  EXPECT_EQ(TailOf("a line that is too long\n", 9), "too long\n");
  EXPECT_EQ(TailOf("", 10), "");
  EXPECT_EQ(ReadLogTail("/no/such/dir"), "");
}

TEST_F(LogTailTest, IsValidAndBoundedForAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 400, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 5 == 0 ? '\n' : random());
    const std::size_t max_bytes = 1 + random() % 200;
    const std::string tail = TailOf(text, max_bytes);
    EXPECT_LE(tail.size(), max_bytes);
    EXPECT_TRUE(IsUtf8(tail));
  }
}

}  // namespace
}  // namespace trainyard::worker

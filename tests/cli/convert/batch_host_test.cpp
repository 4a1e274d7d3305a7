#include "cli/convert/batch_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Options of a script with these tasks, GPUs and slots on each node.
struct HostScript {
  std::vector<std::pair<std::string, std::string>> options;
  int64_t tasks = 0;
  int64_t gpus = 0;
  int64_t slots = 8;
};

JobDraft DraftOfHost(const HostScript& script) {
  JobDraft draft;
  BatchHost host;
  for (const auto& [option, value] : script.options) {
    EXPECT_TRUE(host.Take(option, value, "--" + option, 3));
  }
  host.SetCounts(script.tasks, script.gpus);
  draft.Set("resources.slots_per_node", std::to_string(script.slots));
  host.Finish(draft);
  return draft;
}

std::string CpusOf(const JobDraft& draft) { return draft.Value("resources.cpus_per_rank"); }
std::string MemoryOf(const JobDraft& draft) { return draft.Value("resources.memory_per_rank"); }

TEST(BatchHostTest, ReadsEachFormOfMemory) {
  EXPECT_EQ(SlurmBytes("64G"), int64_t{64} << 30);
  EXPECT_EQ(SlurmBytes("64gb"), int64_t{64} << 30);
  EXPECT_EQ(SlurmBytes("2T"), int64_t{2} << 40);
  EXPECT_EQ(SlurmBytes("4096"), int64_t{4} << 30);
  EXPECT_EQ(SlurmBytes("512K"), 512 << 10);
  EXPECT_EQ(SlurmBytes("0"), 0);
  for (const char* wrong : {"", "G", "B", "B64", "1.5G", "-1G", "2000T", "99999999999999999999G"}) {
    EXPECT_EQ(SlurmBytes(wrong), std::nullopt) << wrong;
  }
}

TEST(BatchHostTest, OtherOptionsAreNotTaken) {
  BatchHost host;
  EXPECT_FALSE(host.Take("time", "1", "--time=1", 1));
  JobDraft draft;
  host.Finish(draft);
  EXPECT_THAT(draft.Notes(), IsEmpty());
  EXPECT_TRUE(draft.settings().empty());
}

TEST(BatchHostTest, ATaskPerRankKeepsItsCpus) {
  EXPECT_EQ(CpusOf(DraftOfHost({{{"cpus-per-task", "12"}}, 8, 8})), "12");
  EXPECT_EQ(CpusOf(DraftOfHost({{{"cpus-per-gpu", "6"}}, 1, 8})), "6");
}

TEST(BatchHostTest, TheRanksOfOneTaskShareItsCpus) {
  EXPECT_EQ(CpusOf(DraftOfHost({{{"cpus-per-task", "96"}}, 1, 8})), "12");
  const JobDraft draft = DraftOfHost({{{"cpus-per-task", "100"}}, 1, 8});
  EXPECT_EQ(CpusOf(draft), "");
  EXPECT_THAT(draft.Notes(), ElementsAre(HasSubstr(
                                 "--cpus-per-task: cannot be shared equally by 8 ranks per node; "
                                 "set resources.cpus_per_rank")));
}

TEST(BatchHostTest, MemoryIsSharedExactly) {
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem", "512G"}}, 8, 8})), "64GiB");
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem", "100G"}}, 8, 8})), "12800MiB");
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem-per-gpu", "64G"}}, 1, 8})), "64GiB");
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem-per-cpu", "4G"}, {"cpus-per-task", "8"}}, 8, 8})),
            "32GiB");
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem-per-cpu", "4G"}, {"cpus-per-gpu", "2"}}, 0, 8})), "8GiB");
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem-per-cpu", "4G"}}, 8, 8})), "4GiB") << "one CPU per task";
  EXPECT_EQ(MemoryOf(DraftOfHost({{{"mem", "10M"}}, 1, 0, 1})), "10MiB");
}

TEST(BatchHostTest, MemoryThatCannotBeConvertedGetsANote) {
  const auto note_of = [](const HostScript& script) {
    const JobDraft draft = DraftOfHost(script);
    EXPECT_EQ(MemoryOf(draft), "");
    EXPECT_EQ(draft.Notes().size(), 1U);
    return draft.Notes().empty() ? "" : draft.Notes().front();
  };
  EXPECT_THAT(note_of({{{"mem", "1000000K"}}, 1, 3, 3}), HasSubstr("equally by 3 ranks per node"));
  EXPECT_THAT(note_of({{{"mem", "0"}}, 1, 8}), HasSubstr("cannot request all memory of a node"));
  EXPECT_THAT(note_of({{{"mem", "much"}}, 1, 8}), HasSubstr("is not an amount of memory"));
  EXPECT_THAT(note_of({{{"mem", "1K"}}, 1, 1, 1}), HasSubstr("set resources.memory_per_rank"));
  EXPECT_THAT(note_of({{{"mem-per-gpu", "1G"}}, 1, 0}), HasSubstr("requests no number of GPUs"));
}

TEST(BatchHostTest, CpusThatCannotBeConvertedGetANote) {
  EXPECT_THAT(DraftOfHost({{{"cpus-per-task", "all"}}, 1, 8}).Notes(),
              ElementsAre(HasSubstr("is not a number of CPUs; set resources.cpus_per_rank")));
  EXPECT_THAT(DraftOfHost({{{"cpus-per-gpu", "4"}}, 1, 0}).Notes(),
              ElementsAre(HasSubstr("requests no number of GPUs")));
}

}  // namespace
}  // namespace trainyard::cli

#include "data/stages/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

Plan MakePlan(const TextDirectory& files, const PlanLimits& limits = {}) {
  const auto inputs = FindInputFiles({files.path()});
  EXPECT_TRUE(inputs.ok()) << inputs.status();
  auto plan = Plan::Make(*inputs, {{"word", 1}}, limits);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

TEST(PlanTest, DividesFilesIntoBlocks) {
  const TextDirectory files;
  files.Write("a.txt", std::string(40, 'a'));
  files.Write("b.jsonl", std::string(50, 'b'));
  files.Write("c.txt", std::string(30, 'c'));
  files.Write("d.jsonl", std::string(250, 'd'));
  files.Write("e.txt", std::string(250, 'e'));
  files.Write("f.jsonl.gz", Gzip(std::string(1000, 'f')));
  files.Write("g.txt", "");
  const Plan plan = MakePlan(files, {.block_bytes = 100});
  const int64_t gzip_bytes = plan.files()[5].input.bytes;
  EXPECT_THAT(plan.blocks(), ElementsAre(PlanBlock{0, 2, 0, 50}, PlanBlock{2, 3, 0, 30},
                                         PlanBlock{3, 4, 0, 100}, PlanBlock{3, 4, 100, 200},
                                         PlanBlock{3, 4, 200, 250}, PlanBlock{4, 5, 0, 250},
                                         PlanBlock{5, 6, 0, gzip_bytes}, PlanBlock{6, 7, 0, 0}));
  EXPECT_EQ(plan.BytesOf(plan.blocks()[0]), 90);
  EXPECT_EQ(plan.BytesOf(plan.blocks()[4]), 50);
}

TEST(PlanTest, LimitsTheFilesOfABlock) {
  const TextDirectory files;
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) files.Write(name, "x");
  const Plan plan = MakePlan(files, {.files_per_block = 2});
  EXPECT_THAT(plan.blocks(), ElementsAre(PlanBlock{0, 2, 0, 1}, PlanBlock{2, 3, 0, 1}));
}

TEST(PlanTest, TheHashNamesTheInputs) {
  const TextDirectory files;
  const std::string path = files.Write("a.txt", std::string(200'000, 'a'));
  const Plan plan = MakePlan(files);
  const auto time = std::filesystem::last_write_time(path);
  const auto write = [&](size_t at) {
    std::string text(200'000, 'a');
    text[at] = 'b';
    files.Write("a.txt", text);
    std::filesystem::last_write_time(path, time);
    return MakePlan(files).Hash();
  };
  EXPECT_NE(write(0), plan.Hash());
  EXPECT_NE(write(199'999), plan.Hash());
  files.Write("a.txt", std::string(200'000, 'a'));
  std::filesystem::last_write_time(path, time);
  EXPECT_EQ(MakePlan(files).Hash(), plan.Hash());
  EXPECT_TRUE(CheckUnchanged(plan.files()[0]).ok());
  std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
  EXPECT_NE(MakePlan(files).Hash(), plan.Hash());
  EXPECT_FALSE(CheckUnchanged(plan.files()[0]).ok());
}

TEST(PlanTest, ReadsWhatItWrote) {
  const TextDirectory files;
  files.Write("a.txt", std::string(40, 'a'));
  files.Write("b.jsonl", std::string(250, 'b'));
  files.Write("c.jsonl.gz", Gzip(std::string(1000, 'f')));
  const Plan plan = MakePlan(files, {.block_bytes = 100});
  const auto read = Plan::FromJson(plan.ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ToJson(), plan.ToJson());
  EXPECT_EQ(read->blocks(), plan.blocks());
  EXPECT_EQ(read->files()[2].input.compression, Compression::kGzip);
  EXPECT_TRUE(CheckUnchanged(read->files()[1]).ok());
}

TEST(PlanTest, RefusesDamagedTexts) {
  const TextDirectory files;
  files.Write("a.txt", "x");
  const std::string text = MakePlan(files).ToJson();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return Plan::FromJson(changed).status();
  };
  EXPECT_TRUE(Plan::FromJson(text).ok());
  EXPECT_EQ(Plan::FromJson("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with("\"version\": 2", "\"version\": 1").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with("[0,1,0,1]", "[0,2,0,1]").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with("[0,1,0,1]", "[0]").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with("a.txt", "a.bin").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with("\"head_xxh64\":\"", "\"head_xxh64\":\"x").code(), absl::StatusCode::kDataLoss);
}

TEST(PlanTest, TheHashContainsThoseOfTheRunsThatWroteTheInputs) {
  const TextDirectory files;
  files.Write("run/part-00000.jsonl", "{}");
  files.Write("run/report.json", "{}");
  const std::string run = std::string("{") + kPlanMark + "}";
  files.Write("run/plan.json", run);
  const Plan plan = MakePlan(files);
  ASSERT_EQ(plan.runs().size(), 1u);
  EXPECT_EQ(plan.runs()[0].directory, files / "run");
  files.Write("run/plan.json", run + "\n");
  const Plan later = MakePlan(files);
  EXPECT_NE(later.Hash(), plan.Hash());
  EXPECT_EQ(PlanChanges(plan.ToJson(), later.ToJson()),
            "the run in " + files / "run" + " has changed");
}

TEST(PlanTest, RelativePathsBecomeAbsolute) {
  const TextDirectory files;
  const std::string path = files.Write("a.txt", "x");
  const std::string relative =
      std::filesystem::relative(path, std::filesystem::current_path()).string();
  auto plan = Plan::Make({*InputFileNamed(relative)}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->working_directory(), std::filesystem::current_path().string());
  plan->MakePathsAbsolute();
  EXPECT_EQ(plan->files()[0].input.path, path);
}

TEST(PlanTest, DescribesChanges) {
  const TextDirectory files;
  const std::string path = files.Write("a.txt", "x");
  const std::string before = MakePlan(files).ToJson();
  EXPECT_EQ(PlanChanges(before, before), "its blocks have changed");
  EXPECT_EQ(PlanChanges("{", before), "its plan.json is damaged");
  const auto with = [&](nlohmann::ordered_json settings) {
    return Plan::Make({}, std::move(settings))->ToJson();
  };
  EXPECT_EQ(PlanChanges(with({{"a", {{"b", 1}, {"c", 2}}}}), with({{"a", {{"b", 3}}}, {"d", 4}})),
            "setting a.b was 1 and is now 3, setting a.c is now absent, setting d was null and is "
            "now 4");
  const std::string same(50, 'x');
  EXPECT_EQ(PlanChanges(with({{"a", same + "1"}}), with({{"a", same + "2" + same + same}})),
            "setting a was ..." + same.substr(30) + "1\" and is now ..." + same.substr(30) + "2" +
                same + same.substr(21) + "...");
  for (const char* name : {"b.txt", "c.txt", "d.txt", "e.txt", "f.txt"}) files.Write(name, "x");
  EXPECT_EQ(PlanChanges(before, MakePlan(files).ToJson()),
            "input " + files / "b.txt" + " is new, input " + files / "c.txt" + " is new, input " +
                files / "d.txt" + " is new, and 2 more changes");
}

}  // namespace
}  // namespace trainyard::data

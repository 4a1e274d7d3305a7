#include "proto/jobspec/rules/elastic_size.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

// With two slots per node and tp 2, each node is one data-parallel rank. The batch of 24 samples
// divides among 1, 2, 3, 4, 6, 8, 12 and 24 ranks.
constexpr char kElasticRun[] = R"(name: tiny
resources: {slots_per_node: 2, device: cpu}
layout: {tp: 2}
model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4,
        vocab_size: 256}
data: {path: /data}
train: {seq_length: 32, global_batch: 24, steps: 10, precision: fp32}
)";

// `text` is job.yaml, which extends kElasticRun.
absl::StatusOr<ResolvedSpec> ResolveElastic(const std::string& text,
                                            const std::vector<std::string>& overrides = {}) {
  const auto read = [&](const std::string& reference,
                        const std::string&) -> absl::StatusOr<JobFileText> {
    if (reference == "base") return JobFileText{"base", kElasticRun};
    return JobFileText{reference, absl::StrCat("extends: base\n", text)};
  };
  return ResolveJobFile("job.yaml", overrides, read);
}

v1::JobSpec SpecOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  auto resolved = ResolveElastic(text, overrides);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved.ok() ? resolved->spec : v1::JobSpec();
}

std::string ErrorWith(const std::string& text) {
  const auto resolved = ResolveElastic(text);
  return resolved.ok() ? "" : std::string(resolved.status().message());
}

TEST(ElasticSizeTest, ARangeSetsBothEndsAndLeavesDpOpen) {
  const auto resolved = ResolveElastic("resources: {nodes: 2..8}\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const v1::JobSpec& spec = resolved->spec;
  EXPECT_EQ(NodesText(spec), "2..8");
  EXPECT_TRUE(IsElastic(spec));
  EXPECT_FALSE(spec.layout().has_dp());
  EXPECT_EQ(resolved->origins.at(kMinNodesKey), "job.yaml:2:20");
  EXPECT_EQ(RunConfigOf(spec).layout.dp, 8) << "settings are shown for the largest number";
  EXPECT_EQ(CheckJobSpec(spec, {}), std::vector<std::string>{});
}

TEST(ElasticSizeTest, OnlySizesThatDivideTheBatchAreUsable) {
  const v1::JobSpec spec = SpecOf("resources: {nodes: 2..8}\n");
  EXPECT_EQ(LargestUsableNodes(spec, 100), 8);
  EXPECT_EQ(LargestUsableNodes(spec, 7), 6);
  EXPECT_EQ(LargestUsableNodes(spec, 5), 4);
  EXPECT_EQ(LargestUsableNodes(spec, 2), 2);
  EXPECT_EQ(LargestUsableNodes(spec, 1), 0) << "below the range";
  EXPECT_EQ(DataParallelOn(spec, 6), 6);
}

TEST(ElasticSizeTest, TheEndsOfTheRangeBecomeUsableSizes) {
  EXPECT_EQ(NodesText(SpecOf("resources: {nodes: 5..11}\n")), "6..8");
  const v1::JobSpec one = SpecOf("resources: {nodes: 7..8}\n");
  EXPECT_EQ(NodesText(one), "8");
  EXPECT_FALSE(IsElastic(one));
  EXPECT_EQ(one.layout().dp(), 8) << "one size is left, so its layout is complete";
}

TEST(ElasticSizeTest, APlainNumberReplacesTheRangeOfAnEarlierLayer) {
  EXPECT_EQ(NodesText(SpecOf("resources: {nodes: 2..8}\n", {"resources.nodes=4"})), "4");
  EXPECT_EQ(NodesText(SpecOf("resources: {nodes: 4}\n", {"resources.nodes=1..4"})), "1..4");
  EXPECT_EQ(NodesText(SpecOf("resources: {nodes: 8}\nmin_nodes: 2\n")), "2..8");
}

TEST(ElasticSizeTest, AnAutomaticLayoutAndAProgramOfOthersMayUseEverySize) {
  EXPECT_EQ(LargestUsableNodes(SpecOf("resources: {nodes: 2..8}\nlayout: auto\n"), 7), 7);
  const v1::JobSpec command =
      SpecOf("resources: {nodes: 2..8}\nlayout: {tp: 1}\ncommand: [python3, train.py]\n");
  EXPECT_TRUE(command.torchrun_env());
  EXPECT_EQ(LargestUsableNodes(command, 7), 7);
}

TEST(ElasticSizeTest, BadRangesAreRefused) {
  for (const char* nodes : {"8..2", "0..4", "2..", "..4", "a..b", "2...8", "-1..4"}) {
    EXPECT_THAT(ErrorWith(absl::StrCat("resources: {nodes: ", nodes, "}\n")),
                HasSubstr(absl::StrCat("a range such as 2..8 whose first number is at least 1 and "
                                       "not above the second, got \"",
                                       nodes, "\"")))
        << nodes;
  }
  EXPECT_THAT(ErrorWith("resources: {nodes: 2}\nmin_nodes: 8\n"),
              HasSubstr("write the range as `nodes: 2..8`"));
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..20000}\n"), HasSubstr("at most 16384"));
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..8}\nlayout: {micro_batch: 0}\n"),
              HasSubstr("`layout.micro_batch` must be at least 1"));
}

TEST(ElasticSizeTest, ARangeWithoutAUsableSizeIsRefused) {
  EXPECT_THAT(ErrorWith("resources: {nodes: 9..11}\n"),
              HasSubstr("`resources.nodes` is 9..11, but the layout and the batch fit none of "
                        "these numbers of nodes. With 11: "));
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..8}\nlayout: {dp: 4}\n"),
              HasSubstr("`layout.dp` 4 fits only one number of nodes; remove `layout.dp`"));
}

TEST(ElasticSizeTest, AProgramThatCannotReadItsNumberOfRanksIsRefused) {
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..8}\ncommand: [train]\ntorchrun_env: false\n"),
              HasSubstr("the program in `command` cannot read its number of ranks"));
}

TEST(ElasticSizeTest, SettingsMustFitTheSmallestGang) {
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..8}\nlog_parser: {kind: megatron, rank: 4}\n"),
              HasSubstr("the last rank of the job is 3"));
  EXPECT_THAT(ErrorWith("resources: {nodes: 2..8}\nrestart: {spares: 1}\n"),
              HasSubstr("a job with a range of nodes continues on fewer nodes"));
}

}  // namespace
}  // namespace trainyard

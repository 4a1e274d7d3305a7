#include "proto/jobspec/fields/auto_layout.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/jobspec/loader.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

constexpr char kRun[] = R"(name: tiny
resources: {nodes: 2, slots_per_node: 2, device: cpu}
model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4,
        vocab_size: 256}
data: {path: /data}
train: {seq_length: 32, global_batch: 2, steps: 10, precision: fp32}
)";

// `base` is a file that job.yaml extends.
absl::StatusOr<ResolvedSpec> ResolveOn(const std::string& base, const std::string& text,
                                       const std::vector<std::string>& overrides = {}) {
  const auto read = [&](const std::string& reference,
                        const std::string&) -> absl::StatusOr<JobFileText> {
    if (reference == "base") return JobFileText{"base", absl::StrCat(kRun, base)};
    return JobFileText{reference, absl::StrCat("extends: base\n", text)};
  };
  return ResolveJobFile("job.yaml", overrides, read);
}

std::string ErrorOf(const std::string& base, const std::string& text,
                    const std::vector<std::string>& overrides = {}) {
  const auto resolved = ResolveOn(base, text, overrides);
  return resolved.ok() ? "" : std::string(resolved.status().message());
}

TEST(AutoLayoutTest, TheWordReplacesTheLayoutOfAnExtendedFile) {
  const auto resolved = ResolveOn("layout: {tp: 4, sequence_parallel: false}\n", "layout: auto\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const v1::JobSpec& spec = resolved->spec;
  EXPECT_TRUE(spec.auto_layout());
  EXPECT_FALSE(spec.layout().has_tp());
  EXPECT_FALSE(spec.layout().has_dp()) << "what is chosen later has no value";
  EXPECT_FALSE(spec.layout().has_micro_batch());
  EXPECT_FALSE(spec.layout().sequence_parallel()) << "the controller does not choose it";
  EXPECT_EQ(spec.layout().cp_comm_type(), v1::CONTEXT_EXCHANGE_AUTO);
  EXPECT_FALSE(resolved->origins.contains("layout.tp"));
  EXPECT_EQ(resolved->origins.at("auto_layout"), "job.yaml:2:9");
}

TEST(AutoLayoutTest, TheCommandLineMayAskForIt) {
  const auto resolved = ResolveOn("layout: {tp: 4}\n", "", {"layout=auto"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_TRUE(resolved->spec.auto_layout());
  const auto same = ResolveOn("layout: {tp: 4}\n", "", {"auto_layout=true"});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_FALSE(same->spec.layout().has_tp());
}

TEST(AutoLayoutTest, ALayoutThatIsWrittenLaterTakesItBack) {
  const auto resolved = ResolveOn("layout: auto\n", "layout: {tp: 2, dp: 2}\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_FALSE(resolved->spec.auto_layout());
  EXPECT_EQ(resolved->spec.layout().tp(), 2);
  EXPECT_EQ(resolved->spec.layout().micro_batch(), 1);
  const auto kept = ResolveOn("layout: auto\n", "layout: {sequence_parallel: false}\n");
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE(kept->spec.auto_layout());
}

TEST(AutoLayoutTest, ContradictionsAreRefused) {
  EXPECT_THAT(ErrorOf("", "layout: auto\n", {"layout=auto", "layout.tp=2"}),
              HasSubstr("`layout.tp` is chosen by `layout: auto`"));
  EXPECT_THAT(ErrorOf("", "auto_layout: true\nlayout: {zero: 1}\n"),
              HasSubstr("`layout.zero` is chosen by `layout: auto`"));
  EXPECT_THAT(ErrorOf("", "layout: automatic\n"),
              HasSubstr("`layout` must be a mapping of keys to values, or auto"));
  EXPECT_THAT(ErrorOf("", "layout: auto\ncommand: [train]\n"),
              HasSubstr("is for trainyard-trainer"));
}

// No layout with dp 4 divides this batch. The error is reported only when the layout is chosen.
TEST(AutoLayoutTest, RulesOfTheLayoutWaitForIt) {
  EXPECT_EQ(ErrorOf("", "layout: auto\n"), "");
  EXPECT_THAT(ErrorOf("", ""), HasSubstr("must be a multiple of layout.micro_batch * dp"));
  EXPECT_THAT(ErrorOf("", "layout: auto\nresources: {nodes: 16384}\n"), HasSubstr("at most 16384"));
}

TEST(AutoLayoutTest, ALayoutBecomesItsSpec) {
  LayoutConfig layout;
  layout.tp = 2;
  layout.dp = 3;
  layout.zero = 1;
  layout.recompute = Recompute::kFull;
  layout.zero_bubble = true;
  v1::JobSpec spec;
  *spec.mutable_layout() = LayoutSpecOf(layout);
  EXPECT_EQ(RunConfigOf(spec).layout, layout);
  EXPECT_FALSE(spec.layout().has_zero_size());
  v1::GrantedLayout granted;
  granted.set_nodes(1);
  granted.set_slots_per_node(6);
  granted.set_device("cpu");
  *granted.mutable_layout() = spec.layout();
  EXPECT_EQ(GrantedText(granted),
            "{tp: 2, zero: 1, recompute: full, zero_bubble: true} on 1 node of 6 cpu");
  granted.clear_layout();
  EXPECT_EQ(GrantedText(granted), "data parallelism only on 1 node of 6 cpu");
}

TEST(AutoLayoutTest, EditorsKnowTheWord) {
  EXPECT_EQ(JobFileSchema()["properties"]["layout"]["anyOf"][1]["const"], "auto");
}

}  // namespace
}  // namespace trainyard

// Tests the parsers of Lightning, DeepSpeed, llm.c and nanochat, and factors of metrics.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "proto/parsers/log_parser.h"

namespace trainyard {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

v1::LogParserSpec SpecOf(v1::LogParserKind kind) {
  v1::LogParserSpec spec;
  spec.set_kind(kind);
  return spec;
}

class ParserOf {
 public:
  explicit ParserOf(const v1::LogParserSpec& spec) {
    absl::StatusOr<std::unique_ptr<LogParser>> parser = MakeLogParser(spec, 1);
    EXPECT_TRUE(parser.ok()) << parser.status();
    if (parser.ok()) parser_ = *std::move(parser);
  }
  explicit ParserOf(v1::LogParserKind kind) : ParserOf(SpecOf(kind)) {}

  v1::MetricsRecord Read(const std::string& line) {
    const std::optional<v1::MetricsRecord> record = parser_->Parse(line, context_);
    EXPECT_TRUE(record.has_value()) << line;
    return record.value_or(v1::MetricsRecord());
  }
  bool Ignores(const std::string& line) { return !parser_->Parse(line, context_).has_value(); }

 private:
  std::unique_ptr<LogParser> parser_;
  LineContext context_;
};

TEST(LightningParserTest, ReadsProgressBars) {
  ParserOf parser(v1::LOG_PARSER_KIND_LIGHTNING);
  const v1::MetricsRecord nemo = parser.Read(
      "\rEpoch 0: :   2%|#  | 2/100 [00:02<01:30, 1.1it/s, v_num=, reduced_train_loss=9.800, "
      "global_step=2.000, consumed_samples=512.0, train_step_timing in s=0.92]");
  EXPECT_EQ(nemo.step(), 2);
  EXPECT_THAT(nemo.values(), UnorderedElementsAre(Pair("loss", 9.8), Pair("consumed_samples", 512),
                                                  Pair("step_seconds", DoubleNear(0.92, 1e-9))));
  const v1::MetricsRecord own = parser.Read(
      "[rank0]: Epoch 3:  50%|#####     | 50/100 [00:05<00:05,  9.8it/s, v_num=3, "
      "train_loss=0.51, val_loss=0.7, lr=1e-4]");
  EXPECT_EQ(own.step(), 350);
  EXPECT_THAT(own.values(),
              UnorderedElementsAre(Pair("loss", 0.51), Pair("val_loss", 0.7), Pair("lr", 1e-4)));
  EXPECT_THAT(own.evaluation_sets(), testing::ElementsAre("val"));
  EXPECT_TRUE(parser.Ignores("Validation DataLoader 0:  50%|## | 5/10 [00:01<00:01, 5.0it/s]"));
  EXPECT_TRUE(parser.Ignores("Epoch 1:  50%|## | 5/10 [00:01<00:01, 5.0it/s]"));
  EXPECT_TRUE(parser.Ignores("Epoch 0:  50%|## | 50/10 [00:01<00:01, 5it/s, loss=1]"));
  EXPECT_TRUE(parser.Ignores("Epoch 99999999999:  50%|## | 5/10 [00:01<00:01, 5it/s, loss=1]"));
}

TEST(LightningParserTest, ReadsLinesOfNemo) {
  ParserOf parser(v1::LOG_PARSER_KIND_LIGHTNING);
  const v1::MetricsRecord record = parser.Read(
      "Training epoch 0, iteration 8/99 | lr: 0.0002 | global_batch_size: 4 | global_step: 8 | "
      "reduced_train_loss: 9.8 | train_step_timing in s: 0.9 | consumed_samples: 36");
  EXPECT_EQ(record.step(), 8);
  EXPECT_EQ(record.total_steps(), 100);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("lr", 2e-4), Pair("global_batch", 4), Pair("loss", 9.8),
                                   Pair("step_seconds", 0.9), Pair("consumed_samples", 36)));
}

TEST(DeepSpeedParserTest, ReadsTheLinesOfAStep) {
  ParserOf parser(v1::LOG_PARSER_KIND_DEEPSPEED);
  const v1::MetricsRecord rate = parser.Read(
      "[2026-01-01 10:00:01,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=1, "
      "lr=[0.0001, 0.0002], mom=[(0.9, 0.95), (0.9, 0.95)]");
  EXPECT_EQ(rate.step(), 10);
  EXPECT_THAT(rate.values(), UnorderedElementsAre(Pair("lr", 1e-4), Pair("skipped_steps", 1)));
  const v1::MetricsRecord speed = parser.Read(
      "[2026-01-01 10:00:01,124] [INFO] [timer.py:264:stop] epoch=0/micro_step=80/global_step=10, "
      "RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=12.4, MemAllocated=12.5GB, "
      "MaxMemAllocated=2.0GB");
  EXPECT_EQ(speed.step(), 10);
  EXPECT_THAT(speed.values(), UnorderedElementsAre(Pair("samples_per_second", 12.4),
                                                   Pair("memory_bytes", 2147483648.0)));
  const v1::MetricsRecord loss =
      parser.Read("steps: 10 loss: 7.8000 iter time (s): 1.234 samples/sec: 12.961");
  EXPECT_THAT(loss.values(), UnorderedElementsAre(Pair("loss", 7.8), Pair("step_seconds", 1.234),
                                                  Pair("samples_per_second", 12.961)));
  EXPECT_TRUE(parser.Ignores("[INFO] [stage3.py] steps are done"));
}

TEST(LlmCParserTest, ReadsStepsAndValidation) {
  ParserOf parser(v1::LOG_PARSER_KIND_LLM_C);
  EXPECT_TRUE(parser.Ignores("val loss 11.0")) << "no step is known yet";
  const v1::MetricsRecord record = parser.Read(
      "0: step    3/19560 | loss 10.700000 (+nanz)| norm 12.0000 (+nanz)| lr 8.57e-07 | 3056.36 ms "
      "| 42.6% bf16 MFU | 171535 tok/s");
  EXPECT_EQ(record.step(), 3);
  EXPECT_EQ(record.total_steps(), 19560);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("loss", 10.7), Pair("grad_norm", 12), Pair("lr", 8.57e-7),
                                   Pair("step_seconds", DoubleNear(3.05636, 1e-9)),
                                   Pair("mfu", DoubleNear(0.426, 1e-9)),
                                   Pair("tokens_per_second", 171535)));
  const v1::MetricsRecord validation = parser.Read("val loss 10.5");
  EXPECT_EQ(validation.step(), 3);
  EXPECT_THAT(validation.values(), UnorderedElementsAre(Pair("val_loss", 10.5)));
}

TEST(NanochatParserTest, ReadsStepsAndValidation) {
  ParserOf parser(v1::LOG_PARSER_KIND_NANOCHAT);
  const v1::MetricsRecord record = parser.Read(
      "step 00005/21400 (0.02%) | loss: 9.500000 | grad norm: 0.515 | lrm: 1.00 | dt: 480.12ms | "
      "tok/sec: 1,092,123 | mfu: 48.21 | total time: 0.50m");
  EXPECT_EQ(record.step(), 5);
  EXPECT_EQ(record.total_steps(), 21400);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("loss", 9.5), Pair("grad_norm", 0.515), Pair("lrm", 1),
                                   Pair("step_seconds", DoubleNear(0.48012, 1e-9)),
                                   Pair("tokens_per_second", 1092123),
                                   Pair("mfu", DoubleNear(0.4821, 1e-9))));
  EXPECT_EQ(parser.Read("Step 00250 | Validation bpb: 1.1234").values().at("val_bpb"), 1.1234);
  EXPECT_TRUE(parser.Ignores("saved model at step 5"));
}

TEST(LogParserScaleTest, ValuesAreMultiplied) {
  v1::LogParserSpec spec = SpecOf(v1::LOG_PARSER_KIND_REGEX);
  spec.set_pattern("it (?P<step>\\d+) loss (?P<loss>[0-9.]+) ms (?P<step_seconds>[0-9.]+)");
  spec.add_scale("step_seconds=0.001");
  spec.add_scale("absent=2");
  ParserOf parser(spec);
  EXPECT_THAT(parser.Read("it 3 loss 2.5 ms 500").values(),
              UnorderedElementsAre(Pair("loss", 2.5), Pair("step_seconds", 0.5)));
  for (const char* bad :
       {"", "loss", "=2", "loss=x", "loss=nan", "loss=inf", "loss=0", "loss=1s"}) {
    spec.set_scale(0, bad);
    EXPECT_THAT(std::string(MakeLogParser(spec, 1).status().message()),
                HasSubstr("is not of the form METRIC=FACTOR"))
        << bad;
  }
}

}  // namespace
}  // namespace trainyard

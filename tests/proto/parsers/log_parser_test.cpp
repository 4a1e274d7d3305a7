#include "proto/parsers/log_parser.h"

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/limits.h"
#include "proto/parsers/log_fields.h"

namespace trainyard {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::unique_ptr<LogParser> Make(v1::LogParserKind kind, const std::string& pattern = "",
                                int world_size = 1) {
  v1::LogParserSpec spec;
  spec.set_kind(kind);
  if (!pattern.empty()) spec.set_pattern(pattern);
  absl::StatusOr<std::unique_ptr<LogParser>> parser = MakeLogParser(spec, world_size);
  EXPECT_TRUE(parser.ok()) << parser.status();
  return parser.ok() ? *std::move(parser) : nullptr;
}

v1::MetricsRecord Parse(const LogParser& parser, const std::string& line) {
  const std::optional<v1::MetricsRecord> record = parser.Parse(line);
  EXPECT_TRUE(record.has_value()) << line;
  return record.value_or(v1::MetricsRecord());
}

TEST(LogFieldsTest, ReadsANameAndANumber) {
  const auto read = [](std::string_view text) {
    const std::optional<NamedNumber> field = ReadNamedNumber(text);
    return field.has_value() ? absl::StrCat(std::string(field->name), "=", field->value) : "";
  };
  EXPECT_EQ(read(" lm loss: 3.5E+00 "), " lm loss=3.5");
  EXPECT_EQ(read("time (ms):12"), "time (ms)=12");
  EXPECT_EQ(read("samples 1,234"), "samples=1234");
  EXPECT_EQ(read("a: b: .5"), " b=0.5");
  EXPECT_EQ(read("x: -INF"), "x=-inf");
  for (const char* text : {"", "3", ": 3", "a : 3", "a:: 3", "a: 3 MB", "a: 1.2.3", "a: 0x1f",
                           "a: .5e3", "a: infinity", "a: +", "a: e5"}) {
    EXPECT_EQ(read(text), "") << text;
  }
}

TEST(MegatronParserTest, ReadsIterationLines) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON);
  const v1::MetricsRecord record = Parse(
      *parser,
      " [2025-05-01 12:00:00] iteration      100/  500000 | consumed samples:         6400 | "
      "elapsed "
      "time per iteration (ms): 123.4 | throughput per GPU (TFLOP/s/GPU): 410.2 | learning rate: "
      "1.000000E-04 | global batch size:    64 | lm loss: 6.512345E+00 | loss scale: 1.0 | grad "
      "norm: "
      "1.234 | number of skipped iterations:   0 | number of nan iterations:   1 |");
  EXPECT_EQ(record.step(), 100);
  EXPECT_EQ(record.total_steps(), 500000);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(
                  Pair("consumed_samples", 6400), Pair("step_seconds", DoubleNear(0.1234, 1e-12)),
                  Pair("tflops", 410.2), Pair("lr", 1e-4), Pair("global_batch", 64),
                  Pair("loss", 6.512345), Pair("loss_scale", 1), Pair("grad_norm", 1.234),
                  Pair("number_of_skipped_iterations", 0), Pair("number_of_nan_iterations", 1)));
}

// The launcher of ranks 4 to 7 prints the lines of all of them.
TEST(LogParserTest, LabelsOfALauncherSelectTheLinesOfOneRank) {
  const auto parser = Make(v1::LOG_PARSER_KIND_NANOGPT);
  const std::string line = "iter 5: loss 4.0, time 10.0ms";
  EXPECT_TRUE(parser->Parse("[default1]:" + line).has_value()) << "all ranks are read";
  parser->ReadOnlyRank(/*rank=*/6, /*first_rank=*/4);
  for (const char* label : {"", "[default2]:", "[rank6]: ", "[titan] ", "2: "}) {
    EXPECT_TRUE(parser->Parse(label + line).has_value()) << label;
  }
  for (const char* label : {"[default6]:", "[default0]:", "[rank2]: ", "[rank7]: "}) {
    EXPECT_FALSE(parser->Parse(label + line).has_value()) << label;
  }
}

TEST(MegatronParserTest, AMissingLossIsNotFiniteIfTheLineCountsNans) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON);
  const auto values = [&](const std::string& nan_iterations) {
    return Parse(*parser,
                 " iteration     5426/  250000 | consumed samples:        43408 | elapsed time per "
                 "iteration (ms): 4241.9 | learning rate: 2.999E-04 | global batch size:     8 | "
                 "loss scale: 1.0 | grad norm: nan | number of skipped iterations:   0 | number of "
                 "nan iterations:   " +
                     nan_iterations + " | samples per second: 1.886 | TFLOPs: 78.46 |")
        .values();
  };
  EXPECT_TRUE(std::isnan(values("1").at("loss")));
  EXPECT_TRUE(std::isnan(values("1").at("grad_norm")));
  EXPECT_FALSE(values("0").contains("loss")) << "a step that dynamic loss scaling skipped";
}

TEST(MegatronParserTest, ReadsOlderAndForkedLines) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON, "", 8);
  // GPT-NeoX.
  v1::MetricsRecord record =
      Parse(*parser,
            " samples/sec: 12.500 | iteration       10/  320000 | elapsed time per iteration (ms): "
            "500.0 | learning rate: 1.000E-05 | approx flops per GPU: 12.3TFLOPS | lm_loss: "
            "1.05E+01 | number of skipped iterations:   0 |");
  EXPECT_EQ(record.step(), 10);
  EXPECT_THAT(
      record.values(),
      UnorderedElementsAre(Pair("samples/sec", 12.5), Pair("step_seconds", 0.5), Pair("lr", 1e-5),
                           Pair("loss", 10.5), Pair("number_of_skipped_iterations", 0)));
  // Early versions of Megatron-LM write no colons.
  record = Parse(*parser,
                 "[rank7]: iteration       20/    1000 | elapsed time per iteration (ms): 250.0 | "
                 "learning rate 1.500E-04 | lm loss 3.25E+00 | loss scale 65536.0 |");
  EXPECT_EQ(record.step(), 20);
  EXPECT_THAT(record.values(), UnorderedElementsAre(Pair("step_seconds", 0.25), Pair("lr", 1.5e-4),
                                                    Pair("loss", 3.25), Pair("loss_scale", 65536)));
  // The log contains the throughput per device. The parser multiplies it by the number of devices.
  record = Parse(*parser, " iteration 1/ 2 | throughput (token/sec/GPU): 1000.5 | lm loss: nan |");
  EXPECT_EQ(record.values().at("tokens_per_second"), 8004);
  EXPECT_TRUE(std::isnan(record.values().at("loss")));
}

TEST(MegatronParserTest, ReadsValidation) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON);
  v1::MetricsRecord record = Parse(*parser,
                                   " validation loss at iteration 1000 | lm loss value: "
                                   "3.250000E+00 | lm loss PPL: 2.579034E+01 | ");
  EXPECT_EQ(record.step(), 1000);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("val_loss", 3.25), Pair("val_ppl", 25.79034)));
  record = Parse(*parser,
                 " validation loss at iteration 1000 on test set | lm loss value: 3.5E+00 | lm "
                 "loss PPL: 3.3E+01 | ");
  EXPECT_THAT(record.values(), UnorderedElementsAre(Pair("test_loss", 3.5), Pair("test_ppl", 33)));
  EXPECT_THAT(record.evaluation_sets(), UnorderedElementsAre("test"));
}

TEST(MegatronParserTest, LeavesOtherLinesAlone) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON);
  for (const char* line :
       {"", "training ...", "saving checkpoint at iteration     500 to /c", "| a | b: 1 |",
        "  successfully saved checkpoint from iteration     500 to /c [ t 1/8, p 1/1 ]",
        " iteration 99999999999999999999/ 5 | lm loss: 1 |", " iteration 5/ 10 |",
        "reiteration 5/ 10 | lm loss: 1 |"}) {
    EXPECT_FALSE(parser->Parse(line).has_value()) << line;
  }
}

TEST(TorchtitanParserTest, ReadsColoredLines) {
  const auto parser = Make(v1::LOG_PARSER_KIND_TORCHTITAN, "", 8);
  const v1::MetricsRecord record = Parse(
      *parser,
      "[rank0]:[titan] 2025-05-01 00:00:00,123 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss: "
      " 7.1234  \x1b[38;2;180;60;0mgrad_norm:  1.2500  \x1b[36mmemory:  1.50GiB(3.00%)  "
      "\x1b[34mtps: 1,234  \x1b[36mtflops: 12.34  \x1b[35mmfu: 4.50%\x1b[39m");
  EXPECT_EQ(record.step(), 10);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("loss", 7.1234), Pair("grad_norm", 1.25),
                                   Pair("memory_bytes", 1.5 * (1 << 30)),
                                   Pair("tokens_per_second", 8 * 1234), Pair("tflops", 12.34),
                                   Pair("mfu", DoubleNear(0.045, 1e-12))));
}

TEST(TorchtitanParserTest, ReadsPlainAndValidationLines) {
  const auto parser = Make(v1::LOG_PARSER_KIND_TORCHTITAN);
  EXPECT_THAT(
      Parse(*parser, "step:  1  loss: nan  memory:  0.50GiB(1.00%)").values(),
      UnorderedElementsAre(Pair("loss", testing::IsNan()), Pair("memory_bytes", 0.5 * (1 << 30))));
  const v1::MetricsRecord record =
      Parse(*parser,
            "[titan] - INFO - validate step: 20  loss:  6.5000  memory:  1.50GiB(3.00%)  tps: 9");
  EXPECT_EQ(record.step(), 20);
  EXPECT_THAT(record.values(), UnorderedElementsAre(Pair("val_loss", 6.5)));
  for (const char* line : {"", "Training starts at step 1.", "Saving the checkpoint at step 10.",
                           "step: x  loss: 1", "step: 5  ", "laststep: 5  loss: 1"}) {
    EXPECT_FALSE(parser->Parse(line).has_value()) << line;
  }
}

TEST(TorchtitanParserTest, ALossOfMinusOneIsNone) {
  const auto parser = Make(v1::LOG_PARSER_KIND_TORCHTITAN);
  EXPECT_THAT(Parse(*parser, "step: 10  loss: -1.0000  grad_norm: -1.0000  tps: 9").values(),
              UnorderedElementsAre(Pair("grad_norm", -1), Pair("tokens_per_second", 9)));
  EXPECT_FALSE(parser->Parse("validate step: 10  loss: -1.0000  tps: 9").has_value());
  EXPECT_THAT(Parse(*parser, "step: 10  loss: -0.9999 ").values(),
              UnorderedElementsAre(Pair("loss", -0.9999)));
}

// Every parser understands the prefixes of launchers and loggers.
TEST(LogParserTest, PrefixesAreUnderstood) {
  const std::pair<v1::LogParserKind, const char*> lines[] = {
      {v1::LOG_PARSER_KIND_NANOGPT, "iter 5: loss 3.8, time 10.0ms, mfu 1.0%"},
      {v1::LOG_PARSER_KIND_MEGATRON, "iteration 5/ 100 | lm loss: 3.8 | grad norm: 1.1 |"},
      {v1::LOG_PARSER_KIND_TORCHTITAN, "step:  5  loss:  3.8  memory:  0.50GiB(1.00%)"}};
  for (const auto& [kind, line] : lines) {
    const auto parser = Make(kind);
    for (const char* prefix :
         {"", "[rank0]: ", "[rank0]:", "0: ", "31:  ", "[default7]: ", "[default7]:",
          "2026-01-01 10:00:00 ", "[titan] 2026-02-24 19:46:01,508 - root - INFO - ",
          "\x1b]0;training on node-1\x07", "\x1b[36m",
          "node-1: ", "[1,0]<stdout>:", "\x1b[1m[rank0]:\x1b[0m 2026-01-01 10:00:00,123 INFO: "}) {
      const v1::MetricsRecord record = Parse(*parser, std::string(prefix) + line);
      EXPECT_EQ(record.step(), 5) << prefix;
      EXPECT_EQ(record.values().at("loss"), 3.8) << prefix;
    }
  }
  const auto regex = Make(v1::LOG_PARSER_KIND_REGEX, "^at (?P<step>\\d+) (?P<loss>[0-9.]+)$");
  EXPECT_EQ(Parse(*regex, "[rank0]: at 5 3.8").values().at("loss"), 3.8);
  EXPECT_FALSE(regex->Parse("[rank0]: not at 5 3.8").has_value());
}

TEST(LogParserTest, ReadsTheRankThatIsAskedFor) {
  v1::LogParserSpec spec;
  spec.set_kind(v1::LOG_PARSER_KIND_MEGATRON);
  EXPECT_EQ(ParsedRank(spec, 8), 0) << "an attempt of an older controller";
  spec.set_rank(-1);
  EXPECT_EQ(ParsedRank(spec, 8), 7);
  EXPECT_EQ(ParsedRank(spec, 1), 0);
  spec.set_rank(3);
  EXPECT_EQ(ParsedRank(spec, 8), 3);
}

TEST(NanogptParserTest, ReadsIterationsAndEvaluations) {
  const auto parser = Make(v1::LOG_PARSER_KIND_NANOGPT);
  v1::MetricsRecord record = Parse(*parser, "iter 100: loss 3.1234, time 45.50ms, mfu 12.50%");
  EXPECT_EQ(record.step(), 100);
  EXPECT_THAT(record.values(), UnorderedElementsAre(Pair("loss", 3.1234),
                                                    Pair("step_seconds", DoubleNear(0.0455, 1e-12)),
                                                    Pair("mfu", 0.125)));
  EXPECT_THAT(Parse(*parser, "iter 0: loss 10.9, time 9000.00ms, mfu -100.00%").values(),
              UnorderedElementsAre(Pair("loss", 10.9), Pair("step_seconds", 9)));
  record = Parse(*parser, "step 250: train loss 3.1000, val loss 3.2000");
  EXPECT_EQ(record.step(), 250);
  EXPECT_THAT(record.values(),
              UnorderedElementsAre(Pair("train_loss", 3.1), Pair("val_loss", 3.2)));
  // The parser ignores text that a progress bar has overwritten.
  EXPECT_EQ(Parse(*parser, "50%|###\riter 7: loss 2.5, time 1.00ms, mfu 0.10%").step(), 7);
  EXPECT_TRUE(parser->Parse("\xff\riter 7: loss 2.5, \xff").has_value());
  for (const char* line : {"", "iter 100:", "iter x: loss 1", "saving checkpoint to out"}) {
    EXPECT_FALSE(parser->Parse(line).has_value()) << line;
  }
}

TEST(RegexParserTest, NamedGroupsAreMetrics) {
  const auto parser =
      Make(v1::LOG_PARSER_KIND_REGEX,
           R"(step=(?P<step>\d+)(/(?P<total_steps>\d+))? loss=(?P<loss>\S+)( acc=(?P<acc>\S+))?)");
  v1::MetricsRecord record = Parse(*parser, "12:00 step=5/300 loss=1,234.5 acc=0.5");
  EXPECT_EQ(record.step(), 5);
  EXPECT_EQ(record.total_steps(), 300);
  EXPECT_THAT(record.values(), UnorderedElementsAre(Pair("loss", 1234.5), Pair("acc", 0.5)));
  record = Parse(*parser, "step=6 loss=nan acc=high");
  EXPECT_EQ(record.values_size(), 1);
  EXPECT_FALSE(parser->Parse("step=6 loss=high").has_value());
  EXPECT_FALSE(parser->Parse("step=99999999999999999999 loss=1").has_value());
  EXPECT_TRUE(parser->Parse("\xff\xfe step=6 loss=1").has_value());
  EXPECT_FALSE(parser->Parse("no step").has_value());
}

TEST(RegexParserTest, BadPatternsAreRefusedWithTheCause) {
  const std::pair<std::string, std::string> patterns[] = {
      {"(?P<step>\\d+", "missing )"},
      {"loss=(?P<loss>.*)", "no group named `step`"},
      {"(?P<step>\\d+)", "no named group besides `step`"},
      {"(?P<step>\\d+) (?P<total_steps>\\d+)", "no named group besides `step`"},
      {"", "no group named `step`"},
      {"(?P<step>\\d+)(?P<a>((x{1000}){1000}){1000})", "log_parser.pattern"},
      {std::string(5000, 'x'), "longer than"}};
  for (const auto& [pattern, cause] : patterns) {
    v1::LogParserSpec spec;
    spec.set_kind(v1::LOG_PARSER_KIND_REGEX);
    spec.set_pattern(pattern);
    const absl::Status status = MakeLogParser(spec, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pattern;
    EXPECT_THAT(std::string(status.message()), HasSubstr(cause));
  }
  EXPECT_EQ(MakeLogParser(v1::LogParserSpec(), 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Any output must result in a record that fits into a message, or in no record, and never in a
// crash.
TEST(LogParserTest, SurvivesAnyOutput) {
  const std::unique_ptr<LogParser> parsers[] = {
      Make(v1::LOG_PARSER_KIND_MEGATRON),
      Make(v1::LOG_PARSER_KIND_TORCHTITAN),
      Make(v1::LOG_PARSER_KIND_NANOGPT),
      Make(v1::LOG_PARSER_KIND_HUGGING_FACE),
      Make(v1::LOG_PARSER_KIND_OLMO),
      Make(v1::LOG_PARSER_KIND_REGEX, R"(step\W*(?P<step>\d+).*loss\W*(?P<loss>\S+))")};
  const std::string words[] = {"step: ",
                               "iteration ",
                               "5/ 10 |",
                               "lm loss: ",
                               "loss ",
                               "iter 5:",
                               "1.5e3",
                               "|",
                               "\x1b[31m",
                               "\r",
                               "\xff",
                               "99999999999",
                               "mfu -",
                               "é",
                               "validate ",
                               "NaN",
                               "iter 5: loss 1.5",
                               "loss: 1 |",
                               "5%|# | 5/10 [0<1, 2it/s]",
                               "{'loss': 2, 'epoch': 1}",
                               "[step=5/10,epoch=0]",
                               "train/CE loss=2",
                               ",",
                               std::string(1, '\0')};
  std::mt19937 random(5);
  int parsed = 0;
  LineContext context;
  for (int round = 0; round < 20000; ++round) {
    std::string line;
    for (unsigned i = random() % 12; i > 0; --i) line += words[random() % std::size(words)];
    const std::optional<v1::MetricsRecord> record =
        parsers[random() % std::size(parsers)]->Parse(line, context);
    if (!record.has_value()) continue;
    ++parsed;
    std::string wire;
    v1::MetricsRecord back;
    ASSERT_TRUE(record->SerializeToString(&wire));
    ASSERT_TRUE(back.ParseFromString(wire)) << line;
    ASSERT_GE(record->step(), 0) << line;
  }
  EXPECT_GT(parsed, 200);
}

TEST(LogParserTest, NumberOfMetricsIsBounded) {
  const auto parser = Make(v1::LOG_PARSER_KIND_MEGATRON);
  std::string line = " iteration 1/ 2 |";
  for (int i = 0; i < 2000; ++i) line += " m" + std::to_string(i) + ": 1 |";
  EXPECT_EQ(Parse(*parser, line).values_size(), kMaxTelemetryKeys);
}

}  // namespace
}  // namespace trainyard

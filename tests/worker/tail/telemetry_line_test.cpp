#include "worker/tail/telemetry_line.h"

#include <cmath>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

v1::TelemetryRecord Parse(const std::string& line) {
  const absl::StatusOr<v1::TelemetryRecord> record = ParseTelemetryLine(line);
  EXPECT_TRUE(record.ok()) << line << ": " << record.status();
  return record.value_or(v1::TelemetryRecord());
}

TEST(TelemetryLineTest, ReadsMetrics) {
  const v1::TelemetryRecord record =
      Parse(R"({"type":"metrics","time_ms":1700000000123,"step":5,"total_steps":300,"loss":3.25,)"
            R"("grad_norm":1.5,"lr":3e-4,"tokens":81920,"my/own metric":-7})");
  EXPECT_EQ(record.time_ms(), 1700000000123);
  EXPECT_EQ(record.metrics().step(), 5);
  EXPECT_EQ(record.metrics().total_steps(), 300);
  EXPECT_THAT(record.metrics().values(),
              UnorderedElementsAre(Pair("loss", 3.25), Pair("grad_norm", 1.5), Pair("lr", 3e-4),
                                   Pair("tokens", 81920), Pair("my/own metric", -7)));
}

TEST(TelemetryLineTest, PassesOverWhatIsNoNumber) {
  const v1::TelemetryRecord record =
      Parse(R"({"step":2.0,"type":"metrics","host":"a","ok":true,"none":null,"list":[1,[2]],)"
            R"("map":{"loss":9,"step":9},"loss":1,"":5,"a\u0007b":6,"big":18446744073709551615})");
  EXPECT_EQ(record.time_ms(), 0);
  EXPECT_EQ(record.metrics().step(), 2);
  EXPECT_THAT(record.metrics().values(),
              UnorderedElementsAre(Pair("loss", 1), Pair("big", 18446744073709551615.0)));
}

TEST(TelemetryLineTest, AcceptsPythonsSpecialNumbers) {
  const auto values =
      Parse(R"({"type":"metrics","step":1,"loss":NaN,"a":Infinity,"b": -Infinity ,"NaN":-1,)"
            R"("text":"NaN \" Infinity \\","c":NaN})")
          .metrics()
          .values();
  EXPECT_EQ(values.size(), 5);
  EXPECT_TRUE(std::isnan(values.at("loss")));
  EXPECT_TRUE(std::isnan(values.at("c")));
  EXPECT_EQ(values.at("a"), INFINITY);
  EXPECT_EQ(values.at("b"), -INFINITY);
  EXPECT_EQ(values.at("NaN"), -1);
}

TEST(TelemetryLineTest, ReadsTheSamplesOfStepsAndAlerts) {
  const v1::MetricsRecord metrics =
      Parse(R"({"type":"metrics","step":7,"loss":2,"samples":"96:128"})").metrics();
  EXPECT_EQ(metrics.samples().begin(), 96);
  EXPECT_EQ(metrics.samples().end(), 128);
  EXPECT_EQ(metrics.values_size(), 1);
  EXPECT_EQ(Parse(R"({"type":"alert","code":"nan_loss","samples":"1:9"})").alert().samples().end(),
            9);
  for (const char* bad : {R"("9:9")", R"("a:b")", R"("5")", R"("-4:5")", R"("1:2:3")", "7"}) {
    const std::string line = std::string(R"({"type":"metrics","step":7,"samples":)") + bad + "}";
    EXPECT_FALSE(Parse(line).metrics().has_samples()) << bad;
  }
}

TEST(TelemetryLineTest, ReadsTheOtherTypes) {
  const v1::PhaseRecord phase =
      Parse(R"({"type":"phase","time_ms":1,"phase":"train","step":5})").phase();
  EXPECT_EQ(phase.phase(), "train");
  EXPECT_EQ(phase.step(), 5);
  EXPECT_EQ(Parse(R"({"type":"phase","phase":"init"})").phase().step(), 0);

  const v1::CheckpointRecord saved =
      Parse(R"({"type":"checkpoint","step":100,"path":"/c/step_000000100","bytes":123,)"
            R"("blocking_seconds":0.25,"total_seconds":1.5})")
          .checkpoint();
  EXPECT_EQ(saved.step(), 100);
  EXPECT_EQ(saved.path(), "/c/step_000000100");
  EXPECT_EQ(saved.bytes(), 123);
  EXPECT_EQ(saved.blocking_seconds(), 0.25);
  EXPECT_EQ(saved.total_seconds(), 1.5);
  EXPECT_FALSE(saved.deleted());
  EXPECT_EQ(saved.metric(), "");
  const v1::CheckpointRecord judged =
      Parse(R"({"type":"checkpoint","step":1,"path":"/c","metric":"val_loss","metric_value":2.5})")
          .checkpoint();
  EXPECT_EQ(judged.metric(), "val_loss");
  EXPECT_EQ(judged.metric_value(), 2.5);
  const v1::CheckpointRecord deleted =
      Parse(R"({"type":"checkpoint","step":50,"deleted":true,"attempt":2})").checkpoint();
  EXPECT_TRUE(deleted.deleted());
  EXPECT_EQ(deleted.attempt(), 2);
  const char* former = R"({"type":"checkpoint","step":50,"deleted":true,"epoch":3})";
  EXPECT_EQ(Parse(former).checkpoint().attempt(), 3) << "as earlier versions wrote it";
  const char* both = R"({"type":"checkpoint","step":50,"deleted":true,"epoch":3,"attempt":4})";
  EXPECT_EQ(Parse(both).checkpoint().attempt(), 4);

  const v1::EvaluationRecord evaluation =
      Parse(R"({"type":"eval","step":100,"data_set":"val","loss":4.5,"tokens":8192})").evaluation();
  EXPECT_EQ(evaluation.data_set(), "val");
  EXPECT_EQ(evaluation.loss(), 4.5);
  EXPECT_EQ(evaluation.tokens(), 8192);

  const v1::AlertRecord alert =
      Parse(R"({"type":"alert","step":7,"code":"nan_loss","message":"loss is NaN"})").alert();
  EXPECT_EQ(alert.code(), "nan_loss");
  EXPECT_EQ(alert.message(), "loss is NaN");
  EXPECT_FALSE(alert.has_samples());
  EXPECT_EQ(alert.step(), 7);

  const v1::FlightRecord flight =
      Parse(R"({"type":"flight","group":"tp4","ranks":"4-7","sequence":9,"operation":"all-reduce",)"
            R"("bytes":64,"queued_ms":1700000000000,"entered_ms":1700000000001})")
          .flight();
  EXPECT_EQ(flight.group(), "tp4");
  EXPECT_EQ(flight.ranks(), "4-7");
  EXPECT_EQ(flight.sequence(), 9);
  EXPECT_EQ(flight.operation(), "all-reduce");
  EXPECT_EQ(flight.bytes(), 64);
  EXPECT_EQ(flight.queued_ms(), 1700000000000);
  EXPECT_EQ(flight.entered_ms(), 1700000000001);
}

TEST(TelemetryLineTest, ReadsThePartsOfAStep) {
  const v1::RankRecord rank =
      Parse(R"({"type":"rank","step":3,"compute_seconds":1,"input_wait_seconds":2,)"
            R"("tp_wait_seconds":3,"cp_wait_seconds":4,"pp_wait_seconds":5,"dp_wait_seconds":6,)"
            R"("world_wait_seconds":7,"optimizer_seconds":8,"checkpoint_wait_seconds":9,)"
            R"("ep_wait_seconds":10})")
          .rank();
  const v1::StepTime& time = rank.step_time();
  EXPECT_EQ(time.compute(), 1);
  EXPECT_EQ(time.input_wait(), 2);
  EXPECT_EQ(time.tp_wait(), 3);
  EXPECT_EQ(time.cp_wait(), 4);
  EXPECT_EQ(time.pp_wait(), 5);
  EXPECT_EQ(time.dp_wait(), 6);
  EXPECT_EQ(time.world_wait(), 7);
  EXPECT_EQ(time.optimizer(), 8);
  EXPECT_EQ(time.checkpoint_wait(), 9);
  EXPECT_EQ(time.ep_wait(), 10);
  EXPECT_EQ(Parse(R"({"type":"rank","step":3,"generation":2})").rank().generation(), 2);
  EXPECT_FALSE(Parse(R"({"type":"rank","step":3})").rank().has_step_time());
}

struct BadLine {
  const char* line;
  const char* cause;
};

TEST(TelemetryLineTest, RefusesBadLinesWithTheCause) {
  const BadLine lines[] = {
      {"", "not JSON"},
      {"{\"type\":\"metrics\"", "not JSON"},
      {"{\"type\":\"metrics\",\"step\":1}garbage", "not JSON"},
      {"{\"type\":\"metrics\",\"step\":1,\"x\":\"\xff\"}", "not JSON"},
      {"{\"type\":\"metrics\",\"step\":1,\"x\":NaNa}", "not JSON"},
      {"[1]", "not a JSON object"},
      {"5", "not a JSON object"},
      {"null", "not a JSON object"},
      {"NaN", "not a JSON object"},
      {"{}", "`type`"},
      {R"({"type":5})", "`type`"},
      {R"({"type":"weather","step":1})", "one of metrics, phase"},
      {R"({"type":"metrics","loss":1})", "`step`"},
      {R"({"type":"metrics","step":-1})", "`step`"},
      {R"({"type":"metrics","step":1.5})", "`step`"},
      {R"({"type":"metrics","step":"5"})", "`step`"},
      {R"({"type":"metrics","step":1e300})", "`step`"},
      {R"({"type":"metrics","step":NaN})", "`step`"},
      {R"({"type":"metrics","step":1,"loss":1e999})", "out of range"},
      {R"({"type":"metrics","step":1,"time_ms":"now"})", "`time_ms`"},
      {R"({"type":"phase","phase":"lunch"})", "one of init, load"},
      {R"({"type":"phase"})", "`phase`"},
      {R"({"type":"checkpoint","step":1})", "`path`"},
      {R"({"type":"checkpoint","step":1,"path":"/c","deleted":1})", "`deleted`"},
      {R"({"type":"checkpoint","step":1,"path":"/c","bytes":-5})", "`bytes`"},
      {R"({"type":"checkpoint","step":1,"path":"/c","metric":"loss"})", "`metric_value`"},
      {R"({"type":"eval","step":1,"loss":1})", "`data_set`"},
      {R"({"type":"eval","step":1,"data_set":"val"})", "`loss`"},
      {R"({"type":"eval","step":1,"data_set":"v\nl","loss":1})", "`data_set`"},
      {R"({"type":"alert","message":"m"})", "`code`"},
      {R"({"type":"flight","ranks":"0-1","sequence":1})", "`group`"},
      {R"({"type":"flight","group":"a","ranks":"one","sequence":1})", "`ranks`"},
      {R"({"type":"flight","group":"a","ranks":"0-1"})", "`sequence`"},
  };
  for (const BadLine& bad : lines) {
    const absl::Status status = ParseTelemetryLine(bad.line).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.line;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.cause)) << bad.line;
  }
}

std::string WithKeys(std::size_t keys) {
  std::string line = R"({"type":"metrics","step":1)";
  for (std::size_t i = 2; i < keys; ++i) line += ",\"k" + std::to_string(i) + "\":1";
  return line + "}";
}

std::string Nested(int depth) {
  std::string line = R"({"type":"metrics","step":1,"x":)";
  for (int i = 1; i < depth; ++i) line += "[";
  for (int i = 1; i < depth; ++i) line += "]";
  return line + "}";
}

TEST(TelemetryLineTest, HoldsItsLimits) {
  EXPECT_EQ(Parse(WithKeys(kMaxTelemetryKeys)).metrics().values_size(), 254);
  EXPECT_THAT(std::string(ParseTelemetryLine(WithKeys(kMaxTelemetryKeys + 1)).status().message()),
              HasSubstr("more than 256 keys"));
  const std::string name(kMaxTelemetryKeyBytes, 'k');
  EXPECT_EQ(Parse("{\"type\":\"metrics\",\"step\":1,\"" + name + "\":1}").metrics().values_size(),
            1);
  EXPECT_FALSE(ParseTelemetryLine("{\"type\":\"metrics\",\"step\":1,\"" + name + "k\":1}").ok());
  EXPECT_TRUE(ParseTelemetryLine(Nested(kMaxTelemetryDepth)).ok());
  EXPECT_THAT(std::string(ParseTelemetryLine(Nested(kMaxTelemetryDepth + 1)).status().message()),
              HasSubstr("nested more than"));
  EXPECT_FALSE(ParseTelemetryLine(std::string(60000, '[')).ok());
  std::string text = "€";
  text.append(2 * kMaxTelemetryTextBytes, 'm');
  EXPECT_EQ(Parse("{\"type\":\"alert\",\"code\":\"c\",\"message\":\"" + text + "\"}")
                .alert()
                .message()
                .size(),
            kMaxTelemetryTextBytes);
}

// Arbitrary bytes and damaged lines must result in a value or an error, never in a crash. Accepted
// records must be valid.
TEST(TelemetryLineTest, SurvivesDamagedLines) {
  const std::string good[] = {
      R"({"type":"metrics","time_ms":1,"step":5,"total_steps":300,"loss":NaN,"a":{"b":[1,2]}})",
      R"({"type":"phase","time_ms":1,"phase":"train","step":5})",
      R"({"type":"checkpoint","step":100,"path":"/c","bytes":123,"deleted":true,"attempt":2})",
      R"({"type":"eval","step":100,"data_set":"val","loss":-Infinity,"tokens":8192})",
      R"({"type":"alert","step":7,"code":"nan_loss","message":"\u20ac \"x\""})"};
  const std::string bytes = "{}[]\",:\\0123456789eE+-.NaInfity \x80\xff\x01";
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string line = good[random() % 5];
    for (unsigned damage = random() % 4; damage > 0 && !line.empty(); --damage) {
      const std::size_t at = random() % line.size();
      switch (random() % 3) {
        case 0:
          line[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          line.erase(at, random() % 5);
          break;
        default:
          line.insert(at, 1, bytes[random() % bytes.size()]);
      }
    }
    const absl::StatusOr<v1::TelemetryRecord> record = ParseTelemetryLine(line);
    if (!record.ok()) continue;
    ++accepted;
    std::string wire;
    v1::TelemetryRecord back;
    ASSERT_TRUE(record->SerializeToString(&wire)) << line;
    ASSERT_TRUE(back.ParseFromString(wire)) << line;
    ASSERT_NE(record->kind_case(), v1::TelemetryRecord::KIND_NOT_SET) << line;
    ASSERT_GE(record->metrics().step(), 0) << line;
  }
  EXPECT_GT(accepted, 5000);
}

TEST(TelemetryLineTest, TimesOfAnyNumberAreTaken) {
  const auto time_of = [](const std::string& time) {
    const auto record =
        ParseTelemetryLine(R"({"type":"metrics","step":1,"loss":2,"time_ms":)" + time + "}");
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? record->time_ms() : -1;
  };
  EXPECT_EQ(time_of("1700000000123"), 1700000000123);
  EXPECT_EQ(time_of("1700000000123.75"), 1700000000123) << "Python's time.time() * 1000";
  EXPECT_EQ(time_of("1700000000"), 1700000000000) << "seconds";
  EXPECT_EQ(time_of("1700000000.5"), 1700000000500) << "seconds";
  for (const char* time : {"\"2026-01-01T00:00:00Z\"", "true", "-1", "NaN", "Infinity", "1e300"}) {
    const auto record = ParseTelemetryLine(
        std::string(R"({"type":"metrics","step":1,"loss":2,"time_ms":)") + time + "}");
    EXPECT_FALSE(record.ok()) << time;
  }
}

}  // namespace
}  // namespace trainyard::worker

#include "controller/rpc/worker_message_check.h"

#include <gtest/gtest.h>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

absl::StatusCode HelloCode(const std::function<void(v1::Hello&)>& change) {
  v1::Hello hello = TestHello("a", 1);
  change(hello);
  return CheckHello(hello).code();
}

absl::StatusCode MessageCode(const std::function<void(v1::WorkerMessage&)>& fill) {
  v1::WorkerMessage message;
  fill(message);
  return CheckLaterMessage(message).code();
}

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(CheckHelloTest, BoundsEveryText) {
  EXPECT_EQ(HelloCode([](v1::Hello&) {}), kOk);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.clear_node_id(); }), kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.set_node_id(std::string(129, 'a')); }),
            kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.set_node_id("a\nb"); }), kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.clear_incarnation(); }), kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.clear_address(); }), kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.set_node_name("a b"); }), kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) { hello.set_worker_version(std::string(256, '1')); }),
            kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) {
              hello.mutable_inventory()->add_slots()->set_model(std::string(256, 'x'));
            }),
            kInvalid);
  EXPECT_EQ(HelloCode([](v1::Hello& hello) {
              for (int i = 0; i < 2000; ++i) hello.mutable_inventory()->add_slots();
            }),
            kInvalid);
}

TEST(CheckHelloTest, SaysWhatToDoAboutAnotherVersion) {
  v1::Hello hello = TestHello("a", 1);
  hello.set_protocol_version(7);
  const absl::Status status = CheckHello(hello);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("same Trainyard release"), std::string::npos);
}

TEST(CheckLaterMessageTest, RefusesWhatCannotBe) {
  EXPECT_EQ(MessageCode([](v1::WorkerMessage&) {}), kInvalid);
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) { message.mutable_hello(); }), kInvalid);
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) { message.mutable_heartbeat(); }), kOk);
  EXPECT_EQ(
      MessageCode([](v1::WorkerMessage& message) { *message.mutable_fact() = StartedFact(1); }),
      kInvalid);
  EXPECT_EQ(
      MessageCode([](v1::WorkerMessage& message) { message.mutable_fact()->set_sequence(1); }),
      kInvalid);
}

TEST(CheckLaterMessageTest, BoundsReadingsOfDevices) {
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) {
              message.mutable_heartbeat()->add_devices()->set_uuid("GPU-1");
            }),
            kOk);
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) {
              message.mutable_heartbeat()->add_devices()->set_uuid(std::string(256, 'a'));
            }),
            kInvalid);
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) {
              message.mutable_heartbeat()->add_devices()->set_error(std::string(1025, 'a'));
            }),
            kInvalid);
  EXPECT_EQ(MessageCode([](v1::WorkerMessage& message) {
              for (int i = 0; i < 1025; ++i) message.mutable_heartbeat()->add_devices();
            }),
            kInvalid);
}

TEST(CheckLaterMessageTest, BoundsStreams) {
  const auto telemetry = [](const v1::StreamId& stream, int64_t begin, int64_t end) {
    return MessageCode([&](v1::WorkerMessage& message) {
      *message.mutable_telemetry()->mutable_stream() = stream;
      message.mutable_telemetry()->set_begin_offset(begin);
      message.mutable_telemetry()->set_end_offset(end);
    });
  };
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY), 0, 10), kOk);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_PARSED_LOG), 0, 10), kOk);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_LOG), 0, 10), kInvalid);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY), 10, 9), kInvalid);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY), -1, 9), kInvalid);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY), 0, INT64_MAX), kInvalid);
  EXPECT_EQ(telemetry(Stream(0, v1::STREAM_KIND_TELEMETRY), 0, 1), kInvalid);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY, -1), 0, 1), kInvalid);
  EXPECT_EQ(telemetry(Stream(1, v1::STREAM_KIND_TELEMETRY, 0, 0), 0, 1), kInvalid);
}

TEST(CheckLaterMessageTest, RefusesExpertsOfOtherSizes) {
  const auto code = [](const std::function<void(v1::ExpertsRecord&)>& change) {
    return MessageCode([&](v1::WorkerMessage& message) {
      *message.mutable_telemetry()->mutable_stream() = Stream(1, v1::STREAM_KIND_TELEMETRY);
      v1::ExpertsRecord& record = *message.mutable_telemetry()->add_records()->mutable_experts();
      record.set_step(1);
      record.set_experts(2);
      record.set_topk(1);
      record.add_balance(1);
      record.set_load("ab");
      change(record);
    });
  };
  EXPECT_EQ(code([](v1::ExpertsRecord&) {}), kOk);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.clear_load(); }), kOk);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.set_load("abc"); }), kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.clear_balance(); }), kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) {
              record.add_entropy(1);
              record.add_entropy(1);
            }),
            kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.set_topk(3); }), kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.set_experts(0); }), kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.set_first_layer(-1); }), kInvalid);
  EXPECT_EQ(code([](v1::ExpertsRecord& record) { record.set_step(-1); }), kInvalid);
}

TEST(CheckLaterMessageTest, BoundsDataReports) {
  const auto code = [](int64_t number, int part, int parts, std::size_t bytes) {
    return MessageCode([&](v1::WorkerMessage& message) {
      *message.mutable_telemetry()->mutable_stream() = Stream(1, v1::STREAM_KIND_TELEMETRY);
      v1::DataReportRecord& record =
          *message.mutable_telemetry()->add_records()->mutable_data_report();
      record.set_number(number);
      record.set_part(part);
      record.set_parts(parts);
      record.set_text(std::string(bytes, 'x'));
    });
  };
  EXPECT_EQ(code(1, 1, 1, 0), kOk);
  EXPECT_EQ(code(1, 35, 35, 30 << 10), kOk);
  EXPECT_EQ(code(1, 1, 1, (30 << 10) + 1), kInvalid);
  EXPECT_EQ(code(1, 36, 36, 0), kInvalid);
  EXPECT_EQ(code(1, 3, 2, 0), kInvalid);
  EXPECT_EQ(code(1, 0, 2, 0), kInvalid);
  EXPECT_EQ(code(0, 1, 1, 0), kInvalid);
  EXPECT_EQ(code(int64_t{1} << 60, 1, 1, 0), kInvalid);
}

TEST(CheckLaterMessageTest, BoundsOutput) {
  const auto output = [](v1::StreamKind kind, std::size_t bytes) {
    return MessageCode([&](v1::WorkerMessage& message) {
      *message.mutable_log()->mutable_stream() = Stream(1, kind);
      message.mutable_log()->set_data(std::string(bytes, 'x'));
    });
  };
  EXPECT_EQ(output(v1::STREAM_KIND_LOG, 1000), kOk);
  EXPECT_EQ(output(v1::STREAM_KIND_TELEMETRY, 1000), kInvalid);
  EXPECT_EQ(output(v1::STREAM_KIND_LOG, (4 << 20) + 1), kInvalid);
}

}  // namespace
}  // namespace trainyard::controller

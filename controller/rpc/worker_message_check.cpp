#include "controller/rpc/worker_message_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/core/support/expert_shape.h"
#include "controller/rpc/worker_link.h"
#include "proto/contract/data_report.h"
#include "proto/contract/expert_load.h"
#include "proto/contract/limits.h"
#include "proto/contract/protocol_version.h"
#include "proto/files/directory_nonce.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxAttempts = 10'000;
constexpr int kMaxChecks = 64;
constexpr std::size_t kMaxCheckBytes = 1024;
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxLogChunkBytes = 4 << 20;
// This exceeds the size of any file, but is small enough that sums of offsets do not overflow.
constexpr int64_t kMaxOffset = int64_t{1} << 60;

absl::Status CheckSize(const char* what, const std::string& text,
                       std::size_t max_bytes = kMaxHostBytes) {
  if (text.size() <= max_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Hello: ", what, " is longer than ", max_bytes, " bytes"));
}

absl::Status CheckText(const char* what, const std::string& text, std::size_t max_bytes) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat("Hello without ", what));
  TRAINYARD_RETURN_IF_ERROR(CheckSize(what, text, max_bytes));
  for (const char c : text) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Hello: ", what, " may contain only printable ASCII characters other than spaces"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStream(const v1::StreamId& stream, int64_t begin, int64_t end) {
  if (stream.job_id() <= 0 || stream.attempt() <= 0 || stream.rank() < 0 ||
      stream.rank() >= kMaxRanks) {
    return absl::InvalidArgumentError(
        absl::StrCat("stream of an invalid rank: ", stream.ShortDebugString()));
  }
  if (begin < 0 || end < begin || end > kMaxOffset) {
    return absl::InvalidArgumentError(absl::StrCat("invalid byte range [", begin, ", ", end,
                                                   ") of stream ", stream.ShortDebugString()));
  }
  return absl::OkStatus();
}

// Returns the larger of the record's step and its total number of steps, or 0 if it has neither.
int64_t LargestStepOf(const v1::TelemetryRecord& record) {
  switch (record.kind_case()) {
    case v1::TelemetryRecord::kMetrics:
      return std::max(record.metrics().step(), record.metrics().total_steps());
    case v1::TelemetryRecord::kPhase:
      return record.phase().step();
    case v1::TelemetryRecord::kCheckpoint:
      return record.checkpoint().step();
    case v1::TelemetryRecord::kEvaluation:
      return record.evaluation().step();
    case v1::TelemetryRecord::kAlert:
      return record.alert().step();
    case v1::TelemetryRecord::kRank:
      return record.rank().step();
    case v1::TelemetryRecord::kExperts:
      return record.experts().step();
    case v1::TelemetryRecord::kDataReport:
      return record.data_report().number();
    default:
      return 0;
  }
}

// Workers of older releases send records with invalid steps. Workers of this release drop such
// records themselves.
absl::Status CheckSteps(const v1::TelemetryBatch& batch) {
  for (const v1::TelemetryRecord& record : batch.records()) {
    const int64_t step = LargestStepOf(record);
    if (step >= 0 && step <= kMaxStep) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("telemetry of step ", step, "; at most ", kMaxStep, " is accepted"));
  }
  return absl::OkStatus();
}

// Returns true if each repeated field has a value per layer, and the loads are complete.
bool HasSoundSizes(const v1::ExpertsRecord& record) {
  const ExpertShape shape = ExpertShapeOf(record);
  const auto fits = [&](int size) { return size == 0 || size == shape.layers; };
  const std::size_t loads = record.load().size();
  return IsAllowed(shape) && fits(record.aux_loss_size()) && fits(record.entropy_size()) &&
         fits(record.dropped_size()) && (loads == 0 || HasAllLoads(shape, loads));
}

absl::Status CheckExperts(const v1::TelemetryBatch& batch) {
  for (const v1::TelemetryRecord& record : batch.records()) {
    if (!record.has_experts() || HasSoundSizes(record.experts())) continue;
    return absl::InvalidArgumentError(
        "telemetry of experts with fields that do not fit its number of layers and experts");
  }
  return absl::OkStatus();
}

absl::Status CheckDataReports(const v1::TelemetryBatch& batch) {
  for (const v1::TelemetryRecord& record : batch.records()) {
    if (!record.has_data_report()) continue;
    const v1::DataReportRecord& report = record.data_report();
    const bool is_sound =
        report.number() >= 1 && report.part() >= 1 && report.part() <= report.parts() &&
        report.parts() <= kMaxDataReportParts && report.text().size() <= kMaxDataReportPartBytes;
    if (is_sound) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "part ", report.part(), " of ", report.parts(), " of data report ", report.number(),
        " with ", report.text().size(), " bytes; at most ", kMaxDataReportParts, " parts of ",
        kMaxDataReportPartBytes, " bytes are accepted"));
  }
  return absl::OkStatus();
}

absl::Status CheckTelemetry(const v1::TelemetryBatch& batch) {
  const v1::StreamKind kind = batch.stream().kind();
  if (kind != v1::STREAM_KIND_TELEMETRY && kind != v1::STREAM_KIND_PARSED_LOG) {
    return absl::InvalidArgumentError("telemetry for a stream that is not a telemetry stream");
  }
  TRAINYARD_RETURN_IF_ERROR(CheckSteps(batch));
  TRAINYARD_RETURN_IF_ERROR(CheckExperts(batch));
  TRAINYARD_RETURN_IF_ERROR(CheckDataReports(batch));
  return CheckStream(batch.stream(), batch.begin_offset(), batch.end_offset());
}

absl::Status CheckLog(const v1::LogChunk& chunk) {
  if (chunk.stream().kind() != v1::STREAM_KIND_LOG) {
    return absl::InvalidArgumentError("output for a stream that is not a log");
  }
  if (chunk.data().size() > kMaxLogChunkBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("log chunk of more than ", kMaxLogChunkBytes, " bytes"));
  }
  return CheckStream(chunk.stream(), chunk.begin_offset(), chunk.begin_offset());
}

absl::Status CheckReports(const google::protobuf::RepeatedPtrField<v1::AttemptReport>& reports) {
  if (reports.size() <= kMaxAttempts) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("report of more than ", kMaxAttempts, " attempts"));
}

absl::Status CheckChecks(const v1::Heartbeat& heartbeat) {
  const bool sound = heartbeat.checks_size() <= kMaxChecks &&
                     std::ranges::all_of(heartbeat.checks(), [](const v1::NodeCheck& check) {
                       return check.name().size() <= kMaxIdBytes &&
                              check.found().size() <= kMaxCheckBytes &&
                              check.advice().size() <= kMaxCheckBytes;
                     });
  if (sound) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxChecks, " checks of the node, ",
                                                 "or a check of more than ", kMaxCheckBytes,
                                                 " bytes"));
}

absl::Status CheckDevices(const v1::Heartbeat& heartbeat) {
  const bool sound =
      heartbeat.devices_size() <= kMaxSlotsOfNode &&
      std::ranges::all_of(heartbeat.devices(), [](const v1::DeviceReading& reading) {
        return reading.uuid().size() <= kMaxHostBytes && reading.error().size() <= kMaxCheckBytes;
      });
  if (sound) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("more than ", kMaxSlotsOfNode,
                   " device readings, or a reading with a text that is too long"));
}

absl::Status CheckRoot(const v1::CheckpointRoot& root) {
  const bool sound = root.path().size() <= kMaxPathBytes &&
                     root.problem().size() <= kMaxCheckBytes &&
                     (root.nonce().empty() || IsNonce(root.nonce()));
  if (sound) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a report of the checkpoint root has a text that is too long, or a malformed nonce");
}

}  // namespace

absl::Status CheckHello(const v1::Hello& hello) {
  if (hello.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the worker speaks protocol version ", hello.protocol_version(),
                     ", but this controller speaks version ", kProtocolVersion,
                     "; install the same Trainyard release on both"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckText("node_id", hello.node_id(), kMaxIdBytes));
  TRAINYARD_RETURN_IF_ERROR(CheckText("node_name", hello.node_name(), kMaxHostBytes));
  TRAINYARD_RETURN_IF_ERROR(CheckText("incarnation", hello.incarnation(), kMaxIdBytes));
  TRAINYARD_RETURN_IF_ERROR(CheckText("address", hello.address(), kMaxHostBytes));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("worker_version", hello.worker_version()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("node_secret", hello.node_secret()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("nonce", hello.nonce()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("challenge", hello.challenge()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("node_key", hello.node_key()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("signature", hello.signature()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("secret_proof", hello.secret_proof()));
  TRAINYARD_RETURN_IF_ERROR(CheckSize("place", hello.place()));
  if (hello.inventory().slots_size() > kMaxSlotsOfNode) {
    return absl::InvalidArgumentError(
        absl::StrCat("inventory of more than ", kMaxSlotsOfNode, " slots"));
  }
  for (const v1::Slot& slot : hello.inventory().slots()) {
    TRAINYARD_RETURN_IF_ERROR(CheckSize("a slot's model", slot.model()));
    TRAINYARD_RETURN_IF_ERROR(CheckSize("a slot's uuid", slot.uuid()));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckRoot(hello.checkpoint_root()));
  return CheckReports(hello.attempts());
}

absl::Status CheckLaterMessage(const v1::WorkerMessage& message) {
  switch (message.kind_case()) {
    case v1::WorkerMessage::kHeartbeat:
      TRAINYARD_RETURN_IF_ERROR(CheckChecks(message.heartbeat()));
      TRAINYARD_RETURN_IF_ERROR(CheckDevices(message.heartbeat()));
      TRAINYARD_RETURN_IF_ERROR(CheckRoot(message.heartbeat().checkpoint_root()));
      return CheckReports(message.heartbeat().attempts());
    case v1::WorkerMessage::kFact:
      if (message.fact().sequence() == 0 || message.fact().kind_case() == v1::Fact::KIND_NOT_SET) {
        return absl::InvalidArgumentError("fact without number or content");
      }
      return absl::OkStatus();
    case v1::WorkerMessage::kTelemetry:
      return CheckTelemetry(message.telemetry());
    case v1::WorkerMessage::kLog:
      return CheckLog(message.log());
    case v1::WorkerMessage::kHello:
      return absl::InvalidArgumentError("a second Hello on one stream");
    case v1::WorkerMessage::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a message of a kind that this controller does not know");
}

}  // namespace trainyard::controller

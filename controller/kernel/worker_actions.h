// Results of the rules for attached workers. The shell carries them out in their order.
#ifndef TRAINYARD_CONTROLLER_KERNEL_WORKER_ACTIONS_H_
#define TRAINYARD_CONTROLLER_KERNEL_WORKER_ACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/requests/requests.h"
#include "controller/core/support/attempt_key.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Number of a worker's stream. The shell assigns it; no number is used twice.
using LinkId = int64_t;

// Lives as long as a message is being handled; bounds how much is read from workers.
using Permit = std::shared_ptr<void>;

// Bytes of each stream that are stored.
using StreamOffsets = std::map<StreamKey, int64_t>;

// Records of the archive by job; nothing for a job that the archive does not have. A job whose
// record could not be read is left out.
using ArchivedJobs = std::map<int64_t, std::optional<v1::ArchivedJob>>;

// A worker's stream as its transport sees it.
struct LinkState {
  // Queued messages: those that wait to be read by the worker, and those read so far.
  std::size_t waiting = 0;
  uint64_t taken = 0;
  // The controller does not read from the stream because too much of what it has read waits to be
  // stored.
  bool reading_paused = false;
};
using LinkStates = std::function<LinkState(LinkId link)>;

// The event log as its marks describe it (store/event_log.h).
struct LogMarks {
  // True when the log has the mark's event.
  std::function<bool(const v1::LogMark& mark)> covers;
  // Mark of the last durable event, without a job number.
  std::function<v1::LogMark()> newest;
};

// The part of the rules that waits for the answer to a request.
struct RequestTag {
  enum class Kind { kAttach, kFact, kRecord, kReport, kLostEvents };
  Kind kind = Kind::kAttach;
  LinkId link = 0;      // kAttach, kFact.
  uint64_t number = 0;  // kRecord: number of the record.
};

struct SendMessage {
  LinkId link = 0;
  v1::ControllerMessage message;
};
// Ends the stream. `at_once`: the worker may never read again, so that nothing may wait for it.
struct EndLink {
  LinkId link = 0;
  absl::Status status;
  bool at_once = false;
};
// The answer goes to WorkerKernel::Answered once the request's events are committed.
struct SubmitRequest {
  Request request;
  RequestTag tag;
  // Held until the answer.
  Permit permit;
};
// The offsets go to WorkerKernel::OffsetsRead once everything given to the store before is stored,
// together with the alerts of `attempts` that are in the event log, and the records of
// `archived_jobs`.
struct ReadOffsets {
  LinkId link = 0;
  std::vector<StreamKey> streams;
  std::vector<AttemptKey> attempts;
  std::set<int64_t> archived_jobs;
};
// The result of each goes to WorkerKernel::Stored.
struct StoreTelemetry {
  LinkId link = 0;
  v1::TelemetryBatch batch;
  Permit permit;
};
struct StoreOutput {
  LinkId link = 0;
  v1::LogChunk chunk;
  Permit permit;
};
// Something changed that the next tick acts on: it comes now instead of at the next interval.
struct ScheduleTick {};
// A line for the controller's own log.
struct WriteLog {
  enum class Level { kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string text;
};

using WorkerAction = std::variant<SendMessage, EndLink, SubmitRequest, ReadOffsets, StoreTelemetry,
                                  StoreOutput, ScheduleTick, WriteLog>;
using WorkerActions = std::vector<WorkerAction>;

inline WriteLog Info(std::string text) { return {WriteLog::Level::kInfo, std::move(text)}; }
inline WriteLog Warning(std::string text) { return {WriteLog::Level::kWarning, std::move(text)}; }
inline WriteLog Error(std::string text) { return {WriteLog::Level::kError, std::move(text)}; }

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_WORKER_ACTIONS_H_

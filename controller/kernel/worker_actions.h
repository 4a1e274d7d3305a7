// Actions returned by the rules for attached workers. The caller carries them out in order.
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
#include "controller/core/support/stream_key.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/snapshot.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Number of a worker's stream. Assigned by the caller and never reused.
using LinkId = int64_t;

// Held while a message is being handled. Bounds the amount of data read from workers.
using Permit = std::shared_ptr<void>;

// Number of stored bytes per stream.
using StreamOffsets = std::map<StreamKey, int64_t>;

// Records of the archive by job; nullopt for a job that is not in the archive. Jobs with an
// unreadable record are omitted.
using ArchivedJobs = std::map<int64_t, std::optional<v1::ArchivedJob>>;

// State of a worker's stream, as seen by its transport.
struct LinkState {
  // Messages still queued for the worker, and the number it has read so far.
  std::size_t waiting = 0;
  uint64_t taken = 0;
  // The controller has stopped reading from the stream, because too much received data waits to be
  // stored.
  bool reading_paused = false;
};
using LinkStates = std::function<LinkState(LinkId link)>;

// Access to the marks of the event log (store/events/event_log.h).
struct LogMarks {
  // True if the log has the mark's event.
  std::function<bool(const v1::LogMark& mark)> covers;
  // Mark of the last durable event, without a job id.
  std::function<v1::LogMark()> newest;
};

// Identifies the part of the rules that waits for the answer to a request.
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
// Ends the stream. With `at_once`, queued messages are dropped, because the worker may never read
// again.
struct EndLink {
  LinkId link = 0;
  absl::Status status;
  bool at_once = false;
};
// The answer is passed to WorkerKernel::Answered once the request's events are committed.
struct SubmitRequest {
  Request request;
  RequestTag tag;
  // Kept until the answer.
  Permit permit;
};
// The results are passed to WorkerKernel::OffsetsRead once everything added to the store before is
// stored: the offsets, the logged alerts of `attempts`, and the records of `archived_jobs`.
struct ReadOffsets {
  LinkId link = 0;
  std::vector<StreamKey> streams;
  std::vector<AttemptKey> attempts;
  std::set<int64_t> archived_jobs;
};
// The result is passed to WorkerKernel::Stored.
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
// Requests a tick now instead of at the next interval.
struct ScheduleTick {};
// A line for the controller's log.
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

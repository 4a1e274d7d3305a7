// Actions that the rules for attached workers return. The caller performs the actions in order.
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

// Identifies a worker's stream. The caller assigns the numbers and never reuses a number.
using LinkId = int64_t;

// Held while a message is being handled. Limits the amount of data read from workers at the same
// time.
using Permit = std::shared_ptr<void>;

// The number of stored bytes per stream.
using StreamOffsets = std::map<StreamKey, int64_t>;

// The archive record of each job. nullopt for a job that is not in the archive. Omits jobs whose
// record cannot be read.
using ArchivedJobs = std::map<int64_t, std::optional<v1::ArchivedJob>>;

// The state of a worker's stream, as seen by its transport.
struct LinkState {
  // The number of messages queued for the worker, and the number of messages that it has read so
  // far.
  std::size_t waiting = 0;
  uint64_t taken = 0;
  // True if the controller has stopped reading from the stream, because too much received data is
  // waiting to be stored.
  bool reading_paused = false;
};
using LinkStates = std::function<LinkState(LinkId link)>;

// Access to the marks of the event log (store/events/event_log.h).
struct LogMarks {
  // Returns true if the log contains the mark's event.
  std::function<bool(const v1::LogMark& mark)> covers;
  // Returns the mark of the last durable event, without a job id.
  std::function<v1::LogMark()> newest;
};

// Identifies which part of the rules waits for the answer to a request.
struct RequestTag {
  enum class Kind { kAttach, kFact, kRecord, kReport, kLostEvents };
  Kind kind = Kind::kAttach;
  LinkId link = 0;      // For kAttach and kFact.
  uint64_t number = 0;  // For kRecord: the number of the record.
};

struct SendMessage {
  LinkId link = 0;
  v1::ControllerMessage message;
};
// Ends the stream. `at_once` drops the queued messages. `at_once` is set for a slow consumer, which
// would not read queued messages.
struct EndLink {
  LinkId link = 0;
  absl::Status status;
  bool at_once = false;
};
// Submits a request. The caller must pass the answer to WorkerKernel::Answered after the request's
// events are committed.
struct SubmitRequest {
  Request request;
  RequestTag tag;
  // Must be kept until the request is answered.
  Permit permit;
};
// Reads the stored offsets of `streams`, the logged alerts of `attempts`, and the records of
// `archived_jobs`. The caller must pass the results to WorkerKernel::OffsetsRead after everything
// that was added to the store before is stored.
struct ReadOffsets {
  LinkId link = 0;
  std::vector<StreamKey> streams;
  std::vector<AttemptKey> attempts;
  std::set<int64_t> archived_jobs;
};
// Stores telemetry. The caller must pass the result to WorkerKernel::Stored.
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
// A worker was refused because it has seen a leader of a higher term. Either another controller
// leads by now, or an older copy has replaced the database. Carrying this out must not block.
struct HigherTermSeen {
  int64_t term = 0;
};
// Makes the next tick run now instead of at the next interval.
struct ScheduleTick {};
// Writes a line to the controller's log.
struct WriteLog {
  enum class Level { kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string text;
};

using WorkerAction = std::variant<SendMessage, EndLink, SubmitRequest, ReadOffsets, StoreTelemetry,
                                  StoreOutput, HigherTermSeen, ScheduleTick, WriteLog>;
using WorkerActions = std::vector<WorkerAction>;

inline WriteLog Info(std::string text) { return {WriteLog::Level::kInfo, std::move(text)}; }
inline WriteLog Warning(std::string text) { return {WriteLog::Level::kWarning, std::move(text)}; }
inline WriteLog Error(std::string text) { return {WriteLog::Level::kError, std::move(text)}; }

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_WORKER_ACTIONS_H_

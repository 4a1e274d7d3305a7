#include "controller/rpc/log_service.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "controller/api/jobs/named_job.h"
#include "controller/api/records/log_pages.h"
#include "controller/rpc/log_followers.h"
#include "controller/rpc/unary.h"
#include "proto/support/grpc_status.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

using LogReactor = grpc::ServerWriteReactor<v1::ReadLogsResponse>;

absl::StatusOr<LogQuery> ToQuery(const v1::ReadLogsRequest& request, const v1::Job& job) {
  TRAINYARD_ASSIGN_OR_RETURN(LogQuery query,
                             ToLogQuery(job, {request.ranks().begin(), request.ranks().end()},
                                        request.attempt(), request.grep()));
  SetLineConditions(request, query);
  query.tail = request.tail();
  query.new_only = request.new_only();
  return query;
}

// One reader. A reader is always in one of three states: idle, waiting for the pool to read one
// chunk, or writing one chunk to the client. A slow consumer therefore uses the memory of one chunk
// and no thread.
class LogReading final : public std::enable_shared_from_this<LogReading> {
 public:
  LogReading(const Api& api, LogReactor* reactor) : api_(api), reactor_(reactor) {}

  // Call on the loop thread.
  void Begin(const absl::StatusOr<const JobEntry*>& entry, const v1::ReadLogsRequest& request,
             const ClusterView& view, LogFollowers& followers) {
    const absl::Status status = entry.ok() ? Resolve((*entry)->job, request) : entry.status();
    if (!status.ok()) {
      End(status);
      return;
    }
    if (request.follow()) Follow(followers);
    OnTick(view);
    Wake();
  }

  // Wakes the reader, which then looks for new output.
  void Wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    if (!busy_ && reactor_ != nullptr) QueueRead();
  }

  void OnWritten(bool ok) {
    if (!ok) {
      End(absl::CancelledError("the client disconnected"));
      return;
    }
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr) return;
    QueueRead();
  }

  void End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    EndLocked(status);
  }

 private:
  absl::Status Resolve(const v1::Job& job, const v1::ReadLogsRequest& request) {
    TRAINYARD_ASSIGN_OR_RETURN(query_, ToQuery(request, job));
    query_.abandoned = &abandoned_;
    follow_ = request.follow();
    return absl::OkStatus();
  }

  void Follow(LogFollowers& followers) {
    following_ = followers.Add(query_.job_id, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Wake();
    });
    api_.loop.Listen([weak = weak_from_this()](const ClusterView& view, const TickSummary&) {
      const auto self = weak.lock();
      return self != nullptr && self->OnTick(view);
    });
  }

  // Returns true to be called again at the next tick. Called on the loop thread.
  bool OnTick(const ClusterView& view) {
    // A job that is not in the state was archived or deleted. Such a job has ended, and its nodes
    // will send no further output.
    const JobEntry* entry = FindEntry(view.state, query_.job_id);
    const bool ended = entry == nullptr || HasEnded(entry->job.state());
    const bool complete =
        ended && (!follow_ || entry == nullptr || api_.output_complete(*entry, view));
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr) return false;
    if (api_.shutdown.raised()) {
      EndLocked(ShutdownSignal::Status());
      return false;
    }
    if (complete && !complete_) {
      complete_ = true;
      woken_ = true;
      if (!busy_) QueueRead();
    }
    return true;
  }

  // Requires mutex_.
  void QueueRead() {
    busy_ = true;
    PoolFor(api_, query_).Post([self = shared_from_this()] { self->ReadChunk(); });
  }

  // Called on a reader thread. While busy_ is set, other threads do not access query_, cursor_ and
  // message_.
  void ReadChunk() {
    bool complete = false;
    {
      const std::lock_guard lock(mutex_);
      if (reactor_ == nullptr) return;
      complete = complete_;
      woken_ = false;
    }
    // Assign a new message: a cleared message would keep the memory of its largest lines.
    message_ = {};
    const absl::Status status =
        api_.logs.Read(query_, complete, cursor_, [this](std::vector<v1::LogLine> lines) {
          for (v1::LogLine& line : lines) *message_.add_lines() = std::move(line);
          return false;
        });
    // The cursor is already past the lines that tail or new_only skips.
    query_.tail = 0;
    query_.new_only = false;
    Send(status, complete);
  }

  void Send(const absl::Status& status, bool complete) {
    const std::lock_guard lock(mutex_);
    if (reactor_ == nullptr) return;
    if (!status.ok()) {
      EndLocked(status);
    } else if (message_.lines_size() > 0) {
      reactor_->StartWrite(&message_);
    } else if (!follow_ || complete) {
      EndLocked(absl::OkStatus());
    } else if (woken_) {
      QueueRead();
    } else {
      busy_ = false;
    }
  }

  // Requires mutex_.
  void EndLocked(const absl::Status& status) {
    if (reactor_ == nullptr) return;
    abandoned_ = true;
    std::exchange(reactor_, nullptr)->Finish(ToGrpc(status));
  }

  const Api& api_;
  LogQuery query_;
  bool follow_ = false;
  LogCursor cursor_;
  // Set when the client has disconnected or has received its answer, so that a search in a large
  // log ends soon.
  std::atomic<bool> abandoned_ = false;
  std::shared_ptr<LogFollowers::Callback> following_;

  std::mutex mutex_;
  // mutex_ guards this and all members below, except message_, which only the thread that set busy_
  // may use.
  LogReactor* reactor_;
  bool busy_ = false;
  bool woken_ = false;
  bool complete_ = false;
  v1::ReadLogsResponse message_;
};

class LogStream final : public LogReactor {
 public:
  LogStream(const Api& api, const v1::ReadLogsRequest& request,
            std::shared_ptr<LogFollowers> followers)
      : reading_(std::make_shared<LogReading>(api, this)) {
    ReadJob(api, request.job(),
            [reading = reading_, request, followers = std::move(followers)](
                const absl::StatusOr<const JobEntry*>& entry, const ClusterView& view) {
              reading->Begin(entry, request, view, *followers);
            });
  }

  void OnWriteDone(bool ok) override { reading_->OnWritten(ok); }
  void OnCancel() override { reading_->End(absl::CancelledError("the client disconnected")); }
  void OnDone() override { delete this; }

 private:
  // Owns the message being written, which gRPC needs until it calls OnDone.
  const std::shared_ptr<LogReading> reading_;
};

}  // namespace

LogService::LogService(const Api& api) : api_(api), followers_(std::make_shared<LogFollowers>()) {}

LogService::~LogService() = default;

LogReactor* LogService::ReadLogs(grpc::CallbackServerContext* /*context*/,
                                 const v1::ReadLogsRequest* request) {
  return new LogStream(api_, *request, followers_);
}

grpc::ServerUnaryReactor* LogService::ReadLogPage(grpc::CallbackServerContext* context,
                                                  const v1::ReadLogPageRequest* request,
                                                  v1::ReadLogPageResponse* response) {
  return Answer({api_, context}, response, handlers::ReadLogPage, *request);
}

void LogService::NotifyStored(int64_t job_id) { followers_->Notify(job_id); }

}  // namespace trainyard::controller

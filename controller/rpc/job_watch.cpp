#include "controller/rpc/job_watch.h"

#include <memory>
#include <optional>
#include <utility>

#include "controller/api/jobs/job_view.h"
#include "controller/api/jobs/named_job.h"
#include "controller/core/support/wait.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/support/grpc_status.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kProgressIntervalMs = 1000;
// The maximum time that the stream of an ended job waits for the ranks' final output.
constexpr int64_t kFinalOutputMs = 2000;

// Serializes maps in a fixed order, so that equal messages have equal bytes.
std::string StableBytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

class JobWatch final : public grpc::ServerWriteReactor<v1::WatchJobResponse> {
 public:
  // The state of the stream. Used only on the loop thread once the watch has begun. The state may
  // outlive the reactor, because scheduled ticks refer to it.
  struct Shared {
    JobWatch* reactor = nullptr;
    const Api* api = nullptr;
    int64_t job_id = 0;
    // The job, if it was archived before the stream began.
    std::optional<JobEntry> archived;
    bool writing = false;
    // True if the job's state has changed since the last message, which includes its end.
    bool changed = true;
    Timestamp sent_ms = 0;
    std::string sent;
    bool sent_end = false;
    v1::WatchJobResponse message;
  };

  JobWatch(const Api& api, std::string reference)
      : loop_(api.loop), shared_(std::make_shared<Shared>()) {
    shared_->reactor = this;
    shared_->api = &api;
    ReadJob(api, reference,
            [shared = shared_](const absl::StatusOr<const JobEntry*>& entry,
                               const ClusterView& view) { Begin(shared, entry, view); });
  }

  void OnWriteDone(bool ok) override {
    loop_.Read([shared = shared_, ok](const ClusterView& view) {
      shared->writing = false;
      if (!ok) {
        End(*shared, absl::CancelledError("the client disconnected"));
      } else {
        Update(*shared, view);
      }
    });
  }

  void OnCancel() override {
    loop_.Read([shared = shared_](const ClusterView&) {
      End(*shared, absl::CancelledError("the client disconnected"));
    });
  }

  void OnDone() override { delete this; }

 private:
  static void Begin(const std::shared_ptr<Shared>& shared,
                    const absl::StatusOr<const JobEntry*>& entry, const ClusterView& view) {
    if (!entry.ok()) {
      End(*shared, entry.status());
      return;
    }
    shared->job_id = (*entry)->job.id();
    if (FindEntry(view.state, shared->job_id) == nullptr) shared->archived = **entry;
    shared->api->loop.Listen([shared](const ClusterView& now, const TickSummary& summary) {
      if (summary.changed_jobs.contains(shared->job_id)) shared->changed = true;
      Update(*shared, now);
      return shared->reactor != nullptr;
    });
    Update(*shared, view);
  }

  static void End(Shared& shared, const absl::Status& status) {
    if (shared.reactor == nullptr) return;
    std::exchange(shared.reactor, nullptr)->Finish(ToGrpc(status));
  }

  // Returns nullptr for a job that was archived or deleted after the stream began. Only ended jobs
  // can be.
  static const JobEntry* EntryOf(const Shared& shared, const ClusterView& view) {
    return shared.archived.has_value() ? &*shared.archived : FindEntry(view.state, shared.job_id);
  }

  static void Update(Shared& shared, const ClusterView& view) {
    if (shared.reactor == nullptr || shared.writing) return;
    if (EntryOf(shared, view) == nullptr) return End(shared, absl::OkStatus());
    if (shared.sent_end && HasFinalOutput(shared, view)) {
      // Send the progress again, because final output may have advanced it since the message about
      // the job's end.
      SendIfNew(shared, view);
      if (!shared.writing) End(shared, absl::OkStatus());
    } else if (shared.api->shutdown.raised()) {
      End(shared, shared.sent_end ? absl::OkStatus() : ShutdownSignal::Status());
    } else if (shared.changed ||
               HasPassed(shared.sent_ms, shared.sent_ms + kProgressIntervalMs, view.now)) {
      SendIfNew(shared, view);
    }
  }

  static bool HasFinalOutput(const Shared& shared, const ClusterView& view) {
    const JobEntry& entry = *EntryOf(shared, view);
    const Timestamp ended_ms = entry.job.ended_time_ms();
    return HasPassed(ended_ms, ended_ms + kFinalOutputMs + 1, view.now) ||
           shared.api->output_complete(entry, view);
  }

  static void SendIfNew(Shared& shared, const ClusterView& view) {
    *shared.message.mutable_job() = FullJob(*EntryOf(shared, view), view);
    shared.changed = false;
    shared.sent_ms = view.now;
    std::string bytes = StableBytes(shared.message);
    if (bytes == shared.sent) return;
    shared.sent = std::move(bytes);
    shared.sent_end = HasEnded(shared.message.job().state());
    shared.writing = true;
    shared.reactor->StartWrite(&shared.message);
  }

  ClusterLoop& loop_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

grpc::ServerWriteReactor<v1::WatchJobResponse>* NewJobWatch(const Api& api,
                                                            std::string job_reference) {
  return new JobWatch(api, std::move(job_reference));
}

}  // namespace trainyard::controller

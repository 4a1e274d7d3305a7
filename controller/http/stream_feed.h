// Messages to open dashboards: each tick's changes, encoded once and sent to every stream that
// wants them.
#ifndef TRAINYARD_CONTROLLER_HTTP_STREAM_FEED_H_
#define TRAINYARD_CONTROLLER_HTTP_STREAM_FEED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/api.h"
#include "controller/http/exchange.h"
#include "trainyard/v1/stream.pb.h"

namespace trainyard::controller::http {

using Topics = std::set<std::string, std::less<>>;

// Parses "jobs,job:17" as topics. No names means the three general topics. INVALID_ARGUMENT names
// the error.
absl::StatusOr<Topics> ParseTopics(const std::vector<std::string>& names);

class StreamFeed {
 public:
  // `on_server` runs work on the server's thread, in order. `api` must outlive the loop's last
  // tick.
  StreamFeed(const Api& api, std::function<void(std::function<void()>)> on_server);

  // Starts listening to the loop.
  void Start();

  // Sends hello and the first messages of each topic, then changes until the sink is closed.
  // `last_event_id` 0 means that the client has no data yet. The stream ends together with session
  // `session_id`, if not empty. Any thread.
  void Subscribe(Topics topics, uint64_t last_event_id, std::string session_id,
                 std::shared_ptr<StreamSink> sink);

  // Notifies streams that output of this job was stored. Any thread.
  void NotifyOutput(int64_t job_id);
  // Notifies streams that metric points of this job up to `step` were stored. Any thread.
  void NotifyPoints(int64_t job_id, int64_t step);

  // Sends a comment to every stream, so that proxies and clients see that it is alive. Server
  // thread.
  void Heartbeat();
  // Closes the streams of ended sessions. Server thread.
  void CloseEndedSessions();
  // Closes every stream. Server thread.
  void CloseAll();

 private:
  struct Item {
    std::string topic;
    // Field name in StreamEvent.
    const char* name = "";
    std::shared_ptr<const google::protobuf::Message> message;
  };
  using Items = std::vector<Item>;
  struct Subscriber {
    Topics topics;
    std::string session_id;
    std::shared_ptr<StreamSink> sink;
  };
  // Loop thread only. Shared with the loop's listener.
  struct Collector;
  using ArchivedEntries = std::map<int64_t, JobEntry>;

  void OnTick(const ClusterView& view, const TickSummary& summary);
  void AddJobItems(const ClusterView& view, const TickSummary& summary, const Topics& wanted,
                   Items& items);
  // Sends the first messages, including those of archived jobs with a topic. Loop thread.
  void Begin(const Subscriber& subscriber, uint64_t last_event_id, const ArchivedEntries& archived,
             const ClusterView& view);
  // Hello and the first messages of each topic. Loop thread.
  Items FirstItems(const Topics& topics, uint64_t last_event_id, const ClusterView& view) const;
  Topics WantedTopics();
  std::set<int64_t> TakeOutput();
  // Jobs with new points, and the newest step of these points. Each job at most once a second.
  std::map<int64_t, int64_t> TakePoints(Timestamp now);
  void Publish(Items items, uint64_t revision);
  // The wanted items as text. `frames` caches the text of each item for further batches.
  static std::shared_ptr<const std::string> BatchOf(const Items& items,
                                                    const std::vector<bool>& wanted,
                                                    uint64_t revision,
                                                    std::vector<std::string>& frames);
  void AddSubscriber(Subscriber subscriber, const Items& first, uint64_t revision);
  void DropClosed();

  const Api& api_;
  const std::function<void(std::function<void()>)> on_server_;
  const std::shared_ptr<Collector> collector_;

  std::mutex mutex_;
  // Guarded by mutex_.
  // Number of streams that want each topic, including streams that are about to begin.
  std::map<std::string, int, std::less<>> wanted_;
  std::set<int64_t> output_of_jobs_;
  // Newest stored step per job, until it is sent.
  std::map<int64_t, int64_t> points_of_jobs_;

  // Server thread only.
  std::vector<Subscriber> subscribers_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_STREAM_FEED_H_

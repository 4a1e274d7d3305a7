// Sends changes to open dashboards. Each tick's changes are encoded once and sent to every
// subscribed stream.
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
#include "controller/api/context/api.h"
#include "controller/http/exchange.h"
#include "trainyard/v1/stream.pb.h"

namespace trainyard::controller::http {

using Topics = std::set<std::string, std::less<>>;

// Parses topics such as "jobs,job:17". If there are no names, returns the three general topics.
// INVALID_ARGUMENT: the message names the error.
absl::StatusOr<Topics> ParseTopics(const std::vector<std::string>& names);

class StreamFeed {
 public:
  // `on_server` runs work on the server's thread, in order. `api` must outlive the loop's last
  // tick.
  StreamFeed(const Api& api, std::function<void(std::function<void()>)> on_server);

  // Starts listening to the loop.
  void Start();

  // Sends hello and the first messages of each topic, and then sends changes until the sink is
  // closed. A `last_event_id` of 0 means that the client has no data yet. If `session_id` is not
  // empty, the stream is closed when the user's login ends. May be called on any thread.
  void Subscribe(Topics topics, uint64_t last_event_id, std::string session_id,
                 std::shared_ptr<StreamSink> sink);

  // Notifies streams that new output of this job is stored. May be called on any thread.
  void NotifyOutput(int64_t job_id);
  // Notifies streams that metric points of this job up to `step` are stored. May be called on any
  // thread.
  void NotifyPoints(int64_t job_id, int64_t step);

  // Sends a comment line to every stream, so that proxies and clients see that the connection
  // works. Call on the server's thread.
  void Heartbeat();
  // Closes the streams of ended sessions. Call on the server's thread.
  void CloseEndedSessions();
  // Closes every stream. Call on the server's thread.
  void CloseAll();

 private:
  struct Item {
    std::string topic;
    // The name of the field in StreamEvent.
    const char* name = "";
    std::shared_ptr<const google::protobuf::Message> message;
  };
  using Items = std::vector<Item>;
  struct Subscriber {
    Topics topics;
    std::string session_id;
    std::shared_ptr<StreamSink> sink;
  };
  // State shared with the listener of the loop. Used only on the loop thread.
  struct Collector;
  using ArchivedEntries = std::map<int64_t, JobEntry>;

  void OnTick(const ClusterView& view, const TickSummary& summary);
  void AddJobItems(const ClusterView& view, const TickSummary& summary, const Topics& wanted,
                   Items& items);
  // Sends the first messages, including the messages of topics of archived jobs. Call on the loop
  // thread.
  void Begin(const Subscriber& subscriber, uint64_t last_event_id, const ArchivedEntries& archived,
             const ClusterView& view);
  // Returns hello and the first messages of each topic. Call on the loop thread.
  Items FirstItems(const Topics& topics, uint64_t last_event_id, const ClusterView& view) const;
  Topics WantedTopics();
  std::set<int64_t> TakeOutput();
  // Returns the jobs with new points, each with the newest step of its points. A job is returned at
  // most once per second.
  std::map<int64_t, int64_t> TakePoints(Timestamp now);
  void Publish(Items items, uint64_t revision);
  // Returns the wanted items as text. `frames` caches the text of each item for other batches.
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
  // The number of streams per topic, including streams that have not sent their first messages yet.
  std::map<std::string, int, std::less<>> wanted_;
  std::set<int64_t> output_of_jobs_;
  // The newest stored step of each job with new points. An entry is removed when it is sent.
  std::map<int64_t, int64_t> points_of_jobs_;

  // Used only on the server's thread.
  std::vector<Subscriber> subscribers_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_STREAM_FEED_H_

#include "tests/simulation/world/network.h"

#include <algorithm>
#include <utility>

namespace trainyard::simulation {
namespace {

// Keepalive interval plus time-out of a worker (worker/rpc/attach_stream.h).
constexpr int64_t kKeepaliveMs = 9000;

}  // namespace

int64_t Network::Open(const std::string& node_id) {
  streams_[++last_stream_].node_id = node_id;
  return last_stream_;
}

template <typename Message>
void Network::Queue(int64_t stream, End to, Message message, Timestamp now) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.To(to).closed) return;
  if (random_.Chance(faults_.break_stream)) return Break(stream, now);
  Side& side = found->second.To(to);
  side.last_due = std::max(side.last_due, now + random_.Between(1, faults_.delay_ms_max));
  side.queue.push_back({side.last_due, std::move(message)});
}

void Network::Send(int64_t stream, v1::WorkerMessage message, Timestamp now) {
  Queue(stream, End::kController, std::move(message), now);
}

void Network::Send(int64_t stream, v1::ControllerMessage message, Timestamp now) {
  Queue(stream, End::kWorker, std::move(message), now);
}

void Network::CloseSide(Side& side, Timestamp when) {
  if (side.closed) return;
  side.last_due = std::max(side.last_due, when);
  side.queue.push_back({side.last_due, StreamClosed{}});
}

void Network::Close(int64_t stream, End by, Timestamp now) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  Side& own = found->second.To(by);
  own.closed = true;
  own.queue.clear();
  const End other = by == End::kWorker ? End::kController : End::kWorker;
  CloseSide(found->second.To(other), now + random_.Between(1, faults_.delay_ms_max));
}

void Network::Break(int64_t stream, Timestamp now) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  for (Side* side : {&found->second.to_worker, &found->second.to_controller}) {
    side->queue.clear();
    side->last_due = 0;
    CloseSide(*side, now + random_.Between(1, kKeepaliveMs));
  }
}

void Network::Kill(End end, const std::string& node_id, Timestamp now) {
  for (auto& [id, stream] : streams_) {
    if (stream.node_id == node_id || node_id.empty()) Close(id, end, now);
  }
}

bool Network::IsCutOff(const std::string& node_id, End end) const {
  const auto found = partitioned_.find(node_id);
  return found != partitioned_.end() && found->second.contains(end);
}

// A partition in either direction prevents the answers to pings from arriving.
void Network::BreakStalled(Timestamp now) {
  for (auto& [id, stream] : streams_) {
    if (!partitioned_.contains(stream.node_id)) {
      stream.waits_since = 0;
    } else if (stream.waits_since == 0) {
      stream.waits_since = now;
    } else if (now - stream.waits_since > kKeepaliveMs) {
      Break(id, now);
      stream.waits_since = now;
    }
  }
}

std::vector<Arrival> Network::Deliver(End end,
                                      const std::function<bool(const std::string&)>& is_frozen,
                                      Timestamp now) {
  BreakStalled(now);
  std::vector<std::pair<Timestamp, Arrival>> arrivals;
  for (auto& [id, stream] : streams_) {
    if (is_frozen(stream.node_id)) continue;
    Side& side = stream.To(end);
    while (!side.queue.empty() && side.queue.front().due <= now) {
      Queued& front = side.queue.front();
      const bool is_close = std::holds_alternative<StreamClosed>(front.message);
      // Each end detects independently that a partition has broken the stream.
      if (IsCutOff(stream.node_id, end) && !is_close) break;
      side.closed = side.closed || is_close;
      ++side.arrived;
      arrivals.push_back({front.due, {id, stream.node_id, std::move(front.message)}});
      side.queue.pop_front();
    }
  }
  std::erase_if(streams_, [](const auto& one) {
    return one.second.to_worker.closed && one.second.to_controller.closed &&
           one.second.to_worker.queue.empty() && one.second.to_controller.queue.empty();
  });
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Arrival> result;
  for (auto& [due, arrival] : arrivals) result.push_back(std::move(arrival));
  return result;
}

std::size_t Network::WaitingForWorker(int64_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.to_worker.queue.size();
}

uint64_t Network::TakenByWorker(int64_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.to_worker.arrived;
}

}  // namespace trainyard::simulation

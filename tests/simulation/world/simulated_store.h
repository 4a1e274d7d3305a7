// The simulated controller's metric and log stores. Both stores survive a crash of the controller's
// process.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STORE_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STORE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "controller/core/support/stream_key.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"

namespace trainyard::simulation {

struct StoredStream {
  int64_t offset = 0;
  // For each series name, the steps that have a point.
  std::map<std::string, std::set<int64_t>> points;
  std::string output;
};

class SimulatedStore {
 public:
  using Streams = std::map<controller::StreamKey, StoredStream>;

  const Streams& streams() const { return streams_; }
  int64_t OffsetOf(const controller::StreamKey& stream) const {
    const auto found = streams_.find(stream);
    return found == streams_.end() ? 0 : found->second.offset;
  }
  // The first violation of a rule of the real stores; "" if there is none.
  const std::string& violation() const { return violation_; }

  void Append(const controller::MetricBatch& batch) {
    StoredStream* stream = Extend(batch.stream, batch.begin_offset, batch.end_offset);
    if (stream == nullptr) return;
    for (const controller::MetricPoint& point : batch.points) {
      stream->points[point.key].insert(point.step);
    }
  }

  void Append(const controller::LogBatch& batch) {
    const int64_t end = batch.begin_offset + static_cast<int64_t>(batch.data.size());
    const int64_t known = OffsetOf(batch.stream) - batch.begin_offset;
    StoredStream* stream = Extend(batch.stream, batch.begin_offset, end);
    if (stream != nullptr) stream->output += batch.data.substr(known);
  }

 private:
  StoredStream* Extend(const controller::StreamKey& key, int64_t begin, int64_t end) {
    StoredStream& stream = streams_[key];
    if (begin > stream.offset) violation_ = "bytes of a stream are missing in the store";
    if (begin > stream.offset || end <= stream.offset) return nullptr;
    stream.offset = end;
    return &stream;
  }

  Streams streams_;
  std::string violation_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STORE_H_

// Forecasts the starts of waiting jobs for readers (explain/start_forecast.h).
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_START_FORECASTER_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_START_FORECASTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "controller/api/context/cluster_loop.h"
#include "controller/api/context/reader_pool.h"
#include "controller/core/explain/start_forecast.h"

namespace trainyard::controller {

// Makes one forecast at a time on a reader thread, and shares it among requests. All functions are
// called on the loop thread, except that the constructor may be called before it starts.
class StartForecaster {
 public:
  // A forecast is used again for this time, and longer while no event is committed.
  static constexpr int64_t kReusedMs = 10'000;
  static constexpr int64_t kReusedUnchangedMs = 60'000;
  // The processor time of a forecast. Jobs that start later than the forecast reaches have no
  // estimate.
  static constexpr double kCpuSeconds = 0.5;
  // The maximum number of requests that wait for one forecast. Other requests get no estimates.
  static constexpr std::size_t kMostWaiting = 1'000;

  using Use = std::function<void(const ForecastedStarts& starts)>;

  // Both arguments must outlive this object, and this object must outlive the loop's last tick.
  StartForecaster(ClusterLoop& loop, ReaderPool& readers) : loop_(loop), readers_(readers) {}

  // Calls `use` on the loop thread, either at once or after a forecast. The starts are empty if no
  // forecast can be made now.
  void Ask(const ClusterView& view, Use use);

 private:
  bool IsFresh(const ClusterView& view) const;
  void Make(ForecastInput input, uint64_t revision);
  void Finish(ForecastedStarts starts, Timestamp made_at, uint64_t revision);

  ClusterLoop& loop_;
  ReaderPool& readers_;
  // Used only on the loop thread.
  bool busy_ = false;
  std::vector<Use> waiting_;
  ForecastedStarts starts_;
  Timestamp made_at_ = 0;
  uint64_t revision_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_START_FORECASTER_H_

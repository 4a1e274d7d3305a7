#include "controller/planner/run_estimate.h"

#include <algorithm>

#include "controller/planner/device_rates.h"
#include "proto/layout/pipeline_place.h"
#include "proto/model/model_size.h"
#include "proto/rules/batch_plan.h"

namespace trainyard::planner {

RunEstimate EstimateOf(const RunConfig& config, const Cluster& cluster, double seconds) {
  const auto length = static_cast<double>(config.train.seq_length);
  const auto batch = static_cast<double>(config.train.global_batch);
  const auto devices = static_cast<double>(cluster.devices());
  const auto samples =
      static_cast<double>(BatchPlan(config.train).SamplesThrough(config.train.steps));
  RunEstimate estimate;
  estimate.tokens_per_second = batch * length / seconds;
  const double flops = TrainingFlopsPerToken(config.model, config.train.seq_length);
  estimate.mfu =
      estimate.tokens_per_second * flops / (devices * PeakFlops(config.train, *cluster.device));
  estimate.tokens = samples * length;
  const double run_seconds = estimate.tokens / estimate.tokens_per_second;
  estimate.days = run_seconds / 86400;
  estimate.device_hours = run_seconds / 3600 * devices;
  return estimate;
}

std::vector<StagePlace> PlacesOfStages(const RunConfig& config, const Cluster& cluster) {
  const LayoutConfig& layout = config.layout;
  const int64_t ranks = layout.tp * layout.cp * std::max<int64_t>(layout.dp, 1);
  std::vector<StagePlace> places;
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    const PipelinePlace parts = PlaceOfStage(config, stage);
    StagePlace place;
    place.first_rank = stage * ranks;
    place.last_rank = place.first_rank + ranks - 1;
    place.first_node = place.first_rank / cluster.per_node;
    place.last_node = place.last_rank / cluster.per_node;
    for (int64_t chunk = 0; chunk < layout.vpp; ++chunk) {
      place.layers += parts.Layers(config.model.num_layers, chunk).length;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace trainyard::planner

#include "trainer/report/source_facts.h"

#include <string>

#include "proto/contract/telemetry_keys.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/data_sources.h"

namespace trainyard::trainer {

std::vector<SourceFacts> FactsOfSources(const RunConfig& config, const SampleSource& source) {
  const std::vector<DataSource> sources = BlendOf(config.data).sources;
  const int64_t samples = BatchPlan(config.train).SamplesThrough(config.train.steps);
  const bool has_stages = source.spans().size() > 1;
  std::vector<SourceFacts> facts;
  for (int64_t i = 0; i < source.sources(); ++i) {
    facts.push_back({.path = sources[i].path,
                     .tokens = source.file(i).size(),
                     .samples = source.samples_per_epoch(i),
                     .share = has_stages ? source.CountBefore(samples, i) : sources[i].share,
                     .passes = source.PassesBefore(samples, i)});
  }
  return facts;
}

MetricValues PassValues(const RunConfig& config, const SampleSource& source, int64_t samples) {
  const std::vector<DataSource> sources = BlendOf(config.data).sources;
  MetricValues values;
  for (int64_t i = 0; i < source.sources(); ++i) {
    const std::string suffix = sources.size() > 1 ? "_" + sources[i].name : "";
    values.emplace_back(telemetry::kDataPasses + suffix, source.PassesBefore(samples, i));
  }
  return values;
}

}  // namespace trainyard::trainer

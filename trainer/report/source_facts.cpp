#include "trainer/report/source_facts.h"

#include <nlohmann/json.hpp>
#include <string>

#include "proto/contract/data_report.h"
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

std::string DataUseReport(const RunConfig& config, const SampleSource& source) {
  using nlohmann::ordered_json;
  const std::vector<DataSource> sources = BlendOf(config.data).sources;
  ordered_json report = {{"format", kDataUseFormat},
                         {"version", kDataUseVersion},
                         {kReportDataSets, ordered_json::array()}};
  ordered_json& sets = report[kReportDataSets];
  const auto text = [&] {
    // A path need not be UTF-8.
    return report.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  };
  for (int64_t i = 0; i < source.sources() && sets.size() < kMaxReportDataSets; ++i) {
    sets.push_back({{kReportPath, sources[i].path},
                    {kReportChecksum, source.file(i).header().xxh64},
                    {kReportTokens, source.file(i).size()}});
    if (text().size() <= kMaxDataReportPartBytes) continue;
    sets.erase(sets.size() - 1);
    break;
  }
  return text();
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

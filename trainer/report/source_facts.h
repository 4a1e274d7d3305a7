// Statistics of a run's data sources, for its header and telemetry.
#ifndef TRAINYARD_TRAINER_REPORT_SOURCE_FACTS_H_
#define TRAINYARD_TRAINER_REPORT_SOURCE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/sample_source.h"
#include "trainer/report/run_report.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Returns the facts of each source over the whole run.
std::vector<SourceFacts> FactsOfSources(const RunConfig& config, const SampleSource& source);

// Returns the report of the data sets that the run reads, as JSON (data_report.h). Leaves out data
// sets that do not fit into one part of a report.
std::string DataUseReport(const RunConfig& config, const SampleSource& source);

// Returns the number of passes over each source after `samples` training samples.
MetricValues PassValues(const RunConfig& config, const SampleSource& source, int64_t samples);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_SOURCE_FACTS_H_

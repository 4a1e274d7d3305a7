// What a run reads of its data sources, for people.
#ifndef TRAINYARD_TRAINER_SOURCE_FACTS_H_
#define TRAINYARD_TRAINER_SOURCE_FACTS_H_

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/sample_source.h"
#include "trainer/run_report.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Of each source, over the whole run.
std::vector<SourceFacts> FactsOfSources(const RunConfig& config, const SampleSource& source);

// Passes over each source that training has made with so many samples.
MetricValues PassValues(const RunConfig& config, const SampleSource& source, int64_t samples);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SOURCE_FACTS_H_

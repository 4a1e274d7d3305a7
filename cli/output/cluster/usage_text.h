// Formats GPU time and its cost for people.
#ifndef TRAINYARD_CLI_OUTPUT_CLUSTER_USAGE_TEXT_H_
#define TRAINYARD_CLI_OUTPUT_CLUSTER_USAGE_TEXT_H_

#include <string>

#include "trainyard/v1/ledger.pb.h"

namespace trainyard::cli {

// Returns text such as "12.3"; kNothing for 0.
std::string GpuHoursText(double gpu_seconds);

// Returns text such as "259.14 USD at 2.1 USD per GPU-hour".
std::string CostText(const v1::Cost& cost);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CLUSTER_USAGE_TEXT_H_

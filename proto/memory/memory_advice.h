// Texts about a predicted memory peak: its parts, and settings that need less memory.
#ifndef TRAINYARD_PROTO_MEMORY_MEMORY_ADVICE_H_
#define TRAINYARD_PROTO_MEMORY_MEMORY_ADVICE_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/memory/memory_model.h"

namespace trainyard {

// Returns a text such as "69.5 GB", in units of 1e9 bytes.
std::string GigabytesText(double bytes);

// Returns a text such as "70.2 GB (weights 6.2 GB, ...)".
std::string MemoryText(const MemoryPrediction& prediction);

struct MemoryRemedy {
  std::string change;  // For example "layout.micro_batch to 8".
  double bytes = 0;    // The prediction with this change.
};

// Returns changes that lower the prediction to kMemoryMargin below `limit`, the least costly first:
// ZeRO 1, nondeterministic attention, the largest micro-batch that divides the batch, each kind of
// recomputation, bf16 moments. If no single change suffices, returns one combination of changes; if
// no combination suffices either, returns nothing.
std::vector<MemoryRemedy> FindMemoryRemedies(const RunConfig& config, double limit);

// Returns one sentence with the remedies. If there are no remedies, names other measures.
std::string MemoryAdviceText(const RunConfig& config, double limit);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MEMORY_MEMORY_ADVICE_H_

// A predicted peak of memory as text for a person: its parts, and settings that need less.
#ifndef TRAINYARD_PROTO_CONTRACT_MEMORY_ADVICE_H_
#define TRAINYARD_PROTO_CONTRACT_MEMORY_ADVICE_H_

#include <string>
#include <vector>

#include "proto/contract/memory_model.h"
#include "proto/contract/run_config.h"

namespace trainyard {

// "69.5 GB", in units of 1e9 bytes.
std::string GigabytesText(double bytes);

// "70.2 GB (weights 6.2 GB, ...)".
std::string MemoryText(const MemoryPrediction& prediction);

struct MemoryRemedy {
  std::string change;  // Such as "layout.micro_batch to 8".
  double bytes = 0;    // Predicted with it.
};

// Changes that bring the prediction below `limit` by kMemoryMargin, the least costly first: ZeRO 1,
// attention whose bits vary from run to run, the largest micro-batch that divides the batch, each
// kind of recomputation, bf16 moments. When no
// single one does, all of them together, if that does.
std::vector<MemoryRemedy> FindMemoryRemedies(const RunConfig& config, double limit);

// One sentence with the remedies, or with what else could help when there are none.
std::string MemoryAdviceText(const RunConfig& config, double limit);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_MEMORY_ADVICE_H_

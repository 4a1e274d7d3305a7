// Generates the jobs of a cluster that trains large language models. No such trace is public, so
// the generator follows the figures of the cluster Kalos in InternLM/AcmeTrace (traces/README.md).
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_LLM_MIX_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_LLM_MIX_H_

#include <cstdint>
#include <vector>

#include "tests/simulation/replay/trace.h"

namespace trainyard::replay {

// The cluster of the mix: 302 nodes with 8 GPUs, 2,416 GPUs as in Kalos.
inline constexpr int kLlmMixNodes = 302;

// Returns about 3,000 jobs of two weeks, without time limits. The jobs of the queue "evaluation"
// ask for 1 GPU and arrive in bursts. Those of "debugging" ask for 1 to 16 GPUs, those of
// "pretraining" for 256 to 1,024. 40 % of the jobs fail, which ends them after a random part of
// their time.
std::vector<TraceJob> MakeLlmMix(uint64_t seed);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_LLM_MIX_H_

// Settings of runs whose peak memory was measured.
#ifndef TRAINYARD_TESTS_PROTO_MEMORY_MEMORY_CONFIGS_H_
#define TRAINYARD_TESTS_PROTO_MEMORY_MEMORY_CONFIGS_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard {

inline RunConfig MemoryConfig(const ModelConfig& model, int64_t length, int64_t micro_batch) {
  RunConfig config;
  config.model = model;
  config.layout.dp = 1;
  config.layout.micro_batch = micro_batch;
  config.train.seq_length = length;
  config.train.global_batch = 48 * micro_batch;
  return config;
}

inline RunConfig Llama3_1b5(int64_t micro_batch) {
  return MemoryConfig({.num_layers = 18,
                       .hidden_size = 2048,
                       .ffn_hidden_size = 7168,
                       .num_attention_heads = 16,
                       .num_query_groups = 8,
                       .vocab_size = 128256},
                      2048, micro_batch);
}

inline RunConfig Llama3_8b(int64_t micro_batch) {
  return MemoryConfig({.num_layers = 32,
                       .hidden_size = 4096,
                       .ffn_hidden_size = 14336,
                       .num_attention_heads = 32,
                       .num_query_groups = 8,
                       .vocab_size = 128256},
                      8192, micro_batch);
}

inline RunConfig Small162m(int64_t micro_batch) {
  return MemoryConfig({.num_layers = 12,
                       .hidden_size = 768,
                       .ffn_hidden_size = 2048,
                       .num_attention_heads = 12,
                       .num_query_groups = 12,
                       .vocab_size = 50304},
                      1024, micro_batch);
}

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_PROTO_MEMORY_MEMORY_CONFIGS_H_

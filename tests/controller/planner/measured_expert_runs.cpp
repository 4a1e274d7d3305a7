// Runs of models with experts: the rows m8-... and d64-... of tests/gpu/bench.py.
#include "tests/controller/planner/expert_models.h"
#include "tests/controller/planner/measured_runs.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {

ModelConfig M8() {
  ModelConfig model = WithExperts(Gated(8, 2048, 7168, 16, 32000, 8), 8, 2, 7168);
  model.moe_router_force_load_balancing = true;
  return model;
}

ModelConfig D64() {
  ModelConfig model = WithExperts(Gated(6, 2048, 10944, 16, 102400, 16), 64, 6, 1408);
  model.moe_shared_expert_intermediate_size = 2 * 1408;
  model.moe_dense_layers = 1;
  model.moe_router_score_function = RouterScoreFunction::kSigmoid;
  model.moe_router_enable_expert_bias = true;
  model.moe_router_load_balancing_type = RouterLoadBalancing::kNone;
  model.moe_router_force_load_balancing = true;
  model.multi_latent_attention = true;
  model.q_lora_rank = 768;
  model.kv_lora_rank = 512;
  model.qk_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
  model.v_head_dim = 128;
  return model;
}

MeasuredSet ExpertTrainyardRuns() {
  MeasuredSet set = {"trainyard-trainer, experts, H200",
                     "tests/gpu/bench.py, 2026-11-29",
                     TrainyardProfile(),
                     true,
                     {}};
  const auto add = [&set](const char* name, RunSettings run, double seconds, double gigabytes) {
    run.per_node = run.config.layout.dp;
    set.runs.push_back({name, run.config, ClusterOf("H200", run), seconds, false, gigabytes});
  };
  const ModelConfig m8 = M8(), d64 = D64();
  add("M8, 16 samples", Settings(m8, 2048, 16, 16), 0.3257, 82.7);
  add("M8, 8 samples", Settings(m8, 2048, 8, 8), 0.1769, 65.8);
  add("M8, 4 samples", Settings(m8, 2048, 8, 4), 0.1852, 57.5);
  add("M8, selective", Settings(m8, 2048, 16, 16).Selective(), 0.3304, 72.2);
  add("M8, full", Settings(m8, 2048, 16, 16).Full(), 0.4208, 55.4);
  add("M8, 8192", Settings(m8, 8192, 2, 2), 0.2018, 68.1);
  add("D64, 8 samples", Settings(d64, 4096, 8, 8), 0.3027, 83.1);
  add("D64, 4 samples", Settings(d64, 4096, 8, 4), 0.3126, 69.7);
  add("D64, selective", Settings(d64, 4096, 8, 8).Selective(), 0.3107, 71.1);
  add("D64, 8192", Settings(d64, 8192, 4, 4), 0.3359, 87.4);
  add("M8 x2, EP2", Settings(m8, 2048, 32, 16).Dp(2).Ep(2).WholeExperts().Zero(1), 0.3427, 59.0);
  add("D64 x2, EP2", Settings(d64, 4096, 16, 8).Dp(2).Ep(2).WholeExperts().Zero(1), 0.3045, 57.7);
  return set;
}

}  // namespace trainyard::planner

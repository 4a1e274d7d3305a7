// Runs whose step times were measured by us or by others, for comparison with the predictions.
//
// Rows with is_fitted were used to fit constants of their trainer's profile. All other rows test
// the predictions.
#ifndef TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_RUNS_H_
#define TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_RUNS_H_

#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

struct MeasuredRun {
  std::string name;
  RunConfig config;
  Cluster cluster;
  double seconds = 0;  // Step time.
  bool is_fitted = false;
  double gigabytes = 0;  // Peak of tensor memory in 10^9 bytes; 0 if not measured.
};

// The runs of one trainer, and the trainer's constants.
struct MeasuredSet {
  std::string name;
  std::string source;
  TrainerProfile profile;
  bool balances_head = false;  // The pipeline split counts the head as layers.
  std::vector<MeasuredRun> runs;
};

// Runs of trainyard-trainer on one and two H200 (see trainer/README.md).
MeasuredSet TrainyardRuns();
// Runs on one H200 that were measured after formulas and constants were final: the rows `plan-...`,
// and the rows of the model families in tests/gpu/bench.py.
MeasuredSet LaterTrainyardRuns();
// Runs on four H200 of one node: the rows `plan-...-x4`. All runs were predicted before the
// measurement. The run with TP4 was later used to fit a constant.
MeasuredSet FourGpuTrainyardRuns();
// Runs of models with experts and latent attention on one and two H200. All runs were predicted
// before the measurement.
MeasuredSet ExpertTrainyardRuns();
// Runs on one, two and four H200, dense, in FP8 and with experts, after work on the speed of the
// trainer. Rows of these layouts in the sets above were measured with earlier versions.
MeasuredSet RecentTrainyardRuns();
// Runs on one and four H100 of one host.
MeasuredSet RecentH100Runs();
// Runs on one H100. These runs were not used to fit the trainer's constants.
MeasuredSet TrainyardH100Runs();
// Runs of Megatron-LM on A100. The sources are Korthikanti et al. 2022 (arXiv 2205.05198), tables 3
// and 5, and
// Narayanan et al. 2021 (arXiv 2104.04473), table 2, rows "PTD-P".
MeasuredSet MegatronA100Runs();
// Runs of NeMo with Megatron-Core in bf16 on H100, from NVIDIA/dgxc-benchmarking, "Expected
// Performance".
MeasuredSet MegatronH100Runs();
// Runs of MosaicML llm-foundry with FSDP on A100, from the README of its training benchmarks.
MeasuredSet FoundryRuns();

// Runs of NeMo with Megatron-Core on H100, in FP8 and with experts, from
// NVIDIA-NeMo/Megatron-Bridge and NVIDIA/dgxc-benchmarking. These runs use the constants of the
// dense bf16 runs and were not used for fitting.
MeasuredSet PlannedFeatureH100Runs();

// The constants of the other trainers. Each is fitted to the rows with is_fitted in the trainer's
// set.
TrainerProfile MegatronA100Profile();
TrainerProfile MegatronH100Profile();
TrainerProfile FoundryProfile();

// Returns the run's predicted step time in seconds, using the profile of `set`.
double PredictedSeconds(const MeasuredSet& set, const MeasuredRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_RUNS_H_

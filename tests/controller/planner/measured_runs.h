// Runs whose step times were measured by us or by others, for comparison with the predictions.
//
// Rows with is_fitted determined constants of their trainer's profile; all other rows test the
// predictions.
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

// Runs of one trainer, with its constants.
struct MeasuredSet {
  std::string name;
  std::string source;
  TrainerProfile profile;
  bool balances_head = false;  // Its pipeline split counts the head as layers.
  std::vector<MeasuredRun> runs;
};

// trainyard-trainer on one and two H200: trainer/README.md.
MeasuredSet TrainyardRuns();
// Runs on one H200, measured after formulas and constants were final: rows `plan-...`, and rows of
// the model families in tests/gpu/bench.py.
MeasuredSet LaterTrainyardRuns();
// Runs on four H200 of one node: rows `plan-...-x4`, predicted before they were measured. TP4 later
// determined a constant.
MeasuredSet FourGpuTrainyardRuns();
// Runs on one H100. They determined no constant of the trainer's profile.
MeasuredSet TrainyardH100Runs();
// Megatron-LM on A100: Korthikanti et al. 2022 (arXiv 2205.05198), tables 3 and 5; Narayanan et al.
// 2021 (arXiv 2104.04473), table 2, rows of PTD-P.
MeasuredSet MegatronA100Runs();
// NeMo with Megatron-Core in bf16 on H100: NVIDIA/dgxc-benchmarking, "Expected Performance".
MeasuredSet MegatronH100Runs();
// MosaicML llm-foundry, FSDP on A100: the README of its training benchmarks.
MeasuredSet FoundryRuns();

// NeMo with Megatron-Core on H100, in FP8 and with experts: NVIDIA-NeMo/Megatron-Bridge and
// NVIDIA/dgxc-benchmarking. Uses the constants of the bf16 runs of dense models: no row is fitted.
MeasuredSet PlannedFeatureH100Runs();

// Constants of the other trainers, fitted to the rows with is_fitted in their sets.
TrainerProfile MegatronA100Profile();
TrainerProfile MegatronH100Profile();
TrainerProfile FoundryProfile();

// Predicted step time of the run in seconds, with the profile of its set.
double PredictedSeconds(const MeasuredSet& set, const MeasuredRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_RUNS_H_

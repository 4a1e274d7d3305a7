// Runs whose step time others, or we, have measured: what the predictions are compared with.
//
// Rows with is_fitted gave constants of their trainer's profile; the others test the predictions.
// No row is both.
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
  double gigabytes = 0;  // 10^9 bytes of tensors at the peak; 0 where nobody has measured them.
};

// Runs of one trainer, with its constants.
struct MeasuredSet {
  std::string name;
  std::string source;
  TrainerProfile profile;
  bool balances_head = false;  // Its cut into pipeline stages counts the head as layers.
  std::vector<MeasuredRun> runs;
};

// trainyard-trainer on one and two H200: trainer/README.md.
MeasuredSet TrainyardRuns();
// Runs on one H200, measured after formulas and constants were final: rows `plan-...` and those
// of the model families of tests/gpu/bench.py.
MeasuredSet LaterTrainyardRuns();
// Runs on four H200 of one node: rows `plan-...-x4`, predicted before they were measured. TP4
// gave a constant afterwards.
MeasuredSet FourGpuTrainyardRuns();
// Runs on one H100, which gave the trainer's profile no constant.
MeasuredSet TrainyardH100Runs();
// Megatron-LM on A100: Korthikanti et al. 2022 (arXiv 2205.05198), tables 3 and 5; Narayanan et al.
// 2021 (arXiv 2104.04473), table 2, rows of PTD-P.
MeasuredSet MegatronA100Runs();
// NeMo with Megatron-Core in bf16 on H100: NVIDIA/dgxc-benchmarking, "Expected Performance".
MeasuredSet MegatronH100Runs();
// MosaicML llm-foundry, FSDP on A100: the README of its training benchmarks.
MeasuredSet FoundryRuns();

// NeMo with Megatron-Core on H100, in FP8 and with experts: NVIDIA-NeMo/Megatron-Bridge and
// NVIDIA/dgxc-benchmarking. By the constants of the bf16 runs of dense models: no row is fitted.
MeasuredSet PlannedFeatureH100Runs();

// Constants of the other trainers: fitted to the rows with is_fitted of their sets.
TrainerProfile MegatronA100Profile();
TrainerProfile MegatronH100Profile();
TrainerProfile FoundryProfile();

// Seconds of a step of the run by the profile of its set.
double PredictedSeconds(const MeasuredSet& set, const MeasuredRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_RUNS_H_

// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Settings of a run that trainyard-trainer reads: a struct and a header for each section of
// a job file. Docs, units and defaults are job_spec.proto's. A setting without a default is 0, ""
// or nullopt when nobody wrote it. Rules that span settings, and values that follow from others:
// run_rules.h.
#ifndef TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "proto/contract/checkpoint_config.h"
#include "proto/contract/data_config.h"
#include "proto/contract/evaluation_config.h"
#include "proto/contract/layout_config.h"
#include "proto/contract/model_config.h"
#include "proto/contract/optimizer_config.h"
#include "proto/contract/resources_config.h"
#include "proto/contract/schedule_config.h"
#include "proto/contract/train_config.h"

// clang-format off
namespace trainyard {

struct RunConfig {
  std::string name;
  ResourcesConfig resources;
  LayoutConfig layout;
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;

  bool operator==(const RunConfig&) const = default;
};

// Calls visit(name, section) for each section.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, RunConfig>
void VisitSections(Config& config, Visit&& visit) {
  visit("resources", config.resources);
  visit("layout", config.layout);
  visit("model", config.model);
  visit("data", config.data);
  visit("train", config.train);
  visit("optimizer", config.optimizer);
  visit("schedule", config.schedule);
  visit("evaluation", config.evaluation);
  visit("checkpoint", config.checkpoint);
}

// Keys at the top of a job file, the trainer's and others.
inline constexpr std::array<std::string_view, 42> kJobFileKeys = {
    "name",
    "kind",
    "pipeline",
    "extends",
    "description",
    "after",
    "queue",
    "priority",
    "resources",
    "min_nodes",
    "layout",
    "auto_layout",
    "model",
    "data",
    "train",
    "optimizer",
    "schedule",
    "evaluation",
    "checkpoint",
    "restart",
    "guard",
    "watchdog",
    "command",
    "env",
    "unset_env",
    "torchrun_env",
    "secrets",
    "log_parser",
    "tensorboard",
    "working_directory",
    "stop_grace",
    "time_limit",
    "time_limit_signal",
    "time_limit_warning",
    "at_time_limit",
    "placement",
    "matrix",
    "max_concurrent",
    "halving",
    "launch",
    "environment",
    "code"};

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_

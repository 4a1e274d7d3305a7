// Support for `layout: auto`, which lets the controller choose a job's layout.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_AUTO_LAYOUT_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_AUTO_LAYOUT_H_

#include <string>
#include <vector>

#include "proto/contract/layout_config.h"
#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// In a job file, this word replaces the settings of section `layout`.
inline constexpr char kAutoLayoutWord[] = "auto";
inline constexpr char kAutoLayoutKey[] = "auto_layout";

// Returns the settings of section `layout` that the controller chooses: all except
// sequence_parallel, cp_comm_type and moe_token_dispatcher_type, which keep the job's values.
const std::vector<const google::protobuf::FieldDescriptor*>& ChosenLayoutFields();

// Reports settings that contradict `auto_layout`. Returns nothing for a job without `auto_layout`.
std::vector<SettingProblem> FindAutoLayoutProblems(const v1::JobSpec& spec);

// Returns the settings of `layout` that have a value, in the form of a job file.
v1::LayoutSpec LayoutSpecOf(const LayoutConfig& layout);

// Returns a text such as "{tp: 2, zero: 1} on 1 node of 8 NVIDIA H200", or "data parallelism only
// on 1 node of 6 cpu" for the default layout. If no layout fits, returns the problem.
std::string GrantedText(const v1::GrantedLayout& granted);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_AUTO_LAYOUT_H_

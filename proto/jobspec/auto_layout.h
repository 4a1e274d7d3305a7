// `layout: auto`: a job whose layout the controller chooses.
#ifndef TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_
#define TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// The word that a job file has in the place of the section `layout`.
inline constexpr char kAutoLayoutWord[] = "auto";
inline constexpr char kAutoLayoutKey[] = "auto_layout";

// Settings of the section `layout` that the controller chooses: all but sequence_parallel and
// cp_comm_type, which stay the job's.
const std::vector<const google::protobuf::FieldDescriptor*>& ChosenLayoutFields();

// Settings that contradict `auto_layout`; empty for other jobs.
std::vector<SettingProblem> FindAutoLayoutProblems(const v1::JobSpec& spec);

// Every setting of a layout that has a value, as a job file has it.
v1::LayoutSpec LayoutSpecOf(const LayoutConfig& layout);

// "{tp: 2, zero: 1} on 1 node of 8 NVIDIA H200"; the problem where no layout fits.
std::string GrantedText(const v1::GrantedLayout& granted);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_

// `layout: auto`: jobs whose layout is chosen by the controller.
#ifndef TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_
#define TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_

#include <string>
#include <vector>

#include "proto/contract/layout_config.h"
#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Value of `layout` in a job file, in place of the section.
inline constexpr char kAutoLayoutWord[] = "auto";
inline constexpr char kAutoLayoutKey[] = "auto_layout";

// Settings of section `layout` that are chosen by the controller: all except sequence_parallel and
// cp_comm_type, which stay as in the job.
const std::vector<const google::protobuf::FieldDescriptor*>& ChosenLayoutFields();

// Reports settings that contradict `auto_layout`; empty for other jobs.
std::vector<SettingProblem> FindAutoLayoutProblems(const v1::JobSpec& spec);

// Every setting of a layout that has a value, as in a job file.
v1::LayoutSpec LayoutSpecOf(const LayoutConfig& layout);

// "{tp: 2, zero: 1} on 1 node of 8 NVIDIA H200", or the problem if no layout fits.
std::string GrantedText(const v1::GrantedLayout& granted);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_AUTO_LAYOUT_H_

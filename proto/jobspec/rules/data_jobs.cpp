#include "proto/jobspec/rules/data_jobs.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;

// Settings of JobSpec that describe training or the program of a training job.
constexpr std::array kTrainingSettings{
    "layout",     "auto_layout", "model", "data",       "train",   "optimizer",  "schedule",
    "evaluation", "checkpoint",  "guard", "log_parser", "command", "tensorboard"};

const FieldDescriptor& FieldOf(const char* name) {
  return *v1::JobSpec::descriptor()->FindFieldByName(name);
}

bool IsPresent(const v1::JobSpec& spec, const FieldDescriptor& field) {
  if (field.is_repeated()) return spec.GetReflection()->FieldSize(spec, &field) > 0;
  return spec.GetReflection()->HasField(spec, &field);
}

}  // namespace

void KeepDataSettings(v1::JobSpec& defaults) {
  for (const char* name : kTrainingSettings) {
    defaults.GetReflection()->ClearField(&defaults, &FieldOf(name));
  }
  defaults.mutable_resources()->clear_device();
}

void DeriveDataSettings(v1::JobSpec& spec, Origins& origins) {
  if (spec.resources().has_device()) return;
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  origins["resources.device"] = kDerivedOrigin;
}

void CheckDataJob(const v1::JobSpec& spec, std::vector<SettingProblem>& problems) {
  if (ProgramOf(spec) != JobProgram::kData) {
    if (!spec.has_pipeline()) return;
    problems.push_back(
        {"pipeline", "`pipeline` is only for data jobs; add `kind: data`, or remove `pipeline`"});
    return;
  }
  if (spec.pipeline().empty()) {
    problems.push_back({"pipeline",
                        "`pipeline` is missing; a job of kind data runs a pipeline file, such as "
                        "`pipeline: /data/pipelines/wiki.yaml`"});
  }
  for (const char* name : kTrainingSettings) {
    if (!IsPresent(spec, FieldOf(name))) continue;
    problems.push_back({name, absl::StrCat("`", name,
                                           "` does not apply to a job of kind data; "
                                           "remove it, or remove `kind: data`")});
  }
  if (spec.resources().device() == v1::DEVICE_KIND_GPU) {
    problems.push_back({"resources.device",
                        "`resources.device` is gpu, but data jobs run on CPU slots; remove it"});
  }
}

}  // namespace trainyard

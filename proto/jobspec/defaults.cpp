#include "proto/jobspec/defaults.h"

#include <set>
#include <vector>

#include "google/protobuf/message.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/jobspec/rules/data_jobs.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// True for sections that stay absent unless they are written, because their presence has a meaning:
// only arrays have a halving, and a job without `environment` runs its program directly. A job
// without `code` brings none.
bool StaysAbsent(const FieldDescriptor& field) {
  static const std::set<const FieldDescriptor*> kFields = {
      v1::JobSpec::descriptor()->FindFieldByNumber(v1::JobSpec::kHalvingFieldNumber),
      v1::JobSpec::descriptor()->FindFieldByNumber(v1::JobSpec::kEnvironmentFieldNumber),
      v1::JobSpec::descriptor()->FindFieldByNumber(v1::JobSpec::kCodeFieldNumber),
      v1::EnvironmentSpec::descriptor()->FindFieldByNumber(
          v1::EnvironmentSpec::kContainerFieldNumber)};
  return kFields.contains(&field);
}

void SetDefaults(Message& message) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (StaysAbsent(field)) continue;
    if (IsSection(field)) {
      SetDefaults(*message.GetReflection()->MutableMessage(&message, &field));
    } else if (const std::string& text = RuleOf(field).default_value(); !text.empty()) {
      // Cannot fail unless job_spec.proto has a default that its own rule rejects. A test reads all
      // defaults.
      SetScalarField(text, field, message).IgnoreError();
    }
  }
}

// Returns a spec that contains only defaults.
const v1::JobSpec& Defaults() {
  static const v1::JobSpec* const defaults = [] {
    auto* spec = new v1::JobSpec;
    SetDefaults(*spec);
    return spec;
  }();
  return *defaults;
}

// Both messages have the same type, so one `reflection` serves both.
void CopyField(const Message& from, const FieldDescriptor& field, const Reflection& reflection,
               Message& to) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&to, &field, reflection.GetInt32(from, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(&to, &field, reflection.GetInt64(from, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(&to, &field, reflection.GetUInt32(from, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&to, &field, reflection.GetUInt64(from, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&to, &field, reflection.GetDouble(from, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.SetFloat(&to, &field, reflection.GetFloat(from, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&to, &field, reflection.GetBool(from, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnum(&to, &field, reflection.GetEnum(from, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&to, &field, reflection.GetString(from, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return reflection.MutableMessage(&to, &field)->CopyFrom(reflection.GetMessage(from, &field));
  }
}

// Do not use MergeFrom: it would combine the seconds of a written duration with the nanoseconds of
// its default.
void FillFrom(const Message& defaults, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(defaults, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!reflection.HasField(message, field)) {
      CopyField(defaults, *field, reflection, message);
    } else if (IsSection(*field)) {
      FillFrom(reflection.GetMessage(defaults, field), *reflection.MutableMessage(&message, field));
    }
  }
}

void FillOriginsOf(const Message& message, const std::string& prefix, const std::string& origin,
                   Origins& origins) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string key = prefix + field->name();
    if (IsSection(*field)) {
      FillOriginsOf(reflection.GetMessage(message, field), key + ".", origin, origins);
    } else if (!field->is_map()) {
      origins.try_emplace(key, origin);
    }
  }
}

// A program of others with a single rank does not get the variables of torchrun, because these
// variables make many programs search for peers.
void FillTorchrunEnv(v1::JobSpec& spec, Origins& origins) {
  if (spec.has_torchrun_env()) return;
  spec.set_torchrun_env(ProgramRulesOf(spec).needs_torchrun_env || WorldSize(spec) > 1);
  origins["torchrun_env"] = kDerivedOrigin;
}

// Selects the rank whose output is parsed. Megatron-LM prints on the last rank (print_rank_last);
// other programs print on rank 0.
void FillParsedRank(v1::JobSpec& spec, Origins& origins) {
  v1::LogParserSpec& parser = *spec.mutable_log_parser();
  if (parser.has_rank() || parser.kind() == v1::LOG_PARSER_KIND_NONE) return;
  parser.set_rank(parser.kind() == v1::LOG_PARSER_KIND_MEGATRON ? -1 : 0);
  origins["log_parser.rank"] = kDerivedOrigin;
}

// Checkpoints of a program of others are removed only if the job file asks for it.
void FillWatchedRetention(v1::JobSpec& spec, Origins& origins) {
  constexpr int kKeepAll = 100'000;  // The highest value of the setting.
  if (spec.checkpoint().watch().empty() || spec.checkpoint().has_keep_last()) return;
  spec.mutable_checkpoint()->set_keep_last(kKeepAll);
  origins["checkpoint.keep_last"] = kDerivedOrigin;
}

// Fills in defaults. If the layout is still to be chosen, leaves the layout without defaults.
void FillWrittenDefaults(v1::JobSpec& spec) {
  const v1::LayoutSpec written = spec.layout();
  FillFrom(Defaults(), spec);
  if (!spec.auto_layout()) return;
  for (const FieldDescriptor* field : ChosenLayoutFields()) {
    if (written.GetReflection()->HasField(written, field)) continue;
    spec.layout().GetReflection()->ClearField(spec.mutable_layout(), field);
  }
}

// Returns the defaults of data jobs, which have no settings of training.
const v1::JobSpec& DataDefaults() {
  static const v1::JobSpec* const defaults = [] {
    auto* spec = new v1::JobSpec(Defaults());
    KeepDataSettings(*spec);
    return spec;
  }();
  return *defaults;
}

// Fills in the defaults of `environment` and of its container, if they are written.
void FillEnvironmentDefaults(v1::JobSpec& spec) {
  if (!spec.has_environment()) return;
  v1::EnvironmentSpec defaults;
  SetDefaults(defaults);
  FillFrom(defaults, *spec.mutable_environment());
  if (!spec.environment().has_container()) return;
  v1::ContainerSpec container;
  SetDefaults(container);
  FillFrom(container, *spec.mutable_environment()->mutable_container());
}

void FillTrainingDefaults(v1::JobSpec& spec, Origins& origins) {
  FillWatchedRetention(spec, origins);
  FillWrittenDefaults(spec);
  NarrowNodes(spec);
  RunConfig config = RunConfigOf(spec);
  for (const std::string& key : FillDerived(WorldSize(spec), config)) {
    // An elastic job has another dp on each number of nodes.
    if ((spec.auto_layout() || IsElastic(spec)) && key == "layout.dp") continue;
    // A written 0 is kept, and a rule rejects it.
    if (CopySetting(config, key, spec)) origins[key] = kDerivedOrigin;
  }
  FillParsedRank(spec, origins);
}

}  // namespace

void FillDefaults(v1::JobSpec& spec, Origins& origins) {
  if (ProgramOf(spec) == JobProgram::kData) {
    FillFrom(DataDefaults(), spec);
    DeriveDataSettings(spec, origins);
  } else {
    FillTrainingDefaults(spec, origins);
  }
  FillEnvironmentDefaults(spec);
  FillTorchrunEnv(spec, origins);
}

void FillOrigins(const v1::JobSpec& spec, const std::string& origin, Origins& origins) {
  FillOriginsOf(spec, "", origin, origins);
}

}  // namespace trainyard

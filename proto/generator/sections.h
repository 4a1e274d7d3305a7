// The sections of a job file that trainyard-trainer reads, and their names in generated code.
#ifndef TRAINYARD_PROTO_GENERATOR_SECTIONS_H_
#define TRAINYARD_PROTO_GENERATOR_SECTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace trainyard {

struct GeneratedFile {
  std::string path;  // Relative to the root of the sources: "proto/contract/model_config.h".
  std::string text;
};

// First line of each generated file.
inline constexpr char kGeneratedFrom[] =
    "// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.\n";

inline constexpr std::size_t kWidestLine = 100;

// Returns the fields of JobSpec whose sections have the option `read_by_trainer`, in the order of
// job_spec.proto.
std::vector<const google::protobuf::FieldDescriptor*> SectionFields();

// Returns the fields of a section that are settings of the trainer.
std::vector<const google::protobuf::FieldDescriptor*> SettingFields(
    const google::protobuf::Descriptor& section);

// "model" -> "model_config.h".
std::string HeaderName(const google::protobuf::FieldDescriptor& section);

// "ModelSpec" -> "ModelConfig".
std::string StructName(const google::protobuf::Descriptor& section);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_SECTIONS_H_

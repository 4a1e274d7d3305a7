// Decodes one YAML document into a JobSpec, by reflection. Collects all errors instead of stopping.
#ifndef TRAINYARD_PROTO_JOBSPEC_DECODER_H_
#define TRAINYARD_PROTO_JOBSPEC_DECODER_H_

#include <set>
#include <string>
#include <vector>

#include "proto/jobspec/origins.h"
#include "proto/jobspec/reader.h"
#include "trainyard/v1/job_spec.pb.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// Accumulated result of decoding one or several files.
struct DecodeContext {
  v1::JobSpec spec;
  Origins origins;
  // "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?"
  std::vector<std::string> errors;
  // Keys with unreadable values: later rules do not report them as missing.
  std::set<std::string> failed_keys;
  // Keys written by the current layer: one file, or all overrides together.
  std::set<std::string> written;
};

// The references in `extends:` of a parsed file. Errors are added to the context.
std::vector<std::string> ReadExtends(const YAML::Node& root, const std::string& display_name,
                                     DecodeContext& context);

// Applies every key of the file to the context: maps merge, lists and scalars replace, null clears.
// Relative paths are resolved against `directory`; if it is empty they are rejected.
void DecodeJobFile(const YAML::Node& root, const std::string& display_name,
                   const std::string& directory, DecodeContext& context);

// Applies "train.steps=200" or "env.NCCL_DEBUG=WARN". The value null clears a key and removes a
// variable.
void DecodeOverride(const std::string& override_text, const std::string& directory,
                    DecodeContext& context);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DECODER_H_

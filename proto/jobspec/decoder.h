// One YAML document onto a JobSpec, by reflection. Collects every error instead of stopping.
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

// Result of decoding one or several files so far.
struct DecodeContext {
  v1::JobSpec spec;
  Origins origins;
  // "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?"
  std::vector<std::string> errors;
  // Keys that were written but could not be read: later rules do not call them missing.
  std::set<std::string> failed_keys;
  // Keys that the current layer wrote: one file, or all overrides together.
  std::set<std::string> written;
};

// Parses the text of one file. INVALID_ARGUMENT for what is not one YAML mapping in UTF-8 within
// kMaxJobFileBytes; the message begins with "name:line:column: ".
absl::StatusOr<YAML::Node> ParseYaml(const JobFileText& file);

// The references after `extends:` of a parsed file; errors go to the context.
std::vector<std::string> ReadExtends(const YAML::Node& root, const std::string& display_name,
                                     DecodeContext& context);

// Applies every key of the file to the context: maps merge, lists and scalars replace, null clears.
// Relative paths are made absolute from `directory`; when it is empty they are refused.
void DecodeJobFile(const YAML::Node& root, const std::string& display_name,
                   const std::string& directory, DecodeContext& context);

// Applies "train.steps=200" or "env.NCCL_DEBUG=WARN"; the value null clears a key and removes a
// variable.
void DecodeOverride(const std::string& override_text, const std::string& directory,
                    DecodeContext& context);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DECODER_H_

// Decodes one YAML document into a JobSpec by reflection. Continues after an error, so that all
// errors are collected.
#ifndef TRAINYARD_PROTO_JOBSPEC_DECODER_H_
#define TRAINYARD_PROTO_JOBSPEC_DECODER_H_

#include <set>
#include <string>
#include <vector>

#include "proto/jobspec/fields/origins.h"
#include "proto/jobspec/fields/reader.h"
#include "trainyard/v1/job_spec.pb.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// The result of decoding one or more files.
struct DecodeContext {
  v1::JobSpec spec;
  Origins origins;
  // For example "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?".
  std::vector<std::string> errors;
  // The keys whose values could not be read. Later rules do not report these keys as missing.
  std::set<std::string> failed_keys;
  // The keys that the current layer has written. A layer is one file, or all overrides together.
  std::set<std::string> written;
};

// Returns the references in `extends:` of a parsed file. Adds errors to the context.
std::vector<std::string> ReadExtends(const YAML::Node& root, const std::string& display_name,
                                     DecodeContext& context);

// Applies every key of the file to the context. Maps are merged, lists and scalars replace earlier
// values, and null clears a value. Relative paths are resolved against `directory`, or rejected if
// `directory` is empty.
void DecodeJobFile(const YAML::Node& root, const std::string& display_name,
                   const std::string& directory, DecodeContext& context);

// A setting that does not come from a file.
struct WrittenSetting {
  std::string origin;  // Origin of the value, and the beginning of error messages.
  std::string key;     // Dotted key, such as "train.lr".
  std::string text;    // The value, as in a job file.
};

// Applies a setting. The value null clears a key or removes a variable.
void DecodeSetting(const WrittenSetting& setting, const std::string& directory,
                   DecodeContext& context);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DECODER_H_

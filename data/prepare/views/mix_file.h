// Reads the file of `data mix`, which names data sets and their weights.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_MIX_FILE_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_MIX_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/contract/data_config.h"

namespace trainyard::data {

// Reads a YAML file of at most 1 MiB with the settings `blend` and `blend_stages`, written as in
// section `data` of a job file. Makes relative paths absolute; they are relative to the file's
// directory. The rules of the job file apply (proto/rules). Errors begin with the path of the file:
// NotFound if it cannot be read, otherwise InvalidArgument.
absl::StatusOr<DataConfig> ReadMixFile(const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_MIX_FILE_H_

// Reads from the controller's settings where the stores are.
#ifndef TRAINYARD_CONTROLLER_STORAGE_STORE_SETTING_H_
#define TRAINYARD_CONTROLLER_STORAGE_STORE_SETTING_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// Returns store.postgres of a configuration file (deploy/README.md): a connection string of libpq.
// `flag` replaces the value of the file. Empty: the stores are in the data directory.
// INVALID_ARGUMENT: the message names the key.
absl::StatusOr<std::string> ReadPostgresSetting(const std::string& yaml, const std::string& flag);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_STORE_SETTING_H_

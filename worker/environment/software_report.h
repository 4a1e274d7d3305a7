// Reports the software with which a rank runs, as a line of telemetry.
#ifndef TRAINYARD_WORKER_ENVIRONMENT_SOFTWARE_REPORT_H_
#define TRAINYARD_WORKER_ENVIRONMENT_SOFTWARE_REPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "worker/core/environment_options.h"
#include "worker/environment/captured_program.h"

namespace trainyard::worker {

// Returns a command in the rank's environment: in the container, if there is one.
using InEnvironment = std::function<std::vector<std::string>(std::vector<std::string> command)>;

// The versions of CUDA and NCCL among packages such as "nvidia-nccl-cu12==2.21.5".
struct LibraryVersions {
  std::string cuda;
  std::string nccl;
};
LibraryVersions VersionsIn(const std::vector<std::string>& packages);

// Returns the version in the text of /proc/driver/nvidia/version; empty if there is none.
std::string DriverVersion(const std::string& text);

// Runs the rank's Python interpreter, or python3 if the rank runs another program, and returns a
// line of telemetry with the interpreter, the packages, the driver and the image. Takes at most 20
// s, or with a container setup_timeout and 20 s. Failures are part of the line.
std::string SoftwareLine(const EnvironmentOptions& options, const Variables& variables,
                         const InEnvironment& in_environment);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ENVIRONMENT_SOFTWARE_REPORT_H_

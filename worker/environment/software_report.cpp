#include "worker/environment/software_report.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/clock.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::seconds kProgramLimit{20};
constexpr std::size_t kMaxReportBytes = 1 << 20;

// Prints the interpreter and the names and versions of all packages. It imports no package, because
// an import of torch takes seconds.
constexpr char kProbe[] = R"(
import importlib.metadata, json, platform, sys
packages = set()
for each in importlib.metadata.distributions():
    name = each.metadata["Name"]
    if name:
        packages.add(name.lower().replace("_", "-") + "==" + str(each.version))
print(json.dumps({"interpreter": sys.executable, "version": platform.python_version(),
                  "packages": sorted(packages)}))
)";

std::string InterpreterOf(const std::vector<std::string>& command) {
  const std::string name = std::filesystem::path(command.front()).filename().string();
  return absl::StartsWith(name, "python") ? command.front() : "python3";
}

// The first start of a container downloads its image, which must not be interrupted.
std::chrono::milliseconds ProbeLimit(const EnvironmentOptions& options) {
  const std::chrono::seconds download(options.launcher.empty() ? 0 : options.setup_timeout_s);
  return std::max(kProgramLimit, download);
}

absl::StatusOr<nlohmann::json> Probe(const EnvironmentOptions& options, const Variables& variables,
                                     const InEnvironment& in_environment) {
  TRAINYARD_ASSIGN_OR_RETURN(const CapturedOutput output,
                             Capture(in_environment({InterpreterOf(options.command), "-c", kProbe}),
                                     variables, ProbeLimit(options), kMaxReportBytes));
  if (output.exit_code != 0) {
    return absl::UnavailableError(
        absl::StrCat("the interpreter exited with code ", output.exit_code));
  }
  nlohmann::json report = nlohmann::json::parse(output.text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return absl::UnavailableError("the interpreter printed other text");
  return report;
}

// Returns the digest of podman's image. The other launchers do not report one.
std::string ImageDigest(const EnvironmentOptions& options, const Variables& variables) {
  if (options.launcher != "podman") return "";
  const absl::StatusOr<CapturedOutput> output =
      Capture({"podman", "image", "inspect", "--format", "{{.Digest}}", options.image}, variables,
              kProgramLimit, kMaxReportBytes, ErrorOutput::kDiscarded);
  if (!output.ok() || output->exit_code != 0) return "";
  return std::string(absl::StripAsciiWhitespace(output->text));
}

std::string TextAt(const nlohmann::json& report, const char* key) {
  const auto found = report.find(key);
  return found == report.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::vector<std::string> PackagesIn(const nlohmann::json& report) {
  std::vector<std::string> packages;
  const auto found = report.find("packages");
  if (found == report.end() || !found->is_array()) return packages;
  for (const nlohmann::json& package : *found) {
    const bool is_word =
        package.is_string() && package.get<std::string>().find_first_of(" \n") == std::string::npos;
    if (is_word) packages.push_back(package.get<std::string>());
  }
  return packages;
}

// Returns the packages that fit, separated by blanks. Sets `omitted` to the number of the others.
std::string PackageText(const std::vector<std::string>& packages, int64_t& omitted) {
  std::string text;
  omitted = 0;
  for (const std::string& package : packages) {
    if (text.size() + package.size() + 1 > kMaxEnvironmentPackagesBytes) {
      ++omitted;
    } else {
      absl::StrAppend(&text, text.empty() ? "" : " ", package);
    }
  }
  return text;
}

}  // namespace

LibraryVersions VersionsIn(const std::vector<std::string>& packages) {
  LibraryVersions versions;
  for (const std::string& package : packages) {
    const std::vector<std::string> parts = absl::StrSplit(package, absl::MaxSplits("==", 1));
    if (parts.size() != 2) continue;
    if (absl::StartsWith(parts[0], "nvidia-cuda-runtime")) versions.cuda = parts[1];
    if (absl::StartsWith(parts[0], "nvidia-nccl")) versions.nccl = parts[1];
    // The version of torch names the CUDA for which it was built, as in "2.3.0+cu121".
    const std::size_t build = parts[1].find("+cu");
    const std::string digits = build == std::string::npos ? "" : parts[1].substr(build + 3);
    if (parts[0] == "torch" && digits.size() >= 3 && versions.cuda.empty()) {
      versions.cuda =
          absl::StrCat(digits.substr(0, digits.size() - 1), ".", digits.substr(digits.size() - 1));
    }
  }
  return versions;
}

std::string DriverVersion(const std::string& text) {
  for (const absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n\t"))) {
    const bool is_version = !word.empty() && absl::ascii_isdigit(word.front()) &&
                            word.find('.') != absl::string_view::npos &&
                            word.find_first_not_of("0123456789.") == absl::string_view::npos;
    if (is_version) return std::string(word);
  }
  return "";
}

std::string SoftwareLine(const EnvironmentOptions& options, const Variables& variables,
                         const InEnvironment& in_environment) {
  const absl::StatusOr<nlohmann::json> probed = Probe(options, variables, in_environment);
  const nlohmann::json report = probed.value_or(nlohmann::json::object());
  const std::vector<std::string> packages = PackagesIn(report);
  const LibraryVersions versions = VersionsIn(packages);
  int64_t omitted = 0;
  nlohmann::json line = {
      {telemetry::kType, telemetry::kEnvironment},
      {telemetry::kTimeMs, SystemClock().Now()},
      {telemetry::kInterpreter, TextAt(report, "interpreter")},
      {telemetry::kInterpreterVersion, TextAt(report, "version")},
      {telemetry::kDriver,
       DriverVersion(ReadSmallFile("/proc/driver/nvidia/version").value_or(""))},
      {telemetry::kCuda, versions.cuda},
      {telemetry::kNccl, versions.nccl},
      {telemetry::kImage, options.image},
      {telemetry::kImageDigest, options.image.empty() ? "" : ImageDigest(options, variables)},
      {telemetry::kPackages, PackageText(packages, omitted)},
      {telemetry::kProblem,
       probed.ok() ? "" : absl::StrCat("no Python interpreter: ", Text(probed.status()))}};
  line[telemetry::kPackagesOmitted] = omitted;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::worker

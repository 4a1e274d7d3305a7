#include "controller/core/decide/environment_record.h"

#include <string>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

std::string Bounded(const std::string& text) {
  return std::string(Utf8Prefix(text, kMaxEnvironmentTextBytes));
}

// Copies packages until their limit is reached, and counts the others.
void CopyPackages(const v1::EnvironmentRecord& from, v1::EnvironmentRecord& to) {
  std::size_t bytes = 0;
  for (const std::string& package : from.packages()) {
    bytes += package.size() + 1;
    if (bytes > kMaxEnvironmentPackagesBytes) break;
    to.add_packages(package);
  }
  to.set_packages_omitted(from.packages_omitted() + from.packages_size() - to.packages_size());
}

}  // namespace

std::vector<v1::Event> DecideEnvironment(const JobEntry& entry, const ReceiveTelemetry& request,
                                         v1::Event event) {
  if (request.attempt <= entry.job.environment().attempt()) return {};
  const v1::EnvironmentRecord& record = request.record.environment();
  v1::EnvironmentRecorded& recorded = *event.mutable_environment_recorded();
  recorded.set_job_id(entry.job.id());
  v1::EnvironmentRecord& bounded = *recorded.mutable_environment();
  bounded.set_attempt(request.attempt);
  bounded.set_interpreter(Bounded(record.interpreter()));
  bounded.set_interpreter_version(Bounded(record.interpreter_version()));
  bounded.set_driver(Bounded(record.driver()));
  bounded.set_cuda(Bounded(record.cuda()));
  bounded.set_nccl(Bounded(record.nccl()));
  bounded.set_image(Bounded(record.image()));
  bounded.set_image_digest(Bounded(record.image_digest()));
  bounded.set_problem(Bounded(record.problem()));
  CopyPackages(record, bounded);
  std::vector<v1::Event> events;
  events.push_back(std::move(event));
  return events;
}

}  // namespace trainyard::controller

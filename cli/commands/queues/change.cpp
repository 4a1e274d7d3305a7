#include "cli/commands/queues/change.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/output/cluster/queue_views.h"
#include "cli/output/files/stable_json.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

v1::SlotQuota& QuotaOf(v1::DeviceKind device, v1::Queue& queue) {
  for (v1::SlotQuota& quota : *queue.mutable_quotas()) {
    if (quota.device() == device) return quota;
  }
  v1::SlotQuota& added = *queue.add_quotas();
  added.set_device(device);
  return added;
}

// Sets a limit for each "KIND=SLOTS".
template <typename Set>
absl::Status SetLimits(const char* option, const std::vector<std::string>& texts, const Set& set,
                       v1::Queue& queue) {
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    const auto* kind = EnumValueByShortName(*v1::DeviceKind_descriptor(), parts.first);
    int slots = 0;
    if (kind == nullptr || kind->number() == 0 || !absl::SimpleAtoi(parts.second, &slots)) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, " ", text, ": write KIND=SLOTS, such as gpu=64; 0 is no limit"));
    }
    set(slots, QuotaOf(static_cast<v1::DeviceKind>(kind->number()), queue));
  }
  return absl::OkStatus();
}

// Returns the present settings of the queue, or those of a new queue.
absl::StatusOr<v1::Queue> PresentQueue(const std::string& name, Client& client) {
  v1::ListQueuesRequest request;
  request.set_limit(1);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListQueuesResponse response, client.ListQueues(request));
  for (const v1::QueueState& state : response.queues()) {
    if (state.queue().name() == name) return state.queue();
  }
  v1::Queue queue;
  queue.set_name(name);
  return queue;
}

absl::Status Change(const QueueSetOptions& options, v1::Queue& queue) {
  if (options.shares.has_value()) queue.set_shares(*options.shares);
  if (options.tier.has_value()) queue.set_tier(*options.tier);
  TRAINYARD_RETURN_IF_ERROR(SetLimits(
      "--nominal", options.nominal,
      [](int slots, v1::SlotQuota& quota) { quota.set_nominal(slots); }, queue));
  TRAINYARD_RETURN_IF_ERROR(SetLimits(
      "--max", options.max_slots,
      [](int slots, v1::SlotQuota& quota) { quota.set_max_slots(slots); }, queue));
  return SetLimits(
      "--max-per-user", options.max_slots_per_user,
      [](int slots, v1::SlotQuota& quota) { quota.set_max_slots_per_user(slots); }, queue);
}

}  // namespace

void AddQueueSet(CLI::App& queue, Grammar& grammar) {
  const auto options = std::make_shared<QueueSetOptions>();
  CLI::App* command = queue.add_subcommand("set", "Create a queue or change its settings");
  command->add_option("name", options->name, "name of the queue")->required();
  command->add_option("--shares", options->shares,
                      "share of the slots over time, relative to other queues (default: 1)");
  command->add_option("--tier", options->tier,
                      "jobs of a higher tier are placed first, -100 to 100 (default: 0)");
  command
      ->add_option("--nominal", options->nominal,
                   "KIND=SLOTS below which the queue precedes queues that borrow")
      ->allow_extra_args(false);
  command->add_option("--max", options->max_slots, "limit on the slots of the queue, as KIND=SLOTS")
      ->allow_extra_args(false);
  command
      ->add_option("--max-per-user", options->max_slots_per_user,
                   "limit on the slots of each user in the queue, as KIND=SLOTS")
      ->allow_extra_args(false);
  grammar.runners[command] = [options](Context& context) { return RunQueueSet(*options, context); };
}

void AddQueueDelete(CLI::App& queue, Grammar& grammar) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = queue.add_subcommand("delete", "Delete a queue without jobs");
  command->add_option("name", *name, "name of the queue")->required();
  grammar.runners[command] = [name](Context& context) { return RunQueueDelete(*name, context); };
}

Outcome RunQueueSet(const QueueSetOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(v1::Queue queue, PresentQueue(options.name, context.client));
  TRAINYARD_RETURN_IF_ERROR(Change(options, queue));
  v1::SetQueueRequest request;
  *request.mutable_queue() = std::move(queue);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::SetQueueResponse response, context.client.SetQueue(request));
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(response.queue()), options.name, context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "queue " << options.name << ": "
                       << QueueSettingsText(response.queue().queue()) << "\n";
  return ExitCode::kOk;
}

Outcome RunQueueDelete(const std::string& name, Context& context) {
  v1::DeleteQueueRequest request;
  request.set_name(name);
  request.set_user(context.environment.user);
  TRAINYARD_RETURN_IF_ERROR(context.client.DeleteQueue(request).status());
  if (IsTable(context.format)) *context.console.out << "queue " << name << " deleted\n";
  return ExitCode::kOk;
}

}  // namespace trainyard::cli

#include "controller/core/schedule/gang_finder.h"

#include <algorithm>

#include "controller/core/schedule/admission.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/nodes/node_groups.h"

namespace trainyard::controller {
namespace {

std::optional<v1::GrantedLayout> CopyOf(const v1::GrantedLayout* choice) {
  return choice == nullptr ? std::nullopt : std::optional(*choice);
}

}  // namespace

bool GangFinder::AwaitsChoice(const JobEntry& entry, const GangShape& shape) {
  const GangRequest request = GangRequestOf(entry.job.spec());
  if (!request.auto_layout) return false;
  // Without slots of a usable kind, no layout choice is needed yet, because the job waits for
  // slots.
  const std::vector<std::string>& devices = DevicesFor(entry, request);
  // The head's promise and preemptions for it need the layout of the smallest shape.
  for (const std::string& device : devices) {
    if (!request.elastic) break;
    GangShape least = shape;
    least.device = device;
    ChoiceFor(entry, least);
  }
  return !devices.empty() && std::ranges::all_of(devices, [&](const std::string& device) {
    return FindChoice(entry, {entry.job.id(), shape, device}) == nullptr;
  });
}

std::optional<FoundGang> GangFinder::FindFewerKept(const JobEntry& entry) {
  return ForEachDevice(entry, [&](const GangRequest& on_device) {
    if (on_device.elastic) return FindElastic(entry, on_device, ElasticNodes::kKept);
    auto fewer = FindFewerSpares(entry, on_device, /*with_free=*/false);
    return fewer.has_value() ? fewer : FindFewer(entry, on_device, /*with_free=*/false);
  });
}

const v1::GrantedLayout* GangFinder::ChoiceFor(const JobEntry& entry, const GangShape& shape) {
  LayoutQuestion question{entry.job.id(), shape, shape.device};
  const v1::GrantedLayout* choice = FindChoice(entry, question);
  const bool is_new =
      choice == nullptr && asked_.emplace(question.job_id, shape.nodes, shape.device).second;
  if (is_new) questions_.push_back(std::move(question));
  return choice;
}

const std::vector<std::string>& GangFinder::DevicesFor(const JobEntry& entry,
                                                       const GangRequest& request) {
  const auto [found, is_new] =
      devices_.try_emplace({request.kind, request.Least().nodes, request.slots_per_node,
                            PlacementKey(entry.job.spec())});
  if (is_new) found->second = DevicesForLayouts(state_, entry.job.spec(), request.Least());
  return found->second;
}

std::optional<FoundGang> GangFinder::ForEachDevice(
    const JobEntry& entry,
    const std::function<std::optional<FoundGang>(const GangRequest&)>& find) {
  GangRequest request = GangRequestOf(entry.job.spec());
  if (!request.auto_layout) return find(request);
  for (const std::string& device : DevicesFor(entry, request)) {
    request.device = device;
    if (auto found = find(request)) return found;
  }
  return std::nullopt;
}

std::optional<FoundGang> GangFinder::FindElastic(const JobEntry& entry, const GangRequest& request,
                                                 ElasticNodes nodes) {
  const auto layout_on = [&](int most) -> std::optional<v1::GrantedLayout> {
    if (!request.auto_layout) return WrittenLayoutOn(entry.job.spec(), most);
    const v1::GrantedLayout* choice = ChoiceFor(entry, request.ShapeOn(most));
    if (choice == nullptr || choice->nodes() == 0) return std::nullopt;
    return *choice;
  };
  return ElasticSearch(state_, quotas_, pass_).Find(entry, request, nodes, layout_on);
}

std::optional<FoundGang> GangFinder::FindAgain(const JobEntry& entry) {
  return ForEachDevice(entry,
                       [&](const GangRequest& request) { return FindAgainOn(entry, request); });
}

std::optional<FoundGang> GangFinder::FindAgainOn(const JobEntry& entry,
                                                 const GangRequest& request) {
  if (request.elastic) return FindElastic(entry, request, ElasticNodes::kAllOfNewest);
  const v1::GrantedLayout* choice =
      request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
  if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
  auto gang = pass_.PlaceAgain(entry, request.Full());
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), CopyOf(choice)};
}

std::optional<FoundGang> GangFinder::Find(const JobEntry& entry) {
  return ForEachDevice(entry, [&](const GangRequest& request) { return FindOn(entry, request); });
}

std::optional<FoundGang> GangFinder::FindOn(const JobEntry& entry, const GangRequest& request) {
  if (request.elastic) return FindElastic(entry, request, ElasticNodes::kKeptAndFree);
  const v1::GrantedLayout* choice =
      request.auto_layout ? ChoiceFor(entry, request.Full()) : nullptr;
  if (request.auto_layout && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
  if (auto gang = pass_.Place(entry, request.Full())) {
    return FoundGang{*std::move(gang), CopyOf(choice)};
  }
  const bool recovers = state_.reservations.contains(entry.job.id());
  if (!recovers && !LacksNodesSincePause(entry, request)) return std::nullopt;
  // Fewer spares are tried even during the job's backoff. If a gang is found, the job keeps its
  // slots for this pass and does not block the queue.
  if (auto fewer = FindFewerSpares(entry, request, /*with_free=*/true)) return fewer;
  if (!IsDue(entry, now_)) return std::nullopt;
  if (auto fewer = FindFewer(entry, request, /*with_free=*/true)) return fewer;
  if (!recovers) return std::nullopt;
  auto gang = pass_.PlaceOverReservations(entry, request.WithoutSpares());
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), CopyOf(choice)};
}

bool GangFinder::LacksNodesSincePause(const JobEntry& entry, const GangRequest& request) const {
  return NewestAttempt(entry) != nullptr &&
         !CheckGangFits(state_, entry.job.spec(), request.Full()).ok();
}

std::optional<FoundGang> GangFinder::FindFewerSpares(const JobEntry& entry,
                                                     const GangRequest& request, bool with_free) {
  GangShape shape = request.Full();
  while (--shape.nodes >= request.nodes) {
    auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
    if (gang.has_value()) return FoundGang{*std::move(gang), std::nullopt};
  }
  return std::nullopt;
}

std::optional<FoundGang> GangFinder::FindFewer(const JobEntry& entry, const GangRequest& request,
                                               bool with_free) {
  if (request.min_nodes == request.nodes) return std::nullopt;
  GangShape shape = request.ShapeOn(pass_.CountUsable(entry, request.Full(), with_free));
  if (shape.nodes < request.min_nodes || shape.nodes == request.max_nodes) return std::nullopt;
  const v1::GrantedLayout* choice = ChoiceFor(entry, shape);
  if (choice == nullptr || choice->nodes() == 0) return std::nullopt;
  shape.nodes = choice->nodes();
  auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
  if (!gang.has_value()) return std::nullopt;
  return FoundGang{*std::move(gang), CopyOf(choice)};
}

}  // namespace trainyard::controller

#include "controller/api/job_files/planner_handlers.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/api/job_files/sent_job_file.h"
#include "controller/planner/answer/layout_message.h"
#include "controller/planner/answer/layout_plan.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/rules/planned_features.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The maximum price in dollars. This maximum is above the price of any GPU, and small enough that
// products with it do not overflow.
constexpr double kHighestPrice = 1e6;
constexpr std::string_view kBestLayout = "best";
constexpr std::string_view kWrittenLayout = "written";

absl::Status CheckLength(const char* key, const std::string& text) {
  if (text.size() <= kMaxIdBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(key, ": at most ", kMaxIdBytes, " bytes"));
}

absl::Status CheckAtLeastOne(const char* key, bool is_given, int64_t value) {
  if (!is_given || value >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(key, ": must be at least 1, got ", value));
}

absl::Status CheckRequest(const v1::PlanLayoutRequest& request) {
  if (request.recipe().empty() == request.job_file().empty()) {
    return absl::InvalidArgumentError("set either recipe or job_file");
  }
  if (request.device().empty()) {
    return absl::InvalidArgumentError("device: name a GPU, such as H100");
  }
  TRAINYARD_RETURN_IF_ERROR(CheckLength("recipe", request.recipe()));
  TRAINYARD_RETURN_IF_ERROR(CheckLength("device", request.device()));
  TRAINYARD_RETURN_IF_ERROR(CheckLength("network", request.network()));
  TRAINYARD_RETURN_IF_ERROR(CheckOverrides(request.overrides_size()));
  TRAINYARD_RETURN_IF_ERROR(CheckAtLeastOne("nodes", request.has_nodes(), request.nodes()));
  TRAINYARD_RETURN_IF_ERROR(
      CheckAtLeastOne("per_node", request.has_per_node(), request.per_node()));
  const std::string& layout = request.layout();
  if (!layout.empty() && layout != kBestLayout && layout != kWrittenLayout) {
    return absl::InvalidArgumentError("layout: must be best or written");
  }
  const bool is_price =
      !request.has_price() || (request.price() > 0 && request.price() <= kHighestPrice);
  if (is_price) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "price: must be in dollars per GPU-hour, above 0 and at most 1,000,000");
}

planner::ClusterRequest ClusterOf(const v1::PlanLayoutRequest& request) {
  planner::ClusterRequest cluster;
  cluster.device = request.device();
  cluster.network = request.network();
  if (request.has_nodes()) cluster.nodes = request.nodes();
  if (request.has_per_node()) cluster.per_node = request.per_node();
  return cluster;
}

absl::StatusOr<planner::LayoutPlan> PlanJob(const Api& api, const v1::PlanLayoutRequest& request) {
  const bool is_text = request.recipe().empty();
  const absl::StatusOr<ResolvedSpec> resolved =
      ResolveJobFile(is_text ? kSentJobFile : request.recipe(),
                     {request.overrides().begin(), request.overrides().end()},
                     is_text ? SentJobFileReader(request.job_file(), api.recipe_directories)
                             : RecipeReader(api.recipe_directories));
  // For a recipe that does not exist, the error is NOT_FOUND. Return INVALID_ARGUMENT instead,
  // because the request is wrong.
  if (!resolved.ok()) return absl::InvalidArgumentError(resolved.status().message());
  return planner::PlanLayout(*resolved, ClusterOf(request),
                             request.layout() == kWrittenLayout ? planner::LayoutChoice::kWritten
                                                                : planner::LayoutChoice::kBest);
}

absl::StatusOr<v1::PlanLayoutResponse> Plan(const Api& api, const v1::PlanLayoutRequest& request) {
  TRAINYARD_ASSIGN_OR_RETURN(const planner::LayoutPlan plan, PlanJob(api, request));
  return planner::LayoutMessage(plan, request.price());
}

const v1::Slot* FirstGpu(const v1::Node& node) {
  for (const v1::Slot& slot : node.inventory().slots()) {
    if (slot.kind() == v1::DEVICE_KIND_GPU) return &slot;
  }
  return nullptr;
}

void AddOwnNodes(const ClusterState& state, v1::GetPlannerResponse& response) {
  std::map<std::pair<std::string, int64_t>, int64_t> alike;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Slot* gpu = FirstGpu(entry.node);
    if (gpu == nullptr || entry.node.state() == v1::NODE_STATE_LOST) continue;
    const planner::DeviceSpec* device = planner::FindDeviceSpec(gpu->model());
    if (device == nullptr) continue;
    ++alike[{std::string(device->rating->name), TotalSlots(entry.node, v1::DEVICE_KIND_GPU)}];
  }
  for (const auto& [kind, nodes] : alike) {
    v1::PlannerNodes& own = *response.add_own_nodes();
    own.set_device(kind.first);
    own.set_per_node(kind.second);
    own.set_nodes(nodes);
  }
}

// Returns false if the recipe uses FP8, which the trainer lacks.
bool IsTrainable(const std::string& recipe, const JobFileReader& reader) {
  const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile(recipe, {}, reader);
  return !resolved.ok() || FindUntrainable(RunConfigOf(resolved->spec)).empty();
}

void AddRecipes(const Api& api, v1::GetPlannerResponse& response) {
  const JobFileReader reader = RecipeReader(api.recipe_directories);
  for (const Recipe& recipe : FindRecipes(api.recipe_directories)) {
    v1::PlannerRecipe& message = *response.add_recipes();
    message.set_name(recipe.name);
    message.set_description(recipe.description);
    message.set_trainable(IsTrainable(recipe.name, reader));
  }
}

absl::StatusOr<v1::GetRecipeResponse> ReadText(const Api& api, const std::string& recipe) {
  TRAINYARD_ASSIGN_OR_RETURN(JobFileText file, RecipeReader(api.recipe_directories)(recipe, ""));
  if (file.text.size() > kMaxJobFileBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("recipe `", recipe, "` has more than ", kMaxJobFileBytes, " bytes"));
  }
  v1::GetRecipeResponse response;
  response.set_name(recipe);
  response.set_text(std::move(file.text));
  return response;
}

}  // namespace

void handlers::GetRecipe(const Api& api, const Principal& /*principal*/,
                         v1::GetRecipeRequest request, Reply<v1::GetRecipeResponse> reply) {
  if (const absl::Status status = CheckLength("recipe", request.recipe()); !status.ok()) {
    return reply(status);
  }
  const bool queued = api.readers.TryPost(
      [&api, recipe = request.recipe(), reply] { reply(ReadText(api, recipe)); });
  if (!queued) reply(ReaderPool::Busy());
}

void handlers::PlanLayout(const Api& api, const Principal& /*principal*/,
                          v1::PlanLayoutRequest request, Reply<v1::PlanLayoutResponse> reply) {
  if (const absl::Status status = CheckRequest(request); !status.ok()) return reply(status);
  const bool queued = api.readers.TryPost(
      [&api, request = std::move(request), reply] { reply(Plan(api, request)); });
  if (!queued) reply(ReaderPool::Busy());
}

void handlers::GetPlanner(const Api& api, const Principal& /*principal*/,
                          Reply<v1::GetPlannerResponse> reply) {
  api.loop.Read([&api, reply = std::move(reply)](const ClusterView& view) {
    v1::GetPlannerResponse response = planner::PlannerTables();
    AddOwnNodes(view.state, response);
    // Recipes are read from disk, so do this on a reader thread.
    const bool queued = api.readers.TryPost([&api, response, reply]() mutable {
      AddRecipes(api, response);
      reply(std::move(response));
    });
    if (!queued) reply(ReaderPool::Busy());
  });
}

}  // namespace trainyard::controller

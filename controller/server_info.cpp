#include "controller/server_info.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"

namespace trainyard::controller {

std::vector<ListenerSetting> ListenersOf(const ControllerOptions& options) {
  std::vector<ListenerSetting> listeners;
  const auto add = [&](const char* flag, const std::string& address) {
    if (address.empty()) return;
    listeners.push_back({.flag = flag,
                         .address = address,
                         .has_token = !options.token.empty(),
                         .has_tls = !options.tls.certificate.empty(),
                         .insecure = options.insecure});
  };
  add("--listen", options.listen);
  add("--http-listen", options.http.listen);
  return listeners;
}

std::vector<std::string> Dangers(const ControllerOptions& options) {
  std::vector<std::string> dangers;
  for (const ListenerSetting& listener : ListenersOf(options)) {
    const std::string danger = DangerOf(listener);
    if (!danger.empty()) dangers.push_back(danger);
  }
  return dangers;
}

std::string AccessText(const ControllerOptions& options) {
  if (options.token.empty()) return "open";
  return options.tls.certificate.empty() ? "token" : "token and TLS";
}

std::string PageAddress(const std::string& advertise, const std::string& listen) {
  const auto own = SplitAddress(advertise);
  const auto page = SplitAddress(listen);
  if (!own.has_value() || !page.has_value()) return "";
  if (page->host == "0.0.0.0" || page->host == "::") {
    const bool is_v6 = absl::StrContains(own->host, ":");
    return absl::StrCat(is_v6 ? absl::StrCat("[", own->host, "]") : own->host, ":", page->port);
  }
  return IsLoopback(page->host) && !IsLoopback(own->host) ? "" : listen;
}

v1::GetServerInfoResponse MakeServerInfo(const ControllerOptions& options,
                                         const std::string& cluster_id, Timestamp now) {
  v1::GetServerInfoResponse info;
  info.set_version(TRAINYARD_VERSION);
  info.set_data_dir(options.data_dir);
  info.set_started_time_ms(now);
  info.set_checkpoint_root(options.checkpoint_root);
  info.set_cluster_id(cluster_id);
  info.set_access(AccessText(options));
  v1::Leadership& leadership = *info.mutable_leadership();
  leadership.set_leads(true);
  leadership.set_term(options.loop.core.leader_term);
  leadership.set_leader(options.advertise.empty() ? options.listen : options.advertise);
  leadership.set_since_ms(now);
  for (const std::string& danger : Dangers(options)) info.add_warnings(danger);
  for (const std::string& rule : DescribePolicy(options.retention.policy)) info.add_retention(rule);
  return info;
}

void AddSpace(const SpaceReport& space, v1::GetServerInfoResponse& info) {
  for (const StoreSpaceUse& store : space.stores) {
    v1::StoreSpace& added = *info.add_stores();
    added.set_store(store.store);
    added.set_used_bytes(store.usage.used_bytes);
    added.set_free_bytes(store.usage.free_bytes);
    added.set_bound_bytes(store.bound_bytes);
  }
  if (!space.clock_doubt.empty()) info.add_warnings(space.clock_doubt);
  for (const std::string& removal : space.abandoned_removals) info.add_warnings(removal);
  info.set_disk_bytes(space.disk_bytes);
  info.set_disk_free_bytes(space.disk_free_bytes);
}

}  // namespace trainyard::controller

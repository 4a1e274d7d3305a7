#include "controller/hooks/hook_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Limits of DNS names.
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("url: ", what));
}

bool IsLabel(absl::string_view label) {
  const auto is_allowed = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, is_allowed);
}

// A host name or an IPv4 address. A name must not end with a numeric label.
bool IsHost(absl::string_view host) {
  absl::ConsumeSuffix(&host, ".");
  if (host.empty() || host.size() > kHostBytesMax) return false;
  const std::vector<absl::string_view> labels = absl::StrSplit(host, '.');
  if (!std::ranges::all_of(labels, IsLabel)) return false;
  const bool is_number = std::ranges::all_of(labels.back(), absl::ascii_isdigit);
  in_addr address{};
  return !is_number || inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

// Parses and consumes the host of "HOST[:PORT]".
absl::Status TakeHost(absl::string_view& authority, HookUrl& url) {
  if (!absl::ConsumePrefix(&authority, "[")) {
    const std::size_t end = std::min(authority.find(':'), authority.size());
    url.host = std::string(authority.substr(0, end));
    authority.remove_prefix(end);
    if (IsHost(url.host)) return absl::OkStatus();
    return Wrong(absl::StrCat("`", url.host, "` is neither a host name nor an address"));
  }
  const std::size_t end = authority.find(']');
  if (end == absl::string_view::npos) return Wrong("the bracket [ of the address is not closed");
  url.host = std::string(authority.substr(0, end));
  authority.remove_prefix(end + 1);
  in6_addr address{};
  if (inet_pton(AF_INET6, url.host.c_str(), &address) == 1) return absl::OkStatus();
  return Wrong(absl::StrCat("`[", url.host, "]` is not an IPv6 address"));
}

// `rest` follows the host: empty or ":PORT".
absl::Status TakePort(absl::string_view rest, HookUrl& url) {
  url.port = url.tls ? "443" : "80";
  if (rest.empty()) return absl::OkStatus();
  const std::string all(rest);
  int port = 0;
  const bool is_port = absl::ConsumePrefix(&rest, ":") &&
                       std::ranges::all_of(rest, absl::ascii_isdigit) &&
                       absl::SimpleAtoi(rest, &port) && port >= 1 && port <= 65535;
  if (!is_port) {
    return Wrong(absl::StrCat("`", all, "` after the host is not a port from 1 to 65535"));
  }
  url.port = absl::StrCat(port);
  return absl::OkStatus();
}

}  // namespace

std::string HookUrl::HostText() const {
  const bool is_six = host.find(':') != std::string::npos;
  return is_six ? absl::StrCat("[", host, "]") : host;
}

absl::StatusOr<HookUrl> ParseHookUrl(const std::string& text) {
  HookUrl url;
  absl::string_view rest = text;
  url.tls = absl::ConsumePrefix(&rest, "https://");
  const bool is_known = url.tls || absl::ConsumePrefix(&rest, "http://");
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
  if (!is_known || !is_plain) return Wrong("this is not an http:// or https:// address");
  if (rest.find('#') != absl::string_view::npos) return Wrong("remove the fragment after #");
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  absl::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  url.target = absl::StrCat(rest.empty() || rest.front() == '?' ? "/" : "", rest);
  if (authority.find('@') != absl::string_view::npos) {
    return Wrong("remove the user and password from the address; use secret_file instead");
  }
  TRAINYARD_RETURN_IF_ERROR(TakeHost(authority, url));
  TRAINYARD_RETURN_IF_ERROR(TakePort(authority, url));
  return url;
}

}  // namespace trainyard::controller

#include "controller/http/guard.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/http/problem.h"
#include "controller/http/target.h"

namespace trainyard::controller::http {
namespace {

bool IsAddress(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  if (inet_pton(AF_INET, name.c_str(), bytes) == 1) return true;
  if (name.size() < 2 || name.front() != '[' || name.back() != ']') return false;
  return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), bytes) == 1;
}

bool ChangesSomething(const Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

// Returns true if the request comes from a page that this server itself served (same host and
// port).
bool IsSameOrigin(const Request& request) {
  return request.origin == absl::StrCat("http://", request.host) ||
         request.origin == absl::StrCat("https://", request.host);
}

}  // namespace

std::string HostName(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return absl::AsciiStrToLower(std::string(has_port ? host.substr(0, colon) : host));
}

std::vector<std::string> WithMachineName(std::vector<std::string> names) {
  for (std::string& name : names) name = absl::AsciiStrToLower(name);
  char own[256] = {};
  if (gethostname(own, sizeof own - 1) == 0) names.push_back(absl::AsciiStrToLower(own));
  return names;
}

bool IsOwnHost(std::string_view host, const std::vector<std::string>& own_names) {
  const std::string name = HostName(host);
  if (name == "localhost" || absl::EndsWith(name, ".localhost") || IsAddress(name)) return true;
  return std::ranges::find(own_names, name) != own_names.end();
}

std::string WhyRefused(const Request& request, const std::vector<std::string>& own_names) {
  if (!IsOwnHost(request.host, own_names)) return "host_not_allowed";
  if (!ChangesSomething(request)) return "";
  if (!request.origin.empty() && !IsSameOrigin(request)) return "cross_origin";
  const bool foreign = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
  return foreign ? "cross_origin" : "";
}

std::optional<Response> Refusal(const Request& request, const std::vector<std::string>& own_names) {
  const std::string code = WhyRefused(request, own_names);
  if (code.empty()) return std::nullopt;
  const std::string detail = code == "cross_origin" ? absl::StrCat("origin ", request.origin)
                                                    : absl::StrCat("host ", request.host);
  return ProblemResponse(code, detail, std::string(SplitTarget(request.target).first));
}

}  // namespace trainyard::controller::http

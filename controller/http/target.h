// Parses paths and queries of requests according to the route table.
#ifndef TRAINYARD_CONTROLLER_HTTP_TARGET_H_
#define TRAINYARD_CONTROLLER_HTTP_TARGET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/http/routes.h"

namespace trainyard::controller::http {

// Percent-decoded values by parameter name. Query values are checked against the route's
// parameters.
class Parameters {
 public:
  void Set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  bool Has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // Text, Integer, Number and Boolean return "", 0 or false if the parameter was not given.
  std::string Text(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  double Number(std::string_view name) const;
  bool Boolean(std::string_view name) const { return Text(name) == "true"; }
  // Returns the value split at commas. Empty if the parameter was not given.
  std::vector<std::string> List(std::string_view name) const;

  // Adds one value of a parameter that may occur several times.
  void Add(const std::string& name, std::string value) {
    repeated_[name].push_back(std::move(value));
  }
  // Each given value.
  const std::vector<std::string>& Repeated(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::vector<std::string>, std::less<>> repeated_;
};

struct RouteMatch {
  const Route* route = nullptr;
  Parameters parameters;
  // If the path does not support the requested method: the methods that the path supports.
  std::vector<std::string_view> other_methods;
};

// Splits the target at the first '?'.
std::pair<std::string_view, std::string_view> SplitTarget(std::string_view target);

// INVALID_ARGUMENT: the text has a '%' without two hexadecimal digits after it, or bytes that are
// not UTF-8.
absl::StatusOr<std::string> PercentDecode(std::string_view text, bool plus_is_space);

// Finds the route of a path below kApiPrefix. If the path has no route for this method, `route` is
// null and `other_methods` lists the methods that the path supports; the list is empty if the path
// does not exist. INVALID_ARGUMENT: the path is malformed.
absl::StatusOr<RouteMatch> MatchRoute(std::string_view method, std::string_view path);

// Adds the values of the query. INVALID_ARGUMENT: a parameter is unknown or repeated, or its value
// has the wrong type or is out of bounds. The message names the parameter.
absl::Status AddQuery(std::string_view query, const Route& route, Parameters& parameters);

// Parses "0,8-15" into numbers. INVALID_ARGUMENT: the text is malformed, or it has more than 16,384
// numbers.
absl::StatusOr<std::vector<int>> ParseRanks(const std::string& text);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_TARGET_H_

// A parameter of a route, in its path or its query.
#ifndef TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_
#define TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_

#include <string_view>

namespace trainyard::controller::http {

enum class ParameterType { kText, kInteger, kNumber, kBoolean, kEnum };

struct Parameter {
  std::string_view name;
  ParameterType type = ParameterType::kText;
  std::string_view doc;
  // kEnum: full name of the proto enum, or the values themselves, separated by commas.
  std::string_view values = "";
  // Accepts several values, separated by commas.
  bool list = false;
  // May be given several times, with one value each, which may contain commas.
  bool repeated = false;
  bool in_path = false;
  // Bounds of numbers; equal bounds mean no bounds.
  double min = 0;
  double max = 0;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_

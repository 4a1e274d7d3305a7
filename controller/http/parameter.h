// A parameter in the path or the query of a route.
#ifndef TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_
#define TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_

#include <string_view>

namespace trainyard::controller::http {

enum class ParameterType { kText, kInteger, kNumber, kBoolean, kEnum };

struct Parameter {
  std::string_view name;
  ParameterType type = ParameterType::kText;
  std::string_view doc;
  // For kEnum: the full name of the proto enum, or the allowed values, separated by commas.
  std::string_view values = "";
  // True if the parameter accepts several values, separated by commas.
  bool list = false;
  // True if the parameter may occur several times. Each occurrence has one value, which may contain
  // commas.
  bool repeated = false;
  bool in_path = false;
  // The bounds of a number. If both are equal, the number has no bounds.
  double min = 0;
  double max = 0;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PARAMETER_H_

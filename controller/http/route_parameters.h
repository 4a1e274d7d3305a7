// Parameter lists that are long or shared by several routes.
#ifndef TRAINYARD_CONTROLLER_HTTP_ROUTE_PARAMETERS_H_
#define TRAINYARD_CONTROLLER_HTTP_ROUTE_PARAMETERS_H_

#include <string_view>
#include <vector>

#include "controller/http/parameter.h"

namespace trainyard::controller::http {

// 2^53 - 1, the largest integer that JavaScript represents exactly.
inline constexpr double kLargest = 9007199254740991;

inline constexpr std::string_view kListFields = "Only these fields of each element (default: all).";

Parameter JobInPath();
Parameter NodeInPath();
Parameter HistoryHours();
std::vector<Parameter> ExpertsParameters();
std::vector<Parameter> ArrayParameters();
Parameter Limit(double max, std::string_view doc);
Parameter Cursor();
Parameter Fields(std::string_view doc);

std::vector<Parameter> JobListParameters();
std::vector<Parameter> SeriesParameters();
// Returns SeriesParameters without the job, its attempts and the format.
std::vector<Parameter> CompareParameters();
std::vector<Parameter> LogParameters();
std::vector<Parameter> StreamParameters();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ROUTE_PARAMETERS_H_

// Reads metric series for the axis that a chart requests. Error codes: metric_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_SERIES_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_SERIES_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void GetSeries(const Api& api, const Principal& principal, v1::GetSeriesRequest request,
               Reply<v1::GetSeriesResponse> reply);
// Returns series of several jobs in one answer.
void CompareSeries(const Api& api, const Principal& principal, v1::CompareSeriesRequest request,
                   Reply<v1::CompareSeriesResponse> reply);
void ListKeys(const Api& api, const Principal& principal, v1::ListKeysRequest request,
              Reply<v1::ListKeysResponse> reply);

}  // namespace handlers

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_SERIES_H_

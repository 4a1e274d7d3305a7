// A page of metrics, read as a scraper does.
#ifndef TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_
#define TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

#include <string>

namespace trainyard::test {

// Body of GET http://ADDRESS/PATH; empty, with a test failure, unless the answer is of that status.
std::string HttpGet(const std::string& address, const std::string& path, int status = 200);

// One line for each family, sorted: "gauge trainyard_jobs{state}". Everything but the values: what
// dashboards and alert rules build on. Test failures for what Prometheus would refuse or drop: the
// same series twice, a sample without a type, labels `job` and `instance`.
std::string ShapeOf(const std::string& page);

// Value of one series as the page writes it, such as `trainyard_jobs{state="running"}`; a test
// failure and NaN when it is not there.
double ValueOf(const std::string& page, const std::string& series);

// Compares with tests/deploy/golden/NAME, whose content lint and dashboards rely on. With
// TRAINYARD_UPDATE_GOLDEN=1 in the environment it writes the file instead.
void ExpectGolden(const std::string& name, const std::string& text);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

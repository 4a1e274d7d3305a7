// A page of metrics, read like a scraper.
#ifndef TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_
#define TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

#include <string>

namespace trainyard::test {

// Body of GET http://ADDRESS/PATH. Empty, with a test failure, if the answer has another status.
std::string HttpGet(const std::string& address, const std::string& path, int status = 200);

// One line per family, sorted: "gauge trainyard_jobs{state}". Contains everything except the
// values: the parts on which dashboards and alert rules depend. Fails the test for anything that
// Prometheus would reject or drop: duplicate series, a sample without a type, labels `job` and
// `instance`.
std::string ShapeOf(const std::string& page);

// Value of one series, named as on the page, such as `trainyard_jobs{state="running"}`. If it is
// missing, fails the test and returns NaN.
double ValueOf(const std::string& page, const std::string& series);

// Compares with tests/deploy/golden/NAME, on whose content lint and dashboards rely. With
// TRAINYARD_UPDATE_GOLDEN=1 in the environment, writes the file instead.
void ExpectGolden(const std::string& name, const std::string& text);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

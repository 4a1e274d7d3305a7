// Reads a metrics page as a scraper does.
#ifndef TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_
#define TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

#include <string>

namespace trainyard::test {

// Returns the body of GET http://ADDRESS/PATH. If the status of the answer is not `status`, fails
// the test and returns "".
std::string HttpGet(const std::string& address, const std::string& path, int status = 200);

// Returns one line per metric family, sorted, such as "gauge trainyard_jobs{state}". The lines omit
// values, but contain everything else on which dashboards and alert rules depend. Fails the test
// for anything that Prometheus would reject or drop: duplicate series, a sample without a type, and
// the labels `job` and `instance`.
std::string ShapeOf(const std::string& page);

// Returns the value of one series, named as on the page, such as `trainyard_jobs{state="running"}`.
// If the series is missing, fails the test and returns NaN.
double ValueOf(const std::string& page, const std::string& series);

// Compares `text` with tests/deploy/golden/NAME, which the lint and the dashboards use. If
// TRAINYARD_UPDATE_GOLDEN=1 is set in the environment, writes the file instead.
void ExpectGolden(const std::string& name, const std::string& text);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_DEPLOY_METRIC_PAGE_H_

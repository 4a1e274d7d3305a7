// Sends requests to a controller's HTTP server, using Python's HTTP client.
#ifndef TRAINYARD_TESTS_INTEGRATION_HTTP_CALLS_H_
#define TRAINYARD_TESTS_INTEGRATION_HTTP_CALLS_H_

#include <string>
#include <vector>

#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

struct HttpAnswer {
  int status = 0;
  std::string text;
  std::string cookie;
  std::string content_type;
};

struct HttpRequest {
  std::string method;
  std::string url;
  // Body of POST.
  std::string body = "{}";
};

// Sends requests one after the other. All have the given headers ("Name: value"). For https,
// `trust` is the certificate to trust.
std::vector<HttpAnswer> HttpAll(const std::vector<HttpRequest>& requests,
                                const std::vector<std::string>& headers,
                                const std::string& trust = "-");

HttpAnswer Http(const std::string& method, const std::string& url,
                const std::vector<std::string>& headers = {}, const std::string& trust = "-");

std::string HttpUrl(const MiniCluster& cluster, const std::string& path);

// Logs in as the dashboard's page does: exchanges the code in `address` for a session. `address` is
// the output of `trainyard dashboard`.
HttpAnswer LogIn(const std::string& address, const std::string& trust = "-");

// Returns the header that contains the session of a login.
std::string SessionHeader(const HttpAnswer& login);

std::string FirstLine(const std::string& text);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_HTTP_CALLS_H_

// Requests to a controller's HTTP side, by Python's client.
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

// Sends requests one after the other, with the same headers ("Name: value"). `trust`: a certificate
// for https.
std::vector<HttpAnswer> HttpAll(const std::vector<HttpRequest>& requests,
                                const std::vector<std::string>& headers,
                                const std::string& trust = "-");

HttpAnswer Http(const std::string& method, const std::string& url,
                const std::vector<std::string>& headers = {}, const std::string& trust = "-");

// URL of the path on the cluster's controller.
std::string HttpUrl(const MiniCluster& cluster, const std::string& path);

// Exchanges the code in an address printed by `trainyard dashboard` for a session, like the page.
HttpAnswer LogIn(const std::string& address, const std::string& trust = "-");

// Header with the session of a login.
std::string SessionHeader(const HttpAnswer& login);

std::string FirstLine(const std::string& text);

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_HTTP_CALLS_H_

#include "tests/integration/http_calls.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace trainyard::test {

std::vector<HttpAnswer> HttpAll(const std::vector<HttpRequest>& requests,
                                const std::vector<std::string>& headers, const std::string& trust) {
  constexpr char kSend[] = R"(import json, ssl, sys, urllib.error, urllib.request
requests, trust, *headers = sys.argv[1:]
context = ssl.create_default_context(cafile=trust) if trust != "-" else None
answers = []
for method, url, body in json.loads(requests):
    data = body.encode() if method == "POST" else None
    request = urllib.request.Request(url, method=method, data=data)
    for header in headers:
        request.add_header(*header.split(": ", 1))
    try:
        answer = urllib.request.urlopen(request, timeout=10, context=context)
    except urllib.error.HTTPError as error:
        answer = error
    stream = "event-stream" in answer.headers.get("Content-Type", "")
    text = "" if stream else answer.read().decode()
    answers.append([answer.status, text] +
                   [answer.headers.get(name) or "" for name in ("Set-Cookie", "Content-Type")])
print(json.dumps(answers))
)";
  auto list = nlohmann::json::array();
  for (const HttpRequest& request : requests) {
    list.push_back({request.method, request.url, request.body});
  }
  std::vector<std::string> command = {"/usr/bin/python3", "-c", kSend, list.dump(), trust};
  command.insert(command.end(), headers.begin(), headers.end());
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  std::vector<HttpAnswer> answers;
  for (const auto& json : nlohmann::json::parse(result.output, nullptr, false)) {
    if (!json.is_array()) continue;
    answers.push_back({json[0].get<int>(), json[1].get<std::string>(), json[2].get<std::string>(),
                       json[3].get<std::string>()});
  }
  answers.resize(requests.size());
  return answers;
}

HttpAnswer Http(const std::string& method, const std::string& url,
                const std::vector<std::string>& headers, const std::string& trust) {
  return HttpAll({{method, url}}, headers, trust).front();
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string HttpUrl(const MiniCluster& cluster, const std::string& path) {
  return absl::StrCat("http://", FirstLine(ReadFile(cluster.directory() + "/address.http")), path);
}

HttpAnswer LogIn(const std::string& address, const std::string& trust) {
  const std::size_t path = address.find("/login#code=");
  EXPECT_NE(path, std::string::npos) << address;
  const std::string code = address.substr(address.find('=') + 1);
  return HttpAll({{"POST", address.substr(0, path) + "/login",
                   nlohmann::json({{"code", code}}).dump()}},
                 {"Content-Type: application/json"}, trust)
      .front();
}

std::string SessionHeader(const HttpAnswer& login) {
  return "Trainyard-Session: " +
         nlohmann::json::parse(login.text).value("secret", std::string("none"));
}

}  // namespace trainyard::test

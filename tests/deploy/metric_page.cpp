#include "tests/deploy/metric_page.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "gtest/gtest.h"

namespace trainyard::test {
namespace {

int Connect(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (connected) return fd;
  close(fd);
  return -1;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A sample such as "a{x="1",y="2"} 3", split into its parts. Label values may contain spaces,
// braces and escaped quotes.
struct Sample {
  std::string name;
  std::string series;
  std::string label_names;
};

Sample ParseSample(const std::string& line) {
  Sample sample;
  sample.name = line.substr(0, line.find_first_of("{ "));
  if (line.size() <= sample.name.size() || line[sample.name.size()] != '{') {
    sample.series = sample.name;
    return sample;
  }
  bool quoted = false;
  std::string label;
  std::size_t at = sample.name.size() + 1;
  for (; at < line.size() && (quoted || line[at] != '}'); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && line[at] == '=') {
      if (label != "le") sample.label_names += (sample.label_names.empty() ? "" : ",") + label;
      EXPECT_TRUE(label != "job" && label != "instance") << line;
      label.clear();
    } else if (!quoted && line[at] != ',') {
      label += line[at];
    }
  }
  sample.series = line.substr(0, at + 1);
  return sample;
}

std::string FamilyOf(const std::string& name, const std::map<std::string, std::string>& types) {
  if (types.count(name) > 0) return name;
  for (const char* suffix : {"_bucket", "_sum", "_count"}) {
    if (!EndsWith(name, suffix)) continue;
    const std::string family = name.substr(0, name.size() - std::string(suffix).size());
    if (types.count(family) > 0) return family;
  }
  return "";
}

}  // namespace

std::string HttpGet(const std::string& address, const std::string& path, int status) {
  const int fd = Connect(address);
  EXPECT_GE(fd, 0) << "cannot connect to " << address;
  if (fd < 0) return "";
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[65536];
  for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  const std::string head = answer.substr(0, answer.find("\r\n"));
  const bool expected = head.find(" " + std::to_string(status)) != std::string::npos;
  EXPECT_TRUE(expected) << path << ": " << head;
  const std::size_t body = answer.find("\r\n\r\n");
  return !expected || body == std::string::npos ? "" : answer.substr(body + 4);
}

std::string ShapeOf(const std::string& page) {
  std::map<std::string, std::string> types;
  std::set<std::string> series;
  std::set<std::string> shapes;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# TYPE ", 0) == 0) {
      std::istringstream words(line.substr(7));
      std::string name, type;
      words >> name >> type;
      EXPECT_TRUE(types.emplace(name, type).second) << "twice: " << line;
    }
    if (line.empty() || line[0] == '#') continue;
    const Sample sample = ParseSample(line);
    EXPECT_TRUE(series.insert(sample.series).second) << "twice: " << sample.series;
    const std::string family = FamilyOf(sample.name, types);
    EXPECT_NE(family, "") << "no type: " << line;
    shapes.insert(types[family] + " " + family + "{" + sample.label_names + "}");
  }
  std::string text;
  for (const std::string& shape : shapes) text += shape + "\n";
  return text;
}

double ValueOf(const std::string& page, const std::string& series) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(series + " ", 0) == 0) return std::strtod(line.c_str() + series.size(), nullptr);
  }
  ADD_FAILURE() << series << " is not on the page:\n" << page;
  return std::nan("");
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(GOLDEN_DIRECTORY) + "/" + name;
  if (std::getenv("TRAINYARD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, golden) << "what is exported has changed. Dashboards and rules in deploy/ may "
                             "need the same change; then run the test with "
                             "TRAINYARD_UPDATE_GOLDEN=1";
}

}  // namespace trainyard::test

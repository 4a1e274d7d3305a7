// Reads JSON as a SourceTree.
#include <cstddef>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/convert/source/source_tree.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {
namespace {

// Counts the line ends before the byte that was read last, because nlohmann's parser does not
// report positions to its handler. After a number, the parser has already read one more byte.
struct LineCount {
  int lines = 1;
  bool ends_line = false;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, LineCount* count) : at_(at), count_(count) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (count_->ends_line) ++count_->lines;
    count_->ends_line = *at_ == '\n';
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  LineCount* count_;
};

class JsonHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonHandler(const LineCount& count) : count_(count) {}

  absl::StatusOr<SourceTree> Take() {
    if (!status_.ok()) return status_;
    return std::move(tree_);
  }

  bool null() override { return Add("", SourceKind::kNull); }
  bool boolean(bool value) override { return Add(value ? "true" : "false", SourceKind::kSwitch); }
  bool number_integer(number_integer_t value) override {
    return Add(absl::StrCat(value), SourceKind::kNumber);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Add(absl::StrCat(value), SourceKind::kNumber);
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Add(text, SourceKind::kNumber);
  }
  bool string(string_t& value) override { return Add(value, SourceKind::kText); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(false); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override {
    if (open_.empty()) return Fail("is a list, but a configuration must be an object");
    return Open(true);
  }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    open_.back().path =
        open_.back().base.empty() ? name : absl::StrCat(open_.back().base, ".", name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string what = error.what();
    const bool is_end = what.find("unexpected end of input") != std::string::npos;
    // At the end of the text, the line end that was read last counts as well.
    const int line = count_.lines + (is_end && count_.ends_line ? 1 : 0);
    const size_t reason = what.find("syntax error");
    return Fail(line, absl::StrCat("is not valid JSON: ",
                                   reason == std::string::npos ? what : what.substr(reason),
                                   is_end ? " (the text ends too early)" : ""));
  }

 private:
  struct Open_ {
    std::string base;  // Path of the enclosing object or list.
    std::string path;  // Path of the next value.
  };

  std::string Path() const { return open_.empty() ? "" : open_.back().path; }

  bool Fail(const std::string& what) { return Fail(count_.lines, what); }

  bool Fail(int line, const std::string& what) {
    status_ = absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
    return false;
  }

  bool Open(bool is_list) {
    if (open_.size() > static_cast<std::size_t>(kMaxSourceDepth)) {
      return Fail(absl::StrCat("is nested deeper than ", kMaxSourceDepth));
    }
    const std::string base = Path();
    open_.push_back({base, is_list ? absl::StrCat(base, "[]") : base});
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  bool Add(const std::string& text, SourceKind kind) {
    if (open_.empty()) return Fail("is a single value, but a configuration must be an object");
    status_ = tree_.Add({Path(), text, kind, count_.lines});
    return status_.ok();
  }

  const LineCount& count_;
  std::vector<Open_> open_;
  SourceTree tree_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<SourceTree> ReadJsonTree(const std::string& text) {
  LineCount count;
  JsonHandler handler(count);
  const char* begin = text.data();
  nlohmann::json::sax_parse(CountingIterator(begin, &count),
                            CountingIterator(begin + text.size(), &count), &handler,
                            nlohmann::json::input_format_t::json, true, true);
  return handler.Take();
}

}  // namespace trainyard::cli

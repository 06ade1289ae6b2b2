// Reading text that may be anything: a cursor with line numbers for messages, and numbers as the formats write them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <trn/core/error.hpp>

namespace trn::sparse::files {

// A whole file in memory. Throws InvalidArgument with the system's reason.
class Contents {
 public:
  Contents(const char* operation, const std::string& path);
  [[nodiscard]] std::string_view text() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
};

class Cursor {
 public:
  Cursor(const char* operation, const std::string& name, std::string_view text)
      : operation_(operation), name_(name), begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  [[nodiscard]] bool done() const { return at_ == end_; }
  [[nodiscard]] std::int64_t left() const { return end_ - at_; }
  [[nodiscard]] std::string_view line() {
    const char* stop = static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    const char* last = stop == nullptr ? end_ : stop;
    std::string_view found(at_, static_cast<std::size_t>(last - at_));
    start_ = at_;
    at_ = stop == nullptr ? end_ : stop + 1;
    if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
    return found;
  }
  // Past blanks, empty lines and lines that begin with %; false at the end.
  bool next_line() {
    for (;;) {
      while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
      start_ = at_;
      if (at_ == end_) return false;
      if (*at_ != '%') return true;
      (void)line();
    }
  }
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  void end_line() {
    skip_blanks();
    if (at_ < end_ && *at_ == '\r') ++at_;
    if (at_ == end_) return;
    if (*at_ != '\n') refuse("something follows the numbers");
    ++at_;
  }
  [[nodiscard]] std::int64_t integer(const char* what) {
    skip_blanks();
    if (at_ < end_ && *at_ == '+') ++at_;
    std::int64_t value = 0;
    const auto [stop, code] = std::from_chars(at_, end_, value);
    if (code == std::errc::result_out_of_range) refuse(fmt::format("{} does not fit 64 bits", what));
    if (code != std::errc{} || !ends_word(stop)) refuse(fmt::format("{} is not a whole number", what));
    at_ = stop;
    return value;
  }
  // Rounded once, to float or double.
  template <class R> [[nodiscard]] R real() {
    skip_blanks();
    if (at_ < end_ && *at_ == '+') ++at_;
    R value = 0;
    const auto [stop, code] = std::from_chars(at_, end_, value);
    if (code == std::errc{} && ends_word(stop)) {
      at_ = stop;
      return value;
    }
    return unusual_real<R>();
  }
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  [[nodiscard]] bool ends_word(const char* p) const {
    return p == end_ || *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n';
  }
  template <class R> R unusual_real();

  const char* operation_;
  std::string name_;
  const char *begin_, *at_, *end_, *start_ = nullptr;
};

// A number of the given characters: signs, Fortran's D exponents, underflow to the nearest. False: not a number; an
// infinite result of finite digits is left in `value` for the caller to refuse.
template <class R> [[nodiscard]] bool parse_real(std::string_view word, R& value);

// double to T; false where a finite number becomes infinite.
template <class R> bool narrow(double value, R& to) {
  to = static_cast<R>(value);
  return std::isfinite(to) || !std::isfinite(value);
}

}  // namespace trn::sparse::files

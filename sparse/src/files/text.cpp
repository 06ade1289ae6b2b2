// Files as text: the parts that are not hot.
#include "files/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <sys/stat.h>

namespace trn::sparse::files {

Contents::Contents(const char* operation, const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  const auto reason = [] { return std::generic_category().message(errno); };
  require(file != nullptr, "{}: cannot open '{}': {}", operation, path, reason());
  struct stat status {};
  const bool known = fstat(fileno(file.get()), &status) == 0 && S_ISREG(status.st_mode);
  require(known || !S_ISDIR(status.st_mode), "{}: '{}' is a directory", operation, path);
  // One byte more than a regular file has, so that its end is seen at once; a pipe grows by halves.
  std::size_t capacity = known ? static_cast<std::size_t>(status.st_size) + 1 : std::size_t{1} << 16;
  data_ = std::make_unique_for_overwrite<char[]>(capacity);
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(data_.get() + size_, 1, capacity - size_, file.get());
    size_ += got;
    require(std::ferror(file.get()) == 0, "{}: cannot read '{}': {}", operation, path, reason());
    if (size_ < capacity) return;
    auto more = std::make_unique_for_overwrite<char[]>(2 * capacity);
    std::copy_n(data_.get(), size_, more.get());
    data_ = std::move(more);
    capacity *= 2;
  }
}

void Cursor::refuse(const std::string& why) const {
  const auto number = 1 + std::count(begin_, start_ == nullptr ? at_ : start_, '\n');
  fail<InvalidArgument>("{}: {}, line {}: {}", operation_, name_, number, why);
}

template <class R> bool parse_real(std::string_view word, R& value) {
  std::string text(word);
  for (char& c : text) c = c == 'd' || c == 'D' ? 'e' : c;
  std::string_view view = text;
  if (!view.empty() && view.front() == '+') view.remove_prefix(1);
  if (view.empty() || view.front() == '+') return false;
  const auto [stop, code] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (stop != view.data() + view.size() || code == std::errc::invalid_argument) return false;
  if (code == std::errc::result_out_of_range) {  // next to nothing, or infinite
    if constexpr (std::is_same_v<R, float>)
      value = std::strtof(std::string(view).c_str(), nullptr);
    else
      value = std::strtod(std::string(view).c_str(), nullptr);
  }
  return true;
}
template bool parse_real(std::string_view, float&);
template bool parse_real(std::string_view, double&);

template <class R> R Cursor::unusual_real() {
  const char* stop = at_;
  while (!ends_word(stop)) ++stop;
  const std::string_view word(at_, static_cast<std::size_t>(stop - at_));
  if (word.empty()) refuse("a number is missing");
  R value = 0;
  if (word.size() > 400 || !parse_real(word, value)) refuse(fmt::format("'{}' is not a number", word.substr(0, 40)));
  const bool digits = word.find_first_of("0123456789") != std::string_view::npos;
  if (digits && !std::isfinite(value))
    refuse(fmt::format("{} is beyond the range of {}", word, std::is_same_v<R, float> ? "float" : "double"));
  at_ = stop;
  return value;
}
template float Cursor::unusual_real();
template double Cursor::unusual_real();

}  // namespace trn::sparse::files

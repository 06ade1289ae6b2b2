// Where this process is, and lines about it.
#include "position.hpp"

#include <algorithm>
#include <cstring>

#include <unistd.h>

#include <trn/core/dtype.hpp>

namespace trn::comm::detail {

Position& position() {
  static Position p;
  return p;
}

void Position::set(int rank_of_group, int size_of_group, std::uint64_t number, const Signature& signature) {
  set(rank_of_group, size_of_group, signature.operation);
  call = number;
  const std::size_t kept = std::min<std::size_t>(signature.values.size(), kValues);
  std::copy_n(signature.values.begin(), kept, values);
  values_count = static_cast<int>(signature.values.size());
}

void Position::set(int rank_of_group, int size_of_group, std::string_view call_name) {
  rank = rank_of_group;
  size = size_of_group;
  values_count = 0;
  const std::size_t length = std::min(call_name.size(), sizeof operation - 1);
  std::memcpy(operation, call_name.data(), length);
  operation[length] = 0;
}

Line& Line::operator<<(std::string_view text) {
  const int length = std::min<int>(static_cast<int>(text.size()), kSize - length_);
  std::memcpy(text_ + length_, text.data(), static_cast<std::size_t>(length));
  length_ += length;
  return *this;
}

Line& Line::operator<<(std::int64_t number) {
  char digits[24];
  int at = sizeof digits;
  auto rest = static_cast<std::uint64_t>(number);
  if (number < 0) rest = 0 - rest;
  do {
    digits[--at] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (number < 0) digits[--at] = '-';
  return *this << std::string_view(digits + at, sizeof digits - static_cast<std::size_t>(at));
}

Line& Line::rank(const Position& p) {
  *this << "rank " << p.rank << " of " << p.size;
  if (p.world_rank != p.rank) *this << " (" << p.world_rank << " of the job)";
  return *this;
}

// As text_of() has it, without memory of its own.
Line& Line::operation(const Position& p) {
  if (p.operation[0] == 0) return *this << "no operation yet";
  const std::string_view whole = p.operation;
  const std::size_t bracket = whole.find('(');
  std::string_view names = bracket == std::string_view::npos ? std::string_view() : whole.substr(bracket + 1);
  *this << whole.substr(0, bracket);
  if (p.values_count == 0) return *this << ", call " << static_cast<std::int64_t>(p.call);
  *this << "(";
  for (int i = 0; i < std::min(p.values_count, Position::kValues); ++i) {
    const std::size_t end = names.find_first_of(",)");
    const std::string_view name = names.substr(0, end);
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    while (names.starts_with(' ')) names.remove_prefix(1);
    if (i > 0) *this << ", ";
    if (name == "type") {
      *this << trn::name(static_cast<DType>(p.values[i]));
    } else {
      *this << name << (name.empty() ? "" : " ") << p.values[i];
    }
  }
  if (p.values_count > Position::kValues) *this << ", ...";
  return *this << "), call " << static_cast<std::int64_t>(p.call);
}

void Line::print() const {
  char whole[kSize + 16];
  constexpr std::string_view kFront = "trn::comm: ";
  std::memcpy(whole, kFront.data(), kFront.size());
  std::memcpy(whole + kFront.size(), text_, static_cast<std::size_t>(length_));
  const std::size_t size = kFront.size() + static_cast<std::size_t>(length_);
  whole[size] = '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole, size + 1);
}

}  // namespace trn::comm::detail

// The codelets: which lengths there are, what each costs and how it is made. Every dispatch over lengths, every
// estimate of a cost and every bound takes its list from here.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace trn::fft::host {

// Operations on vectors, a fused multiply-add counting one: of complex numbers as two vectors, of interleaved ones (a
// turn costs a shuffle), and of real points. 0: there is no such codelet.
struct Codelet {
  int length = 0;
  double cost = 0, pairs_cost = 0, real_cost = 0;
  int coprime = 0;   // the first of two coprime factors, done without twiddles
  int twiddled = 0;  // the first of two equal factors with twiddles between (complex numbers)
};
inline constexpr Codelet kCodelets[] = {
    {1, 0, 0, 0},          {2, 4, 2, 2},        {3, 12, 8, 6},         {4, 16, 10, 6},
    {5, 32, 24, 14},       {6, 36, 22, 14, 3},  {7, 66, 42, 30},       {8, 54, 37, 22},
    {9, 84, 58, 36, 0, 3}, {10, 84, 58, 36, 5}, {11, 160, 90, 70},     {12, 96, 62, 40, 3},
    {13, 210, 125, 98},    {14, 0, 0, 74, 7},   {15, 166, 110, 74, 5}, {16, 176, 120, 62, 0, 4},
    {18, 0, 0, 99, 9},     {20, 0, 0, 110, 5},  {22, 0, 0, 121, 11},   {24, 0, 0, 132, 3},
    {26, 0, 0, 143, 13},   {28, 0, 0, 154, 7},  {30, 0, 0, 165, 15},   {32, 0, 0, 165},
};
// By value, since GCC's sanitizers take no address in a constant expression. Of length 0: there is none.
[[nodiscard]] constexpr Codelet codelet_of(std::int64_t n) {
  for (const Codelet& c : kCodelets)
    if (c.length == n) return c;
  return {};
}
// Of complex points, 2 .. 16 except 14; of real ones, 1 .. 16 and the even numbers 18 .. 32.
[[nodiscard]] constexpr bool has_codelet(std::int64_t n) { return codelet_of(n).cost > 0; }
[[nodiscard]] constexpr bool has_real_codelet(std::int64_t n) { return codelet_of(n).length > 0; }
[[nodiscard]] constexpr double pairs_codelet_cost(std::int64_t n) { return codelet_of(n).pairs_cost; }
constexpr int coprime_factor(int n) { return codelet_of(n).coprime; }

// Lists of lengths; with_length() of codelets-inl.hpp finds the one that is n.
template <int... N> struct Lengths {};
template <int... N> constexpr bool is_listed(Lengths<N...>, std::int64_t n) { return ((n == N) || ...); }
// The lengths of those codelets that kWanted says yes to.
template <bool (*kWanted)(Codelet)> struct ListOf {
  static constexpr int at(int i) {  // 0 behind the last one
    for (const Codelet& c : kCodelets)
      if (kWanted(c) && i-- == 0) return c.length;
    return 0;
  }
  static constexpr int count() {
    int n = 0;
    while (at(n) != 0) ++n;
    return n;
  }
  template <int... I> static Lengths<at(I)...> list(std::integer_sequence<int, I...>);
  using type = decltype(list(std::make_integer_sequence<int, count()>()));
};
constexpr bool is_complex(Codelet c) { return c.cost > 0; }
constexpr bool is_any(Codelet) { return true; }
constexpr bool is_column(Codelet c) { return c.length > 1 && c.length <= 16; }
using Radices = ListOf<is_complex>::type;
using RealLengths = ListOf<is_any>::type;
using ColumnLengths = ListOf<is_column>::type;  // real lines of these are taken as columns
// Many lines of these are measured to be faster one in each lane than one after the other.
template <class T> using LaneLengths =
    std::conditional_t<sizeof(T) == 4, Lengths<2, 5, 6, 7, 8, 10, 11, 13>, Lengths<11, 13>>;

}  // namespace trn::fft::host

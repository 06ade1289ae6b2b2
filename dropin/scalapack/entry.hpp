// What every entry point has in common: operands as Fortran passes them, the grid that they share, and the way to the
// ScaLAPACK behind for calls that are not ours.
#pragma once

#include <exception>
#include <initializer_list>

#include "../letters.hpp"
#include "operands.hpp"

namespace trn::dropin::scalapack {

// One matrix as the caller passes it.
template <class T> struct Passed {
  T* data;
  const int *i, *j, *numbers;
};

template <class T> Operand<T> operand(const Passed<T>& p, const BlacsGrid& g, std::int64_t rows, std::int64_t columns) {
  Operand<T> o{p.data, read_descriptor(p.numbers), *p.i, *p.j, rows, columns};
  o.descriptor.row.ranks = g.rows;
  o.descriptor.column.ranks = g.columns;
  return o;
}
template <class T> bool usable(const Operand<T>& o, const BlacsGrid& g) {
  return is_usable(o.descriptor, o.i, o.j, o.rows, o.columns, g.row);
}

// The grid of a call's operands; null where they do not share one of which this process is a part.
inline const BlacsGrid* shared_grid(std::initializer_list<const int*> descriptors) {
  int context = -1;
  for (const int* numbers : descriptors) {
    if ((numbers[0] != 1 && numbers[0] != 2) || numbers[1] < 0) return nullptr;
    if (context >= 0 && numbers[1] != context) return nullptr;
    context = numbers[1];
  }
  return grid_of(context);
}

// Whether all ranks of the grid can serve the call: a rank alone must not turn away.
inline bool all_can(const BlacsGrid& g, bool mine) { return comm::minimum(g.group, mine ? 1 : 0) == 1; }

// serve() is the call on our side; false: it is not ours. pass_on() is ScaLAPACK's.
template <class Serve, class PassOn>
void enter(const char* routine, Kind kind, const Serve& serve, const PassOn& pass_on) {
  try {
    if (serve()) return count(kind);
  } catch (const std::exception& e) {
    end_job(routine, e.what());
  }
  count_passed_on();
  pass_on();
}

template <class... Arguments> void call_behind(const char* routine, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(behind(routine))(arguments...);
}

// What the routines have in common: letters and extents are legal, there is something to do, and the operands are ours.
template <class... Operands> bool ready(const BlacsGrid& g, const Operands&... operands) {
  return all_can(g, (usable(operands, g) && ...));
}

}  // namespace trn::dropin::scalapack

using namespace trn::dropin;             // NOLINT
using namespace trn::dropin::scalapack;  // NOLINT
using trn::blas::Real;
using Letter = const char*;
using Int = const int*;
using C8 = std::complex<float>;
using C16 = std::complex<double>;

#define TRN_ENTRY extern "C" __attribute__((visibility("default"))) void
#define TRN_MATRIX(T, X) T *x##X, Int i##X, Int j##X, Int d##X
#define TRN_PASSED(X) \
  Passed { x##X, i##X, j##X, d##X }

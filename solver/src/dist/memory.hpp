// Distributed matrices from one memory into another: for steps that are the hosts' where ranks have devices.
#pragma once

#include <trn/comm/matrix.hpp>

#include "copies.hpp"

namespace trn::solver {

// from's elements in to's memory, same distribution. Collective.
template <class T> void bring(const dist::Matrix<T>& from, const dist::Matrix<T>& to) {
  comm::together(from.group(), [&] { copies::move(MatrixView<const T>(from.local()), to.local()); });
}
// The matrix in an executor's memory. Collective.
template <class T> dist::Matrix<T> in_memory_of(const Executor& executor, const dist::Matrix<T>& a) {
  dist::Matrix<T> copied(a.group(), executor, a.distribution());
  bring(a, copied);
  return copied;
}

}  // namespace trn::solver

// What entry points of distributed factorisations check: that all ranks say the same, what operands have in common, and
// that they have no memory in common.
#pragma once

#include <vector>

#include <trn/comm/matrix.hpp>
#include <trn/solver/types.hpp>

#include "checks.hpp"

namespace trn::solver::dist_checks {

// Collective: the same operation, types, distributions and other values on all ranks, operands of one group; otherwise
// InvalidArgument on all.
template <class T, class... More> void same(const char* operation, std::initializer_list<std::int64_t> values,
                                            const dist::Matrix<T>& first, const More&... more) {
  std::vector<std::int64_t> all(values);
  bool one_group = true;
  const auto add = [&](const dist::Matrix<T>& x) {
    const dist::BlockCyclic& d = x.distribution();
    one_group = one_group && x.group() == first.group();
    all.insert(all.end(), {static_cast<std::int64_t>(dtype_of<T>), static_cast<std::int64_t>(x.executor().family()),
                           d.rows, d.columns, d.row_block, d.column_block, d.grid.rows, d.grid.columns});
  };
  add(first);
  (add(more), ...);
  all.push_back(one_group ? 1 : 0);
  first.group().transport().check({operation, all});
  require(one_group, "{}: the operands belong to different groups; make them on one communicator", operation);
}

// Collective: x, which is written, shares no memory with y on any rank; otherwise InvalidArgument on all.
template <class T> void apart(const char* operation, const char* x_name, const dist::Matrix<T>& x, const char* y_name,
                              const dist::Matrix<T>& y) {
  comm::together(x.group(), [&] { checks::apart(operation, y_name, y.local(), x_name, x.local()); });
}

}  // namespace trn::solver::dist_checks

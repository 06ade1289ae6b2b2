// DistAmg: the levels of Amg cut into block rows, and the cycle on them.
#include "amg.hpp"

#include <algorithm>
#include <bit>

#include <trn/comm/together.hpp>
#include <trn/core/error.hpp>
#include <trn/sparse/structure.hpp>

namespace trn::sparse {

namespace detail {

// Chebyshev's iteration as in Chebyshev<T>::smooth, on this rank's rows.
template <class T> void DistAmgData<T>::smooth(const DistAmgLevel<T>& level, bool zero) const {
  const std::size_t n = level.x.size();
  const double high = level.largest, low = level.largest / smoother.ratio, centre = (high + low) / 2,
               half = (high - low) / 2;
  std::vector<T>&x = level.x, &r = level.residual, &d = level.direction;
  const DistCsrData<T>& a = level.a.data();
  std::copy(level.b.begin(), level.b.end(), r.begin());
  if (zero)
    std::fill(x.begin(), x.end(), T(0));
  else
    a.multiply(T(-1), x.data(), T(1), r.data(), 1, halo);
  double rho = half / centre;
  for (std::size_t i = 0; i < n; ++i) d[i] = level.inverse_diagonal[i] * r[i] * static_cast<T>(1 / centre);
  for (int step = 0;; ++step) {
    for (std::size_t i = 0; i < n; ++i) x[i] += d[i];
    if (step + 1 == smoother.degree) return;
    a.multiply(T(-1), d.data(), T(1), r.data(), 1, halo);
    const double next = 1 / (2 * centre / half - rho);
    const auto keep = static_cast<T>(next * rho), fresh = static_cast<T>(2 * next / half);
    for (std::size_t i = 0; i < n; ++i) d[i] = keep * d[i] + fresh * (level.inverse_diagonal[i] * r[i]);
    rho = next;
  }
}

// Every rank gets all of b, solves, and keeps its rows.
template <class T> void DistAmgData<T>::solve_last(const DistAmgLevel<T>& level) const {
  const std::int64_t n = level.a.extents().rows;
  const dist::Boxes rows = dist::block_rows(n, group.size());
  const std::int64_t widest = rows.boxes.empty() ? 0 : rows.boxes[0].extent[0];  // earlier ones are the larger
  if (widest == 0) return;
  const Executor host = Executor::host();
  std::vector<T> mine(static_cast<std::size_t>(widest)), all(mine.size() * static_cast<std::size_t>(group.size())),
      b(static_cast<std::size_t>(n)), x(b.size());
  std::copy(level.b.begin(), level.b.end(), mine.begin());
  comm::all_gather(group, View<const T>(host, mine.data(), {widest}),
                   View<T>(host, all.data(), {group.size(), widest}));
  for (int r = 0; r < rows.ranks(); ++r) {
    const dist::Boxes::Box& box = rows.boxes[static_cast<std::size_t>(r)];
    std::copy_n(all.data() + r * widest, box.extent[0], b.data() + box.begin[0]);
  }
  last.solve_last(inverse, b.data(), x.data());
  std::copy_n(x.data() + level.a.data().first_row, level.x.size(), level.x.data());
}

template <class T> void DistAmgData<T>::cycle(std::size_t l) const {
  const DistAmgLevel<T>& level = levels[l];
  if (l + 1 == levels.size()) return solve_last(level);
  const DistAmgLevel<T>& next = levels[l + 1];
  smooth(level, true);
  for (std::size_t i = 0; i < level.separate.size(); ++i) {
    const auto row = static_cast<std::size_t>(level.separate[i]);
    level.x[row] = level.separate_inverse[i] * level.b[row];
  }
  std::copy(level.b.begin(), level.b.end(), level.residual.begin());
  level.a.data().multiply(T(-1), level.x.data(), T(1), level.residual.data(), 1, halo);
  level.r->data().multiply(T(1), level.residual.data(), T(0), next.b.data(), 1, halo);
  cycle(l + 1);
  level.p->data().multiply(T(1), next.x.data(), T(1), level.x.data(), 1, halo);
  smooth(level, false);
}

template <class T> void DistAmgData<T>::apply(const T* b, T* x) const {
  const DistAmgLevel<T>& top = levels.front();
  std::copy_n(b, top.b.size(), top.b.data());
  cycle(0);
  std::copy(top.x.begin(), top.x.end(), x);
}

template struct DistAmgData<float>;
template struct DistAmgData<double>;

}  // namespace detail

namespace {

template <class T> std::shared_ptr<detail::DistAmgData<T>> build(const comm::Communicator& group, const Csr<T>& whole,
                                                                 const AmgOptions<T>& o, const Executor& executor) {
  constexpr const char* operation = "sparse.dist_amg";
  group.check("sparse.dist_amg(type, rows, columns, entries, strength, coarsest, levels, degree, ratio, nullspace)",
              {static_cast<std::int64_t>(dtype_of<T>), whole.rows(), whole.columns(), whole.nnz(),
               std::bit_cast<std::int64_t>(o.strength), o.coarsest, o.most_levels, o.smoother.degree,
               std::bit_cast<std::int64_t>(o.smoother.ratio), o.nullspace ? o.nullspace->columns() : 0});
  auto data = std::make_shared<detail::DistAmgData<T>>(detail::DistAmgData<T>{group, executor});
  const Amg<T> amg = comm::together(group, [&] {
    require(o.block == 1 && (!o.nullspace || o.nullspace->columns() == 1),
            "{}: nodes of {} unknowns and {} near-nullspace vectors; over ranks both must be 1, use Amg for the rest",
            operation, o.block, o.nullspace ? o.nullspace->columns() : 1);
    return Amg<T>(whole, o);
  });
  const auto& from = *detail::AmgAccess::data(amg);
  data->smoother = o.smoother;
  data->report = amg.levels();
  data->outcome = amg.outcome();
  data->inverse = from.inverse;
  data->last = from.levels.back().separate;
  if (!data->outcome.ok()) return data;
  for (const auto& level : from.levels) {
    data->levels.push_back({DistCsr<T>(group, level.matrix, executor), {}, {}, {}, 0, {}, {}, {}, {}, {}, {}});
    detail::DistAmgLevel<T>& to = data->levels.back();
    const std::int64_t first = to.a.data().first_row, rows = to.a.data().rows;
    for (std::vector<T>* each : {&to.x, &to.b, &to.residual, &to.direction})
      each->assign(static_cast<std::size_t>(rows), T(0));
    if (!level.prolongation) continue;
    to.p.emplace(group, *level.prolongation, executor);
    to.r.emplace(group, *level.restriction, executor);
    to.largest = level.smoother->largest();
    const std::vector<T> diagonals = diagonal(level.matrix);
    for (std::int64_t i = first; i < first + rows; ++i)
      to.inverse_diagonal.push_back(T(1) / diagonals[static_cast<std::size_t>(i)]);
    for (std::size_t i = 0; i < level.separate.nodes.size(); ++i) {
      const std::int64_t row = level.separate.nodes[i];
      if (row < first || row >= first + rows) continue;
      to.separate.push_back(row - first);
      to.separate_inverse.push_back(level.separate.inverses[i]);
    }
  }
  return data;
}

}  // namespace

template <RealScalar T> DistAmg<T>::DistAmg(const comm::Communicator& group, const Csr<T>& whole,
                                            const AmgOptions<T>& options, const Executor& executor)
    : data_(build(group, whole, options, executor)) {}
template <RealScalar T> const Outcome& DistAmg<T>::outcome() const { return data_->outcome; }
template <RealScalar T> const std::vector<AmgLevel>& DistAmg<T>::levels() const { return data_->report; }
template <RealScalar T> void DistAmg<T>::apply(const dist::Array<T>& x, const dist::Array<T>& y) const {
  constexpr const char* operation = "sparse.dist_amg.apply";
  data_->group.check(operation, {static_cast<std::int64_t>(dtype_of<T>)});
  comm::together(data_->group, [&] {
    require(x.group() == data_->group && y.group() == data_->group, "{}: an operand is of another group", operation);
    require(x.executor() == data_->executor && y.executor() == data_->executor,
            "{}: an operand is not on the multigrid's executor, {}", operation, data_->executor.name());
    const dist::Boxes rows = dist::block_rows(data_->report.front().rows, data_->group.size());
    require(x.distribution() == rows && y.distribution() == rows,
            "{}: an operand's distribution is not the matrix's row distribution", operation);
  });
  const auto solve = [&](const T* in, T* out) {
    if (data_->outcome.ok())
      data_->apply(in, out);
    else
      std::fill_n(out, y.local().size(), std::numeric_limits<T>::quiet_NaN());
  };
  if (data_->executor.family() == Family::Host) return solve(x.local().data(), y.local().data());
  const detail::OnHost<T> in(data_->group, x.local(), true), out(data_->group, y.local(), false);
  solve(in.data(), out.data());
  out.store();
}
template class DistAmg<float>;
template class DistAmg<double>;

}  // namespace trn::sparse

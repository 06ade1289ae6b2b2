// Exchanges of rows on devices: the steps of a panel become moves of the rows that they touch, in one launch.
#include "device/row_exchanges.hpp"

#include <algorithm>

#include <trn/core/array.hpp>
#include <trn/solver/getrf_program.hpp>
#include <trn/tile/launch.hpp>

namespace trn::solver::device {

namespace {

// Row to[i] of A becomes what row from[i] was.
void move_rows(const Executor& executor, const MatrixView<float>& a, std::vector<std::uint32_t> from,
               std::vector<std::uint32_t> to) {
  if (to.empty() || a.columns() == 0) return;
  ensure(to.size() <= kMovedRows, "solver.getrf: {} rows to move at once", to.size());
  from.resize(kMovedRows, 0);
  to.resize(kMovedRows, static_cast<std::uint32_t>(a.rows()));  // no move
  const auto list = [&](const std::vector<std::uint32_t>& values) {
    std::vector<std::int32_t> copied(values.begin(), values.end());
    return Array<std::int32_t>::from_host(executor, {kMovedRows}, copied);
  };
  const Array<std::int32_t> sources = list(from), targets = list(to);
  tile::launch(executor, move_rows_program, MoveRowsShape{a.rows(), a.columns(), a.row_stride()},
               {{"from", sources.data()}, {"to", targets.data()}, {"a", a.data()}, {"moved", a.data()}});
}

}  // namespace

void needs_gathers(const char* operation, const Executor& executor) {
  const tile::Machine& machine = tile::device_of(executor).machine();
  if (!machine.indirect_dma)
    fail<NotImplemented>("{}: {} has no gathers; it runs on the host", operation, machine.name);
}

void turn(const Executor& executor, const MatrixView<float>& from, const MatrixView<float>& to) {
  tile::launch(executor, turn_program, TurnShape{from.rows(), from.columns(), from.row_stride(), to.row_stride()},
               {{"a", from.data()}, {"b", to.data()}});
}

void exchange(const Executor& executor, const MatrixView<float>& a, const Exchanges& exchanges, std::int64_t first,
              std::int64_t count, bool backwards) {
  std::vector<std::int64_t> touched;
  for (std::int64_t i = first; i < first + count; ++i) {
    touched.push_back(i);
    touched.push_back(exchanges[static_cast<std::size_t>(i)]);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  const auto index = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::lower_bound(touched.begin(), touched.end(), row) - touched.begin());
  };
  std::vector<std::int64_t> holds = touched;  // the row that lies in each of these places
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t i = backwards ? first + count - 1 - s : first + s;
    std::swap(holds[index(i)], holds[index(exchanges[static_cast<std::size_t>(i)])]);
  }
  std::vector<std::uint32_t> from, to;
  for (std::size_t t = 0; t < touched.size(); ++t) {
    if (holds[t] == touched[t]) continue;
    from.push_back(static_cast<std::uint32_t>(holds[t]));
    to.push_back(static_cast<std::uint32_t>(touched[t]));
  }
  move_rows(executor, a, std::move(from), std::move(to));
}

void exchange_all(const Executor& executor, const MatrixView<float>& a, const Exchanges& exchanges, bool backwards) {
  const auto n = static_cast<std::int64_t>(exchanges.size()), groups = (n + kExchanged - 1) / kExchanged;
  for (std::int64_t s = 0; s < groups; ++s) {
    const std::int64_t first = (backwards ? groups - 1 - s : s) * kExchanged;
    exchange(executor, a, exchanges, first, std::min(kExchanged, n - first), backwards);
  }
}

Exchanges exchanges_of(const char* operation, const VectorView<const std::int64_t>& pivots, std::int64_t rows) {
  Exchanges exchanges(static_cast<std::size_t>(pivots.size()));
  if (pivots.size() > 0) {
    copy(View<const std::int64_t>(pivots), View<std::int64_t>(Executor::host(), exchanges.data(), {pivots.size()}));
  }
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    const std::int64_t p = exchanges[i];
    require(p >= static_cast<std::int64_t>(i) && p < rows, "{}: pivot {} is {}; getrf's lie between {} and {}",
            operation, i, p, i, rows - 1);
  }
  return exchanges;
}

}  // namespace trn::solver::device

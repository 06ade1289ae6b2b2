// DistCsr: the halo, found once, and the products. On a device a rank's rows are kernel Gather's tiles: windows of 128
// rows, which never lie on two ranks, each with its distinct columns in their global order. So a row's sum is the same
// on one rank and on many; the other kernels' tiles begin where a rank's columns do.
#include "csr.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <trn/comm/together.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/launch.hpp>

#include "../host_data.hpp"

namespace trn::sparse {

namespace {

// The part of a cut that a rank has.
struct Range {
  std::int64_t begin, end;
};
Range range(const dist::Boxes& boxes, int rank) {
  if (rank >= boxes.ranks()) return {0, 0};
  const auto& box = boxes.boxes[static_cast<std::size_t>(rank)];
  return {box.begin[0], box.begin[0] + box.extent[0]};
}
dist::Boxes cut(std::int64_t extent, std::int64_t columns, int ranks) {
  if (columns == 0) return dist::block_rows(extent, ranks);
  return dist::slabs({extent, columns}, 0, ranks, dist::kSumBlock);
}

// Rows begin .. end of a matrix with their own column numbers.
template <class T> Csr<T, std::int64_t> rows_of(const Csr<T>& a, Range rows) {
  const CsrRef<T, std::int32_t> from = host_ref(a);
  CsrParts<T, std::int64_t> parts({rows.end - rows.begin, a.columns()});
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    parts.offsets.data()[i - rows.begin] = from.offsets[i + 1] - from.offsets[i];
  parts.allocate();
  const std::int64_t first = rows.end > rows.begin ? from.offsets[rows.begin] : 0;
  for (std::int64_t k = 0; k < parts.indices.size(); ++k) {
    parts.indices.data()[k] = from.indices[first + k];
    parts.values.data()[k] = from.values[first + k];
  }
  return parts.done();
}

template <class T> std::vector<std::int64_t> exchanged(const comm::Communicator& group, std::vector<T> send,
                                                       const std::vector<std::int64_t>& send_counts,
                                                       const std::vector<std::int64_t>& receive_counts) {
  std::int64_t total = 0;
  for (const std::int64_t count : receive_counts) total += count;
  std::vector<T> received(static_cast<std::size_t>(total));
  const Executor host = Executor::host();
  comm::all_to_all_v(group, View<const T>(host, send.data(), {static_cast<std::int64_t>(send.size())}), send_counts,
                     View<T>(host, received.data(), {total}), receive_counts);
  return received;
}

void check_executor(const char* operation, const Executor& executor, bool has_kernel) {
  if (executor.family() == Family::Host) return;
  if (!has_kernel)
    fail<NotImplemented>("{}: products of doubles have no kernel for '{}'; use float, or ranks of the host", operation,
                         executor.name());
  if (const tile::Machine& machine = tile::device_of(executor).machine(); !machine.indirect_dma)
    fail<NotImplemented>("{}: {} has no gathers; use ranks of the host", operation, machine.name);
}

template <class T> std::shared_ptr<detail::DistCsrData<T>> build(const comm::Communicator& group,
                                                                 const Executor& executor, Extents extents,
                                                                 const Csr<T, std::int64_t>& mine) {
  constexpr const char* operation = "sparse.dist_csr";
  group.check(operation, {static_cast<std::int64_t>(dtype_of<T>), static_cast<std::int64_t>(executor.family()),
                          extents.rows, extents.columns});
  require(extents.rows >= 0 && extents.columns >= 0, "{}: extents {} x {}; they must be at least 0", operation,
          extents.rows, extents.columns);
  auto data = std::make_shared<detail::DistCsrData<T>>(detail::DistCsrData<T>{group, extents, executor});
  const int ranks = group.size();
  const dist::Boxes columns = dist::block_rows(extents.columns, ranks);
  const Range rows = range(dist::block_rows(extents.rows, ranks), group.rank()), own = range(columns, group.rank());
  data->first_row = rows.begin;
  data->rows = rows.end - rows.begin;
  data->first_column = own.begin;
  data->columns = own.end - own.begin;

  std::vector<std::int64_t> needed;  // columns of others, in order
  comm::together(group, [&] {
    check_executor(operation, executor, std::same_as<T, float>);
    host_only(operation, mine.executor());
    require(mine.extents() == Extents{data->rows, extents.columns},
            "{}: this rank's rows have extents {} x {}; block_rows gives it {} rows of {} columns", operation,
            mine.rows(), mine.columns(), data->rows, extents.columns);
    const CsrRef<T, std::int64_t> a = host_ref(mine);
    for (std::int64_t k = 0; k < a.nnz(); ++k)
      if (a.indices[k] < own.begin || a.indices[k] >= own.end) needed.push_back(a.indices[k]);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    data->below = std::lower_bound(needed.begin(), needed.end(), own.begin) - needed.begin();
    data->above = static_cast<std::int64_t>(needed.size()) - data->below;
    const std::int64_t all = data->below + data->columns + data->above;
    require(all <= kMostExtent<std::int32_t>, "{}: a rank's rows touch {} columns, more than 2^31 - 1; use more ranks",
            operation, all);
    // Of a square matrix Gather takes a window's own columns first: one rank's local part may be square, so none is.
    const bool widened = !data->on_host() && all == data->rows;
    CsrParts<T, std::int32_t> parts({data->rows, all + (widened ? 1 : 0)});
    for (std::int64_t i = 0; i < data->rows; ++i) parts.offsets.data()[i] = a.offsets[i + 1] - a.offsets[i];
    parts.allocate();
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
      const std::int64_t j = a.indices[k];
      std::int64_t place = j - own.begin + data->below;
      if (j < own.begin || j >= own.end) {
        place = std::lower_bound(needed.begin(), needed.end(), j) - needed.begin();
        if (j >= own.end) place += data->columns;
      }
      parts.indices.data()[k] = static_cast<std::int32_t>(place);
      parts.values.data()[k] = a.values[k];
    }
    data->local.emplace(parts.done());
    // The order of a row's sum must not depend on the other rows: kernel Csr or Gather, whatever is quicker.
    const SpmmOptions options{.kernel = data->on_host() ? Kernel::Csr : Kernel::Gather};
    if (data->rows > 0)
      data->plan.emplace(executor, data->on_host() ? *data->local : data->local->to(executor), options);
  });

  // Everybody says what it needs.
  data->receive_counts.assign(static_cast<std::size_t>(ranks), 0);
  for (int r = 0, next = 0; r < ranks; ++r) {
    const Range theirs = range(columns, r);
    for (; next < static_cast<int>(needed.size()) && needed[static_cast<std::size_t>(next)] < theirs.end; ++next)
      ++data->receive_counts[static_cast<std::size_t>(r)];
  }
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(ranks), 1);
  data->send_counts = exchanged(group, data->receive_counts, ones, ones);
  data->send_places = exchanged(group, needed, data->receive_counts, data->send_counts);
  for (std::int64_t& place : data->send_places) {
    place -= own.begin;
    if (data->send_runs.empty() || data->send_runs.back().place + data->send_runs.back().count != place)
      data->send_runs.push_back({place, 0});
    ++data->send_runs.back().count;
  }
  data->nnz = comm::sum(group, mine.nnz());
  return data;
}

}  // namespace

namespace detail {

template <class T> void DistCsrData<T>::gather(const T* own, std::int64_t width, std::vector<T>& all) const {
  const auto size = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * width); };
  all.resize(size(below + columns + above));
  std::vector<T> sent(size(static_cast<std::int64_t>(send_places.size())));
  T* to = sent.data();
  for (const std::int64_t place : send_places) to = std::copy_n(own + place * width, width, to);
  if (columns > 0) std::copy_n(own, columns * width, all.data() + below * width);
  const std::size_t ranks = send_counts.size();
  std::vector<std::int64_t> send_bytes(ranks), send_at(ranks), receive_bytes(ranks), receive_at(ranks);
  std::int64_t from = 0, at = 0;
  const std::int64_t unit = width * static_cast<std::int64_t>(sizeof(T));
  for (std::size_t r = 0; r < ranks; ++r) {
    // Lower ranks' elements lie before this one's, higher ranks' behind them.
    if (r == static_cast<std::size_t>(group.rank())) at += columns;
    send_bytes[r] = send_counts[r] * unit, send_at[r] = from * unit;
    receive_bytes[r] = receive_counts[r] * unit, receive_at[r] = at * unit;
    from += send_counts[r], at += receive_counts[r];
  }
  group.transport().all_to_all(sent.data(), send_bytes, send_at, all.data(), receive_bytes, receive_at);
}

template <class T>
void DistCsrData<T>::multiply(T alpha, const T* x, T beta, T* y, std::int64_t width, std::vector<T>& all) const {
  gather(x, width, all);
  if (on_host()) {
    if (rows == 0 || width == 0) return;
    (void)plan->execute(alpha, MatrixView<const T>::row_major(executor, all.data(), plan->columns(), width), beta,
                        MatrixView<T>::row_major(executor, y, rows, width));
    return;
  }
  comm::together(group, [&] {
    if (rows == 0 || width == 0) return;
    all.resize(static_cast<std::size_t>(plan->columns() * width), T(0));
    const View<T> to(Executor::host(), y, {rows * width});
    const trn::Array<T> b = trn::Array<T>::from_host(executor, {plan->columns() * width}, all),
                        c(executor, {rows * width});
    if (beta != T(0)) copy(View<const T>(to), c.view());
    (void)plan->execute(alpha, MatrixView<const T>::row_major(executor, b.data(), plan->columns(), width), beta,
                        MatrixView<T>::row_major(executor, c.data(), rows, width));
    copy(View<const T>(c.view()), to);
  });
}

template <class T>
void DistCsrData<T>::multiply_there(T alpha, const View<T>& x, T beta, const View<T>& y, std::int64_t width) const {
  const auto part = [&](T* data, std::int64_t from, std::int64_t elements) {
    return View<T>(executor, data + from * width, {elements * width});
  };
  const auto bring = [&](const View<T>& from, const View<T>& to) {
    if (element_count(to.shape()) > 0) copy(View<const T>(from), to);
  };
  const auto sent_count = static_cast<std::int64_t>(send_places.size());
  const std::int64_t needed = below + columns + above, spare = plan ? plan->columns() - needed : 0;
  struct Buffers {
    trn::Array<T> all, sent, received;
  };
  const Buffers on_device = comm::together(group, [&] {
    Buffers made{trn::Array<T>(executor, {(needed + spare) * width}), trn::Array<T>(executor, {sent_count * width}),
                 trn::Array<T>(executor, {(below + above) * width})};
    std::int64_t at = 0;
    for (const Run& run : send_runs) {
      bring(part(x.data(), run.place, run.count), part(made.sent.data(), at, run.count));
      at += run.count;
    }
    bring(part(x.data(), 0, columns), part(made.all.data(), below, columns));
    const std::vector<T> zeros(static_cast<std::size_t>(spare * width), T(0));
    if (!zeros.empty())
      copy(View<const T>(Executor::host(), zeros.data(), {spare * width}), part(made.all.data(), needed, spare));
    return made;
  });
  std::vector<std::int64_t> send(send_counts), receive(receive_counts);
  for (std::int64_t& count : send) count *= width;
  for (std::int64_t& count : receive) count *= width;
  comm::all_to_all_v(group, View<const T>(on_device.sent.view()), send, on_device.received.view(), receive);
  comm::together(group, [&] {
    if (rows == 0 || width == 0) return;
    bring(part(on_device.received.data(), 0, below), part(on_device.all.data(), 0, below));
    bring(part(on_device.received.data(), below, above), part(on_device.all.data(), below + columns, above));
    (void)plan->execute(alpha, MatrixView<const T>::row_major(executor, on_device.all.data(), plan->columns(), width),
                        beta, MatrixView<T>::row_major(executor, y.data(), rows, width));
  });
}

template <class T> void DistCsrData<T>::agree(const char* operation, const char* wrong) const {
  comm::together(group, [&] { require(wrong == nullptr, "{}: {}", operation, wrong); });
}
template <class T> const char* DistCsrData<T>::trouble(const dist::Array<T>& a, const dist::Boxes& boxes) const {
  if (!(a.group() == group)) return "an operand is of another group than the matrix";
  if (!(a.executor() == executor)) return "an operand is not on the matrix's executor";
  if (!(a.distribution() == boxes)) return "an operand's distribution is not the matrix's row or column distribution";
  return nullptr;
}

template struct DistCsrData<float>;
template struct DistCsrData<double>;

}  // namespace detail

template <RealScalar T> DistCsr<T>::DistCsr(const comm::Communicator& group, Extents extents,
                                            const Csr<T, std::int64_t>& mine, const Executor& executor)
    : data_(build(group, executor, extents, mine)) {}
template <RealScalar T>
DistCsr<T>::DistCsr(const comm::Communicator& group, const Csr<T>& whole, const Executor& executor)
    : data_(build(group, executor, whole.extents(), comm::together(group, [&] {
                    host_only("sparse.dist_csr", whole.executor());
                    return rows_of(whole, range(dist::block_rows(whole.rows(), group.size()), group.rank()));
                  }))) {}

template <RealScalar T> const comm::Communicator& DistCsr<T>::group() const { return data_->group; }
template <RealScalar T> const Executor& DistCsr<T>::executor() const { return data_->executor; }
template <RealScalar T> Extents DistCsr<T>::extents() const { return data_->extents; }
template <RealScalar T> std::int64_t DistCsr<T>::nnz() const { return data_->nnz; }
template <RealScalar T> std::int64_t DistCsr<T>::halo() const { return data_->below + data_->above; }
template <RealScalar T> dist::Boxes DistCsr<T>::row_distribution(std::int64_t columns) const {
  return cut(data_->extents.rows, columns, data_->group.size());
}
template <RealScalar T> dist::Boxes DistCsr<T>::column_distribution(std::int64_t columns) const {
  return cut(data_->extents.columns, columns, data_->group.size());
}

namespace {

template <class T> std::int64_t bits_of(T x) { return std::bit_cast<std::int64_t>(static_cast<double>(x)); }

template <class T> void product(const char* operation, T alpha, const DistCsr<T>& a, const dist::Array<T>& x, T beta,
                                const dist::Array<T>& y, bool vector) {
  const detail::DistCsrData<T>& data = a.data();
  data.group.check(operation, {static_cast<std::int64_t>(dtype_of<T>), bits_of(alpha), bits_of(beta)});
  const char* wrong = nullptr;
  std::int64_t width = 1;
  if (vector) {
    wrong = data.trouble(x, a.column_distribution());
    if (!wrong) wrong = data.trouble(y, a.row_distribution());
  } else if (x.shape().size() != 2 || y.shape().size() != 2 || x.shape()[1] != y.shape()[1] || x.shape()[1] < 1) {
    wrong = "B and C must have two dimensions, and as many columns as each other";
  } else {
    width = x.shape()[1];
    wrong = data.trouble(x, a.column_distribution(width));
    if (!wrong) wrong = data.trouble(y, a.row_distribution(width));
  }
  if (!wrong && x.local().size() > 0 && x.local().data() == y.local().data()) wrong = "x and y are one array";
  data.agree(operation, wrong);
  if (!data.on_host()) return data.multiply_there(alpha, x.local(), beta, y.local(), width);
  std::vector<T> all;
  data.multiply(alpha, x.local().data(), beta, y.local().data(), width, all);
}

}  // namespace

template <RealScalar T> void spmv(std::type_identity_t<T> alpha, const DistCsr<T>& a, const dist::Array<T>& x,
                                  std::type_identity_t<T> beta, const dist::Array<T>& y) {
  product<T>("sparse.spmv", alpha, a, x, beta, y, true);
}
template <RealScalar T> void spmm(std::type_identity_t<T> alpha, const DistCsr<T>& a, const dist::Array<T>& b,
                                  std::type_identity_t<T> beta, const dist::Array<T>& c) {
  product<T>("sparse.spmm", alpha, a, b, beta, c, false);
}

#define TRN_DIST_CSR(T)                                                                         \
  template class DistCsr<T>;                                                                    \
  template void spmv<T>(T, const DistCsr<T>&, const dist::Array<T>&, T, const dist::Array<T>&); \
  template void spmm<T>(T, const DistCsr<T>&, const dist::Array<T>&, T, const dist::Array<T>&);
TRN_DIST_CSR(float)
TRN_DIST_CSR(double)
#undef TRN_DIST_CSR

}  // namespace trn::sparse

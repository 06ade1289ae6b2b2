// Stationary-C SUMMA. Every rank of C's grid gets op(A) for its rows and op(B) for its columns, panel after panel along
// k, and adds their product to what it has of C. Where time is modelled a panel is asked for before the one in front of
// it is multiplied, into a second buffer: Neuron's collectives run beside the engines.
//
// Native on the host writes C as it goes: after all ranks have their buffers nothing fails but memory of the kernel's
// own, a MiB. Everything else works on a copy, which replaces C when all ranks have succeeded.
#include "dist/product.hpp"

#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/comm/ahead.hpp>

#include "checks.hpp"
#include "dist/layers.hpp"
#include "dist/panels.hpp"
#include "exact.hpp"
#include "gemm_arguments.hpp"

namespace trn::blas::distributed {

namespace {

// Panels of k have this width whatever the ranks and blocks are. On devices a panel is a launch.
constexpr std::int64_t kHostPanel = 512, kDevicePanel = 2048;
// Columns of a triangle's chunk.
constexpr std::int64_t kChunk = 256;

template <class T> GemmArgs arguments(const Product<T>& p, const MatrixView<const T>& a, const MatrixView<const T>& b,
                                      const MatrixView<T>& c) {
  return gemm_arguments(p.op_a, p.op_b, p.alpha, a, b, p.beta, c);
}

// Rows of a stored left panel, columns of a stored right one.
template <class T> MatrixView<const T> left_rows(const MatrixView<const T>& x, Op op, const Rows& rows) {
  return op == Op::N ? x.block(rows.begin, 0, rows.count(), x.columns())
                     : x.block(0, rows.begin, x.rows(), rows.count());
}
template <class T>
MatrixView<const T> right_columns(const MatrixView<const T>& x, Op op, std::int64_t begin, std::int64_t end) {
  return op == Op::N ? x.block(0, begin, x.rows(), end - begin) : x.block(begin, 0, end - begin, x.columns());
}

template <class T> Matrix<T> packed(const MatrixView<const T>& x) {
  Matrix<T> copied(Executor::host(), x.rows(), x.columns());
  copy(View<const T>(x), View<T>(copied.view()));
  return copied;
}

// The host's modes of float32 on OpenBLAS, whose bits depend on shape and strides: one call per block of C, on copies.
template <class T> void add_in_blocks(const Product<T>& p, const dist::Matrix<T>& c, const MatrixView<const T>& a,
                                      const MatrixView<const T>& b, T beta, Mode mode, const Rows& rows,
                                      std::int64_t begin, std::int64_t end, const MatrixView<T>& out) {
  const std::int64_t mb = c.distribution().row_block, nb = c.distribution().column_block;
  for (std::int64_t j = begin; j < end; j += nb) {
    const std::int64_t last = std::min(j + nb, end);
    const Matrix<T> right = packed(right_columns(b, p.op_b, j, last));
    for (std::int64_t i = rows.begin / mb * mb; i < rows.end; i += mb) {
      const Rows block{i, std::min(i + mb, out.rows())};
      const MatrixView<T> to = out.block(i, j, block.count(), last - j);
      const Matrix<T> left = packed(left_rows(a, p.op_a, block)), result = packed(MatrixView<const T>(to));
      gemm(Executor::host(), p.op_a, p.op_b, p.alpha, left.view(), right.view(), beta, result.view(),
           {.precision = mode});
      copy(View<const T>(MatrixView<const T>(result.view())), View<T>(to));
    }
  }
}

// C += alpha op(A) op(B) for one panel, in a mode that is not Exact.
template <class T> void add_panel(const Product<T>& p, const dist::Matrix<T>& c, const LocalRegion<T>& region,
                                  const MatrixView<const T>& a, const MatrixView<const T>& b, T beta, Mode mode,
                                  const MatrixView<T>& out) {
  const Executor& executor = c.executor();
  const bool device = executor.family() != Family::Host;
  const std::int64_t width = device ? std::max(kChunk, out.columns() / 8) : kChunk;
  region.for_chunks(width, [&](std::int64_t begin, std::int64_t end) {
    const Rows rows = region.wanted(begin, end);
    if (rows.count() <= 0) return;
    const MatrixView<const T> left = left_rows(a, p.op_a, rows), right = right_columns(b, p.op_b, begin, end);
    const MatrixView<T> to = out.block(rows.begin, begin, rows.count(), end - begin);
    if (device) {
      gemm(executor, p.op_a, p.op_b, p.alpha, left, right, beta, to, {.precision = mode});
    } else if (mode == Mode::Native) {
      ordered_gemm<T>(executor, p.op_a, p.op_b, p.alpha, left, right, beta, to);
    } else {
      add_in_blocks(p, c, a, b, beta, mode, rows, begin, end, out);
    }
  });
}

template <class T> Accuracy multiply_exactly(const Product<T>& p, const dist::Matrix<T>& c,
                                             const LocalRegion<T>& region, const MatrixView<const T>& a,
                                             const MatrixView<const T>& b, const MatrixView<T>& out,
                                             comm::Agreement& agreement) {
  const Executor& executor = c.executor();
  const bool empty = out.rows() == 0 || out.columns() == 0;
  exact::Reach reach;
  if (!empty) {
    agreement.attempt([&] {
      const ExactOperands operands(executor, arguments(p, a, b, out));
      reach = exact::reach_of(operands.a, operands.b);
    });
  }
  reach = agree(c.group(), reach);
  Accuracy accuracy{Mode::Exact, 0, 0};
  if (!empty) {
    agreement.attempt([&] {
      region.for_chunks(std::max(kChunk, out.columns() / 8), [&](std::int64_t begin, std::int64_t end) {
        const Rows rows = region.wanted(begin, end);
        if (rows.count() <= 0) return;
        const GemmArgs g = arguments(p, left_rows(a, p.op_a, rows), right_columns(b, p.op_b, begin, end),
                                     out.block(rows.begin, begin, rows.count(), end - begin));
        const Accuracy part = exact_gemm_part(p.operation, executor, g, ExactOperands(executor, g), reach, p.square);
        accuracy.passes = std::max(accuracy.passes, part.passes);
        accuracy.bound = std::max(accuracy.bound, part.bound);
      });
    });
  }
  return accuracy;
}

}  // namespace

exact::Reach agree(const comm::Communicator& group, const exact::Reach& mine) {
  double values[6] = {mine.a.ratio, mine.a.inverse, static_cast<double>(mine.a.span),
                      mine.b.ratio, mine.b.inverse, static_cast<double>(mine.b.span)};
  comm::maximum(group, View<double>(Executor::host(), values, {6}));
  return {{values[0], values[1], static_cast<int>(values[2])}, {values[3], values[4], static_cast<int>(values[5])}};
}

void check_precision(const char* operation, const Precision& precision, DType dtype, Family family) {
  require(!precision.has_target(), "{}: a target error is not offered for distributed operands; ask for a mode",
          operation);
  require_mode(operation, precision.mode(), dtype, family);
}

template <class T> Accuracy multiply(const Product<T>& p, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                     const dist::Matrix<T>& c, Mode mode) {
  const Executor& executor = c.executor();
  const Family family = executor.family();
  // ordered_gemm cuts k itself, so that one rank needs no panels.
  const bool exact = mode == Mode::Exact,
             whole = exact || (c.distribution().grid.size() == 1 && family == Family::Host && mode == Mode::Native),
             in_place = family == Family::Host && mode == Mode::Native && p.region == Region::All;
  const std::int64_t k = p.alpha == T(0)   ? 0
                         : p.op_a == Op::N ? a.columns()
                                           : a.rows(),
                     width = whole                    ? std::max<std::int64_t>(1, k)
                             : family == Family::Host ? kHostPanel
                                                      : kDevicePanel;
  const dist::BlockCyclic& d = c.distribution();
  const dist::Place place(c.group(), d.grid);
  const LocalRegion<T> region(c, p.region, p.hermitian);
  std::optional<Aligned<T>> left, right;
  std::optional<Panels<T>> left_panels, right_panels;
  std::optional<trn::Array<T>> buffer;
  MatrixView<T> out = c.local();
  const bool empty = out.rows() == 0 || out.columns() == 0;
  comm::Agreement agreement(c.group());
  agreement.attempt([&] {
    const auto apart = [&](const char* name, const dist::Matrix<T>& x) {
      if (!empty && x.local().rows() * x.local().columns() > 0)
        checks::no_overlap(p.operation, name, checks::extent(x.local()), "C", checks::extent(c.local()));
    };
    apart("A", a);
    apart("B", b);
    left.emplace(a, p.op_a, d.row_block, 0, d.grid);
    right.emplace(b, p.op_b, 0, d.column_block, d.grid);
    const bool ahead = c.group().clock() && width < k;
    left_panels.emplace(*left, Panels<T>::Side::Left, place, executor, std::min(width, k), ahead);
    right_panels.emplace(*right, Panels<T>::Side::Right, place, executor, std::min(width, k), ahead);
    if (in_place) return;
    buffer.emplace(executor, Shape{out.columns(), out.rows()});
    out = MatrixView<T>::column_major(executor, buffer->data(), out.rows(), out.columns());
    if (p.beta != T(0) && !empty) region.load(out);
  });
  agreement.settle();
  if (c.rows() == 0 || c.columns() == 0) return {mode, passes_of(mode), 0};
  if (k > 0) {
    left->bring();
    right->bring();
  }

  Accuracy accuracy{mode, passes_of(mode), gemm_error_bound(family, dtype_of<T>, dtype_of<T>, k, mode)};
  if (exact) {
    const MatrixView<const T> x = left_panels->fetch(0, k), y = right_panels->fetch(0, k);
    accuracy = multiply_exactly(p, c, region, x, y, out, agreement);
  } else {
    const auto fetch = [&](std::int64_t begin) {
      const std::int64_t depth = std::min(width, k - begin);
      return std::pair(left_panels->fetch(begin, depth), right_panels->fetch(begin, depth));
    };
    // Where time is modelled the next panel is on its way while this one is multiplied.
    auto panel = fetch(0);
    std::int64_t begin = 0;
    do {  // at least once: C = beta C where k is 0
      const auto current = panel;
      const auto add = [&] {
        add_panel(p, c, region, current.first, current.second, begin == 0 ? p.beta : T(1), mode, out);
      };
      const bool ahead = c.group().clock() && begin + width < k;
      if (ahead) {
        const comm::Ahead scope(c.group());
        panel = fetch(begin + width);
      }
      if (!empty) agreement.attempt(add);
      begin += width;
      if (ahead)
        comm::arrive(c.group());
      else if (begin < k)
        panel = fetch(begin);
    } while (begin < k);
    // A device rounds C once more between panels; twice for what second order and the product with alpha are.
    if (family != Family::Host)
      accuracy.bound += 4 * unit_roundoff(dtype_of<T>) * static_cast<double>((k + width - 1) / width);
  }
  agreement.settle();
  if (!in_place && !empty) region.store(out);
  if (exact) {
    accuracy.bound = comm::maximum(c.group(), accuracy.bound);
    accuracy.passes = static_cast<int>(comm::maximum<std::int64_t>(c.group(), accuracy.passes));
  }
  return accuracy;
}

#define TRN_PRODUCT(T)                                                                             \
  template Accuracy multiply<T>(const Product<T>&, const dist::Matrix<T>&, const dist::Matrix<T>&, \
                                const dist::Matrix<T>&, Mode);
TRN_PRODUCT(float)
TRN_PRODUCT(double)
TRN_PRODUCT(std::complex<float>)
TRN_PRODUCT(std::complex<double>)
#undef TRN_PRODUCT

}  // namespace trn::blas::distributed

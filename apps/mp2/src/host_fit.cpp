// Chunks of fitting functions P, as many as make (m, n, P) kChunkElements; the molecule alone decides. For a chunk
//
//   X(i, n, P) = sum_m C_mi (n m|P)    one product (nocc x m) (m x P) for every n, which is one unit of work and reads
//     its integrals once,
//   (P|ia) = sum_n X(i, n, P) C_na     one product (P x n) (n x nvir) for every i, into the panel's own rows.
//
// Then L B_i = (P|ia) for every i in place. Sums for the bound are taken while their numbers are in cache. The products
// err by at most g |A| |B| element by element; with a_n the norms of the rows of (P|nm) and v_n those of C_v, row
// (P|i.) errs by at most
//
//   g1 min(||C_v||_2 sum_n |c_ni| a_n, ||c_i|| sum_n a_n v_n) + g2 min(||X_i(P)|| ||C_v||_F, sum_n |X_in(P)| v_n).
#include "host_fit.hpp"

#include <algorithm>

#include <omp.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>

#include "chunks.hpp"
#include "fit_norms.hpp"
#include "stages.hpp"

namespace trn::mp2 {

namespace {

using blas::Op;

constexpr std::int64_t kChunkElements = std::int64_t{1} << 23;

MatrixView<double> matrix(double* data, std::int64_t rows, std::int64_t columns, std::int64_t ld = 0) {
  return MatrixView<double>::row_major(Executor::host(), data, rows, columns, ld);
}

// squares_P += sum_m a(m, P)^2, and weighted_P += sum_m |a(m, P)| weight_m
void add_squares(const double* a, std::int64_t rows, std::int64_t columns, double* squares) {
  for (std::int64_t m = 0; m < rows; ++m, a += columns) {
#pragma omp simd
    for (std::int64_t p = 0; p < columns; ++p) squares[p] += a[p] * a[p];
  }
}
void add_squares(const double* a, std::int64_t rows, std::int64_t columns, const double* weights, double* squares,
                 double* weighted) {
  for (std::int64_t m = 0; m < rows; ++m, a += columns) {
    const double w = weights[m];
#pragma omp simd
    for (std::int64_t p = 0; p < columns; ++p) {
      squares[p] += a[p] * a[p];
      weighted[p] += std::abs(a[p]) * w;
    }
  }
}

// The panel's rows [row, row + count) where they are, or in a buffer that goes to the file.
class PanelRows {
 public:
  PanelRows(PanelStore<double>& store, std::int64_t naux, std::int64_t nvir)
      : store_(store), naux_(naux), nvir_(nvir), buffers_(static_cast<std::size_t>(omp_get_max_threads())) {}

  template <class Work> void fill(std::int64_t panel, std::int64_t row, std::int64_t count, Work work) {
    if (store_.memory() != nullptr) return work(store_.memory() + (panel * naux_ + row) * nvir_);
    double* buffer = room(count);
    work(buffer);
    store_.write(panel, row, count, buffer);
  }
  template <class Work> void change(std::int64_t panel, Work work) {
    if (store_.memory() != nullptr) return work(store_.memory() + panel * naux_ * nvir_);
    double* buffer = room(naux_);
    store_.read(panel, 1, buffer);
    work(buffer);
    store_.write(panel, 0, naux_, buffer);
  }

 private:
  double* room(std::int64_t rows) {
    std::vector<double>& mine = buffers_[static_cast<std::size_t>(omp_get_thread_num())];
    mine.resize(static_cast<std::size_t>(rows * nvir_));
    return mine.data();
  }
  PanelStore<double>& store_;
  std::int64_t naux_, nvir_;
  std::vector<std::vector<double>> buffers_;
};

class Transform {
 public:
  Transform(const FitInput& in, std::int64_t largest_chunk)
      : errors(in.occupied.columns, in.fitting->size()),
        in_(in),
        n_(in.orbital->size()),
        nocc_(in.occupied.columns),
        nvir_(in.virtuals.columns),
        absolute_(in.occupied),
        two_(two_norm(in.virtuals)),
        frobenius_(norm_of(in.virtuals.data(), n_ * nvir_)),
        half_(std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(nocc_ * n_ * largest_chunk))) {
    for (std::int64_t i = 0; i < nocc_; ++i) norms_.push_back(norm_of(in.occupied.columns_from(i, 1).data(), n_));
    for (std::int64_t n = 0; n < n_; ++n) virtual_rows_.push_back(norm_of(in.virtuals.data() + n * nvir_, nvir_));
    for (double& x : absolute_.values) x = std::abs(x);
  }

  Dense errors;  // of (P|i.), nocc x naux

  void run(const Chunk& chunk, const double* integrals, PanelRows& panels) {
    const std::int64_t size = chunk.size;
    Dense squares(n_, size);
    std::vector<double> bounds(static_cast<std::size_t>(n_)), whole(static_cast<std::size_t>(size));
    for_units(n_, [&](std::int64_t n) {
      const double* a = integrals + n * n_ * size;
      bounds[static_cast<std::size_t>(n)] =
          blas::gemm(Executor::host(), Op::T, Op::N, 1.0, in_.occupied.view(),
                     MatrixView<const double>::row_major(Executor::host(), a, n_, size), 0.0,
                     matrix(half_.get() + n * size, nocc_, size, n_ * size))
              .bound;
      add_squares(a, n_, size, squares.data() + n * size);
    });
    // The norms a_n of the rows of (P|nm), sum_n a_n v_n and sum_n |c_ni| a_n.
    for (double& x : squares.values) x = std::sqrt(x);
    for (std::int64_t n = 0; n < n_; ++n) {
      for (std::int64_t p = 0; p < size; ++p)
        whole[static_cast<std::size_t>(p)] += squares(n, p) * virtual_rows_[static_cast<std::size_t>(n)];
    }
    const Dense weighed = product(absolute_, squares, Op::T);
    for_units(nocc_, [&](std::int64_t i) {
      const double* x = half_.get() + i * n_ * size;
      double second = 0;
      panels.fill(i, chunk.first, size, [&](double* rows) {
        second = blas::gemm(Executor::host(), Op::T, Op::N, 1.0,
                            MatrixView<const double>::row_major(Executor::host(), x, n_, size), in_.virtuals.view(),
                            0.0, matrix(rows, size, nvir_))
                     .bound;
      });
      std::vector<double> sums(static_cast<std::size_t>(size)), weighted(sums.size());
      add_squares(x, n_, size, virtual_rows_.data(), sums.data(), weighted.data());
      for (std::int64_t p = 0; p < size; ++p) {
        const auto k = static_cast<std::size_t>(p);
        errors(i, chunk.first + p) =
            bounds[0] * std::min(two_ * weighed(i, p), norms_[static_cast<std::size_t>(i)] * whole[k]) +
            second * std::min(std::sqrt(sums[k]) * frobenius_, weighted[k]);
      }
    });
  }

 private:
  const FitInput& in_;
  std::int64_t n_, nocc_, nvir_;
  Dense absolute_;  // |C_o|
  double two_, frobenius_;
  std::vector<double> norms_, virtual_rows_;  // of the columns of C_o, of the rows of C_v
  std::unique_ptr<double[]> half_;            // (nocc, n, P)
};

}  // namespace

std::int64_t host_fit_bytes(const FitInput& in, bool in_memory) {
  const Basis fitting = in.fitting->by_momentum();
  const std::int64_t n = in.orbital->size(), naux = fitting.size(), nocc = in.occupied.columns,
                     nvir = in.virtuals.columns, threads = omp_get_max_threads();
  const std::int64_t chunk = largest_chunk(chunks_of(n, fitting, kChunkElements));
  const std::int64_t transforming =
      chunk * n * (n + nocc + 1) + 2 * nocc * naux + threads * (2 * chunk + (in_memory ? 0 : chunk * nvir));
  const std::int64_t solving = nocc * naux + threads * (in_memory ? 0 : naux * nvir),
                     bounding = naux * naux + 2 * nocc * naux + threads * naux * 64;
  return 8 * (3 * n * n + naux * naux + std::max({transforming, solving, bounding})) +
         ThreeCentre::bytes(*in.orbital, fitting, chunk, threads);
}

FitResult host_fit(const FitInput& in, PanelStore<double>& store, std::vector<Stage>& stages) {
  const Basis fitting = in.fitting->by_momentum();
  const std::int64_t n = in.orbital->size(), naux = fitting.size(), nocc = in.occupied.columns,
                     nvir = in.virtuals.columns;
  StageClock clock(stages, Executor::host());
  Dense l;
  clock.run("metric", "float64", [&] { l = fitting_factor(fitting, "choose a smaller set"); });
  PanelRows panels(store, naux, nvir);
  Dense errors;
  {
    std::optional<ThreeCentre> integrals;
    clock.run("three_centre", "float64", [&] { integrals.emplace(*in.orbital, fitting); });
    const std::vector<Chunk> chunks = chunks_of(n, fitting, kChunkElements);
    Transform transform(in, largest_chunk(chunks));
    const auto a = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(largest_chunk(chunks) * n * n));
    for (const Chunk& chunk : chunks) {
      clock.run("three_centre", "float64",
                [&] { integrals->compute_columns(chunk.first_shell, chunk.last_shell, a.get()); });
      clock.run("transform", "float64", [&] { transform.run(chunk, a.get(), panels); });
    }
    errors = std::move(transform.errors);
  }
  FitResult result;
  result.norms.resize(static_cast<std::size_t>(nocc));
  clock.run("fit", "float64", [&] {
    std::vector<double> bounds(static_cast<std::size_t>(nocc));
    for_units(nocc, [&](std::int64_t i) {
      panels.change(i, [&](double* panel) {
        bounds[static_cast<std::size_t>(i)] =
            blas::trsm<double>(Executor::host(), blas::Side::Left, blas::Uplo::Lower, Op::N, blas::Diag::NonUnit, 1.0,
                               l.view(), matrix(panel, naux, nvir))
                .bound;
        result.norms[static_cast<std::size_t>(i)] = norm_of(panel, naux * nvir);
      });
    });
    for (std::int64_t p = 0; p < naux; ++p) {
      const double row = norm_of(l.data() + p * naux, p + 1);
      for (std::int64_t i = 0; i < nocc; ++i)
        errors(i, p) += bounds[static_cast<std::size_t>(i)] * row * result.norms[static_cast<std::size_t>(i)];
    }
  });
  clock.run("bound", "float64", [&] { result.errors = carried_through(l, errors); });
  return result;
}

}  // namespace trn::mp2

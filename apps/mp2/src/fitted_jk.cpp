// Building B once, and J and K from it.
//
// Building: groups of products, about 512 rows, are one unit of work: their integrals with all P, then B = (mn|P) L^-T
// in place, then panel by panel into the store. Each call: a panel is one piece of work, dealt in turn to 16 tasks that
// have sums of their own, added in task order. A panel (rows, 64) is read three times: for d, for J, and for K row by
// row of the square, (m, 64) for each n,
//
//   X(n, i Q) = sum_m C_mi B(mn, Q),      K += X X^T,
//
// with at most 64 orbitals i at a time.
#include <trn/mp2/fitted_jk.hpp>

#include <algorithm>
#include <cmath>

#include <omp.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

namespace {

constexpr std::int64_t kBatchRows = 512, kPanel = 64, kTasks = 16, kOrbitals = 64;

MatrixView<double> matrix(double* data, std::int64_t rows, std::int64_t columns) {
  return MatrixView<double>::row_major(Executor::host(), data, rows, columns);
}

std::int64_t panels_of(std::int64_t naux) { return (naux + kPanel - 1) / kPanel; }

// Groups [first, last) and their rows of B.
struct Batch {
  std::int64_t first, last, row, rows;
};

std::vector<Batch> batches_of(const ThreeCentre& integrals) {
  std::vector<Batch> batches;
  std::int64_t row = 0;
  for (std::int64_t g = 0; g < integrals.groups(); ++g) {
    const auto size = static_cast<std::int64_t>(integrals.products(g).size());
    if (batches.empty() || batches.back().rows + size > kBatchRows) batches.push_back({g, g, row, 0});
    batches.back().last = g + 1;
    batches.back().rows += size;
    row += size;
  }
  return batches;
}

}  // namespace

// The sums of a task, and a thread's room for a panel.
struct FittedJk::Task {
  Dense exchange;
  std::vector<double> coulomb;  // by row of B
  std::vector<double> panel, square, x;
};

FittedJk::FittedJk(const Basis& orbital, const Basis& given, std::int64_t memory_bytes, const std::string& scratch,
                   const Executor& executor)
    : n_(orbital.size()), naux_(given.size()) {
  const Basis fitting = given.by_momentum();
  const ThreeCentre integrals(orbital, fitting);
  for (std::int64_t g = 0; g < integrals.groups(); ++g)
    products_.insert(products_.end(), integrals.products(g).begin(), integrals.products(g).end());
  rows_.assign(static_cast<std::size_t>(n_ * n_), -1);
  for (std::size_t r = 0; r < products_.size(); ++r) {
    const auto [m, n] = products_[r];
    rows_[static_cast<std::size_t>(m * n_ + n)] = rows_[static_cast<std::size_t>(n * n_ + m)] =
        static_cast<std::int64_t>(r);
  }
  const auto rows = static_cast<std::int64_t>(products_.size());
  const std::int64_t panels = panels_of(naux_), threads = omp_get_max_threads(), tasks = std::min(kTasks, panels);
  std::int64_t batch = 0;
  for (const Batch& b : batches_of(integrals)) batch = std::max(batch, b.rows);
  const std::int64_t building =
      8 * (naux_ * naux_ + threads * batch * (naux_ + kPanel)) + ThreeCentre::bytes(orbital, fitting, naux_, threads);
  const auto using_it = [&](bool file) {
    return 8 * (tasks * (n_ * n_ + rows) +
                threads * ((file ? rows * kPanel : 0) + n_ * kPanel * (1 + std::min(n_, kOrbitals))));
  };
  const std::int64_t all = 8 * panels * kPanel * rows, fixed = 8 * (2 * n_ * n_ + rows);
  const bool in_memory = fixed + all + std::max(building, using_it(false)) <= memory_bytes;
  const std::int64_t least = fixed + std::max(building, using_it(true));
  require(in_memory || least <= memory_bytes,
          "mp2: density-fitted J and K of {} fitting and {} orbital functions need {:.2f} MiB besides a temporary file "
          "on {} threads, and --memory is {:.1f} MiB; give "
          "more, fewer threads, or --exact-jk",
          naux_, n_, std::ceil(static_cast<double>(least) / 10485.76) / 100, threads,
          static_cast<double>(memory_bytes) / 1048576);
  using Store = PanelStore<double>;
  store_ =
      std::make_unique<Store>(in_memory ? Store::Place::Memory : Store::Place::File, panels, rows, kPanel, scratch);
  build(executor, integrals, fitting);
}

void FittedJk::build(const Executor& executor, const ThreeCentre& integrals, const Basis& fitting) {
  const Dense l = fitting_factor(fitting, "choose a smaller set or --exact-jk", executor);
  const std::vector<Batch> batches = batches_of(integrals);
  for_units(static_cast<std::int64_t>(batches.size()), [&](std::int64_t k) {
    const Batch& batch = batches[static_cast<std::size_t>(k)];
    Dense b(batch.rows, naux_), part(batch.rows, kPanel);
    integrals.compute_groups(batch.first, batch.last, b.data());
    blas::trsm<double>(Executor::host(), blas::Side::Right, blas::Uplo::Lower, blas::Op::T, blas::Diag::NonUnit, 1.0,
                       l.view(), b.view());
    for (std::int64_t panel = 0; panel < panels_of(naux_); ++panel) {
      const std::int64_t first = panel * kPanel, columns = std::min(kPanel, naux_ - first);
      for (std::int64_t r = 0; r < batch.rows; ++r) {
        double* to = part.data() + r * kPanel;
        std::fill(std::copy_n(b.data() + r * naux_ + first, columns, to), to + kPanel, 0.0);
      }
      store_->write(panel, batch.row, batch.rows, part.data());
    }
  });
}

void FittedJk::add_panel(const double* b, const std::vector<double>& density, const Dense& occupied, Task& task) const {
  double d[kPanel] = {};
  const auto rows = static_cast<std::int64_t>(products_.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const double weight = density[static_cast<std::size_t>(r)];
#pragma omp simd
    for (std::int64_t q = 0; q < kPanel; ++q) d[q] += weight * b[r * kPanel + q];
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t q = 0; q < kPanel; ++q) sum += d[q] * b[r * kPanel + q];
    task.coulomb[static_cast<std::size_t>(r)] += sum;
  }
  for (std::int64_t first = 0; first < occupied.columns; first += kOrbitals) {
    const std::int64_t count = std::min(kOrbitals, occupied.columns - first);
    const auto c = occupied.view().block(0, first, n_, count);
    task.square.resize(static_cast<std::size_t>(n_ * kPanel));
    task.x.resize(static_cast<std::size_t>(n_ * count * kPanel));
    for (std::int64_t n = 0; n < n_; ++n) {
      for (std::int64_t m = 0; m < n_; ++m) {
        const std::int64_t row = rows_[static_cast<std::size_t>(n * n_ + m)];
        double* to = task.square.data() + m * kPanel;
        if (row >= 0)
          std::copy_n(b + row * kPanel, kPanel, to);
        else
          std::fill_n(to, kPanel, 0.0);
      }
      blas::gemm(Executor::host(), blas::Op::T, blas::Op::N, 1.0, c,
                 MatrixView<const double>::row_major(Executor::host(), task.square.data(), n_, kPanel), 0.0,
                 matrix(task.x.data() + n * count * kPanel, count, kPanel));
    }
    blas::syrk(Executor::host(), blas::Uplo::Lower, blas::Op::N, 1.0, matrix(task.x.data(), n_, count * kPanel), 1.0,
               task.exchange.view());
  }
}

CoulombExchange FittedJk::operator()(const Dense& occupied) const {
  std::vector<double> density;  // of the products: both orders of m and n
  for (const auto [m, n] : products_) {
    double sum = 0;
    for (std::int64_t i = 0; i < occupied.columns; ++i) sum += occupied(m, i) * occupied(n, i);
    density.push_back(m == n ? sum : 2 * sum);
  }
  const std::int64_t panels = panels_of(naux_);
  std::vector<Task> tasks(static_cast<std::size_t>(std::min(kTasks, panels)));
  const double* memory = store_->memory();
  for_units(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t) {
    Task& task = tasks[static_cast<std::size_t>(t)];
    task.exchange = Dense(n_, n_);
    task.coulomb.resize(products_.size());
    for (std::int64_t p = t; p < panels; p += kTasks) {
      const std::int64_t size = static_cast<std::int64_t>(products_.size()) * kPanel;
      if (memory == nullptr) {
        task.panel.resize(static_cast<std::size_t>(size));
        store_->read(p, 1, task.panel.data());
      }
      add_panel(memory != nullptr ? memory + p * size : task.panel.data(), density, occupied, task);
    }
    for (auto* room : {&task.panel, &task.square, &task.x}) std::vector<double>().swap(*room);
  });
  CoulombExchange result{Dense(n_, n_), Dense(n_, n_)};
  for (std::size_t r = 0; r < products_.size(); ++r) {
    const auto [m, n] = products_[r];
    double coulomb = 0;
    for (const Task& task : tasks) coulomb += task.coulomb[r];
    result.coulomb(m, n) = result.coulomb(n, m) = coulomb;
  }
  for (std::int64_t m = 0; m < n_; ++m) {
    for (std::int64_t n = 0; n <= m; ++n) {
      double exchange = 0;
      for (const Task& task : tasks) exchange += task.exchange(m, n);
      result.exchange(m, n) = result.exchange(n, m) = exchange;
    }
  }
  return result;
}

}  // namespace trn::mp2

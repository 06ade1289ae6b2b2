// The memory budget against the kernel's account: in a process of its own the largest resident set grows by no more
// than the budget.
#include "mp2_support.hpp"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>

#include <omp.h>

#include <trn/blas/gemm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/mp2/fitted_jk.hpp>
#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2::test {
namespace {

// In bytes: "VmHWM", the largest resident set since the last reset, or "VmRSS", the present one.
std::int64_t status(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return -1;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Buffers that OpenBLAS keeps for each thread, libint's tables, and the program's own pages.
void warm_up() {
  for_units(2 * omp_get_max_threads(), [](std::int64_t) {
    Dense a(600, 600), b(600, 600);
    for (std::int64_t i = 0; i < 600; ++i) a(i, i) = 1;
    blas::gemm(Executor::host(), blas::Op::T, blas::Op::N, 1.0, a.view(), a.view(), 0.0, b.view());
    blas::syrk(Executor::host(), blas::Uplo::Lower, blas::Op::N, 1.0, a.view(), 0.0, b.view());
    blas::trsm<double>(Executor::host(), blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1.0,
                       a.view(), b.view());
    blas::trsm<double>(Executor::host(), blas::Side::Right, blas::Uplo::Lower, blas::Op::T, blas::Diag::NonUnit, 1.0,
                       a.view(), b.view());
  });
  Mp2Options options;
  options.basis = "STO-3G";
  (void)run(molecule("h2o"), options);
  options.precision = Mode::Exact;  // the probe of Exact, once in a process
  (void)run(molecule("h2o"), options);
}

// How far the resident set rises above where it was.
template <class Work> std::int64_t growth(Work work) {
  malloc_trim(0);
  reset_peak();
  const std::int64_t before = status("VmRSS");
  work();
  return status("VmHWM") - before;
}

bool within(const char* what, std::int64_t grown, std::int64_t budget, std::int64_t otherwise) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const bool fine = true;  // their own memory is many times the program's
#else
  const bool fine = grown > 0 && grown <= budget && otherwise > budget;
#endif
  std::fprintf(stderr, "%s: grew by %.1f MiB, budget %.1f MiB, without a budget %.1f MiB\n", what,
               static_cast<double>(grown) / (1 << 20), static_cast<double>(budget) / (1 << 20),
               static_cast<double>(otherwise) / (1 << 20));
  return fine;
}

bool fitted_jk_stays_within() {
  const Molecule benzene = molecule("benzene");
  const Basis orbital(bundled_basis("cc-pVDZ"), benzene), fitting(bundled_basis("cc-pVDZ-JKFIT"), benzene);
  Dense c(orbital.size(), 21);
  for (std::int64_t i = 0; i < 21; ++i) c(5 * i, i) = 1;
  const std::int64_t budget = least_memory([&] { FittedJk(orbital, fitting, 1000); }, "functions need ");
  const auto work = [&](std::int64_t memory) { return growth([&] { (void)FittedJk(orbital, fitting, memory)(c); }); };
  const std::int64_t grown = work(budget);
  return within("fitted J and K", grown, budget, work(std::int64_t{1} << 31));
}

// With just enough memory to keep the integrals, and with one byte less: neither exceeds it, and the first uses most of
// it.
bool exact_jk_stays_within() {
  const Molecule benzene = molecule("benzene");
  const Basis orbital(bundled_basis("6-31G*"), benzene);
  Dense d(orbital.size(), orbital.size());
  for (std::int64_t i = 0; i < orbital.size(); ++i) d(i, i) = 1;
  const std::int64_t budget = FourCentre(orbital, std::int64_t{1} << 31).bytes_to_keep();
  bool kept = false;
  const auto work = [&](std::int64_t memory) {
    return growth([&] {
      FourCentre jk(orbital, memory);
      kept = jk.kept();
      (void)jk(d);
    });
  };
  const std::int64_t grown = work(budget);
  const bool first = kept;
  const std::int64_t less = work(budget - 1);
  std::fprintf(stderr, "exact J and K: grew by %.1f MiB, budget %.1f MiB, with less %.1f MiB\n",
               static_cast<double>(grown) / (1 << 20), static_cast<double>(budget) / (1 << 20),
               static_cast<double>(less) / (1 << 20));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return first && !kept;  // their own memory is many times the program's
#else
  return first && !kept && grown > budget / 2 && grown <= budget && less <= budget;
#endif
}

Scf made_up(const Basis& orbital, std::int64_t occupied) {
  Scf scf;
  scf.converged = true;
  scf.occupied = occupied;
  scf.orbitals = Dense(orbital.size(), orbital.size());
  for (std::int64_t i = 0; i < orbital.size(); ++i) {
    scf.orbitals(i, i) = 1;
    scf.orbital_energies.push_back(i < scf.occupied ? -2.0 : 1.0);
  }
  return scf;
}

bool df_mp2_stays_within() {
  const Molecule benzene = molecule("benzene");
  const Basis orbital(bundled_basis("cc-pVDZ"), benzene), fitting(bundled_basis("cc-pVDZ-RI"), benzene);
  const Scf scf = made_up(orbital, 57);  // as large a B as there can be
  const auto call = [&](std::int64_t memory) {
    return df_mp2(Executor::host(), scf, orbital, fitting, {.memory_bytes = memory});
  };
  const std::int64_t budget = least_memory([&] { (void)call(1000); }, "give at least ");
  const auto work = [&](std::int64_t memory) { return growth([&] { (void)call(memory); }); };
  const std::int64_t grown = work(budget);
  return within("df_mp2", grown, budget, work(std::int64_t{1} << 31));
}

// Exact on the host: what the products take is part of the budget.
bool exact_mp2_stays_within() {
  const Molecule benzene = molecule("benzene");
  const Basis orbital(bundled_basis("cc-pVDZ"), benzene), fitting(bundled_basis("cc-pVDZ-RI"), benzene);
  const Scf scf = made_up(orbital, 12);
  const auto call = [&](std::int64_t memory) {
    return df_mp2(Executor::host(), scf, orbital, fitting, {.precision = Mode::Exact, .memory_bytes = memory});
  };
  const std::int64_t budget = least_memory([&] { (void)call(1000); }, "give at least ");
  const std::int64_t grown = growth([&] { (void)call(budget); });
  return within("exact df_mp2", grown, budget, budget + 1);
}

TEST(MemoryDeathTest, PeakStaysWithinTheBudget) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process
  EXPECT_EXIT(
      {
        warm_up();
        const bool first = fitted_jk_stays_within();
        const bool second = df_mp2_stays_within();
        const bool third = exact_jk_stays_within();
        std::exit(first && second && third ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "fitted J and K: grew by .*df_mp2: grew by .*exact J and K: grew by");
}

TEST(MemoryDeathTest, ExactStaysWithinTheBudget) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        warm_up();
        std::exit(exact_mp2_stays_within() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "exact df_mp2: grew by");
}

}  // namespace
}  // namespace trn::mp2::test

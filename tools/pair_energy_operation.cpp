// blas.pair_energy for the command line: a random molecule whose integrals decay, measured and modelled time, and the
// error of the energy beside its bound, both relative to the energy. The reference is the same operation in double on
// the host.
#include <cmath>
#include <random>

#include <trn/blas/counts.hpp>
#include <trn/blas/pair_energy.hpp>
#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "roofs.hpp"

namespace trn::tools {

namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 16;

class PairEnergy final : public Operation {
 public:
  std::string name() const override { return "blas.pair_energy"; }
  std::string summary() const override { return "energy of density-fitted MP2 from B(i, P, a)"; }
  std::string error_note() const override {
    return "|E - E in float64 on the host| / |E|, and the bound for the data at hand";
  }

  void add_options(Options& options) override {
    options.number("--nocc", nocc_, "occupied orbitals", 1, kExtentMax);
    options.number("--naux", naux_, "auxiliary functions", 1, kExtentMax);
    options.number("--nvir", nvir_, "virtual orbitals", 1, kExtentMax);
    options.number("--left", left_,
                   "only pairs of one of the first so many orbitals and one of the others; 0: all pairs", 0,
                   std::int64_t{1} << 16);
    options.text("--dtype", dtype_, "fp32, or fp64 (on simulators in exact precision)", {"fp32", "fp64"});
    options.text("--precision", precision_, "of fp32 on simulators: native, tf32, bf16, tf32x3 or bf16x6",
                 {"native", "tf32", "bf16", "tf32x3", "bf16x6"});
  }

  tile::Program program(const tile::Machine& machine) const override {
    if (dtype_ == "fp64") return blas::sliced_pair_energy_program({nocc_, naux_, nvir_, left_}, machine);
    return blas::pair_energy_program({.mode = mode(), .nocc = nocc_, .naux = naux_, .nvir = nvir_, .left = left_},
                                     machine);
  }

  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    return dtype_ == "fp64" ? run<double>(r, executor, options) : run<float>(r, executor, options);
  }

 private:
  Mode mode() const { return dtype_ == "fp64" ? Mode::Exact : Precision::parse(precision_).mode(); }

  template <class T> void run(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const bool simulated = executor.family() == Family::Device;
    r.dtype = trn::name(dtype_of<T>);
    r.precision = simulated ? trn::name(mode()) : "native";
    r.shape = {{"nocc", nocc_}, {"naux", naux_}, {"nvir", nvir_}};
    if (left_ > 0) r.shape.emplace_back("left", left_);
    r.work =
        blas::counts::pair_energy(static_cast<double>(blas::PairRange{nocc_, left_}.count()),
                                  static_cast<double>(nocc_), static_cast<double>(naux_), static_cast<double>(nvir_))
            .flops;
    r.roof = roof(executor);
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
      return;
    }
    const std::vector<double> b = integrals(), low = energies(nocc_, -1.9, -0.4), high = energies(nvir_, 0.05, 3);
    Recorder recorder(executor);
    blas::PairEnergy energy;
    const auto call = [&](const Executor& e, auto type, const blas::PairEnergyOptions& with) {
      using X = decltype(type);
      const auto on = [&](const std::vector<double>& v, Shape shape) {
        return Array<X>::from_host(e, std::move(shape), std::vector<X>(v.begin(), v.end()));
      };
      const auto db = on(b, {nocc_, naux_, nvir_}), dl = on(low, {nocc_}), dh = on(high, {nvir_});
      return measure(e, e == executor ? options.repeats : 1,
                     [&] { energy = blas::pair_energy(e, db.view(), dl.view(), dh.view(), with); });
    };
    (void)call(Executor::host(), double{}, {.left = left_});
    const double exact = energy.opposite_spin + energy.same_spin;
    recorder.clear();
    const Measured measured = call(executor, T{}, {.precision = simulated ? mode() : Mode::Native, .left = left_});
    ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor.name());
    r.seconds = measured.fastest_s;
    r.error = std::abs((energy.opposite_spin + energy.same_spin) / exact - 1);
    r.bound = energy.accuracy.bound / std::abs(exact);
    r.modelled_seconds = modelled_time(executor, recorder);
  }

  // On a device of the products of words or slices that the mode forms.
  double roof(const Executor& executor) const {
    constexpr int kSlicePairs = 26;  // of two times six slices
    return flop_roof(executor, dtype_ == "fp64" ? DType::Float64 : DType::Float32, mode(), kSlicePairs);
  }

  // Rounded to float for float runs, so that they and the reference see the same molecule.
  std::vector<double> integrals() const {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<double> b;
    b.reserve(static_cast<std::size_t>(nocc_ * naux_ * nvir_));
    for (std::int64_t row = 0; row < nocc_ * naux_; ++row) {
      const double decay = 0.1 * std::exp(-4.0 * static_cast<double>(row % naux_) / static_cast<double>(naux_));
      for (std::int64_t a = 0; a < nvir_; ++a) b.push_back(rounded(decay * normal(random)));
    }
    return b;
  }
  double rounded(double x) const { return dtype_ == "fp64" ? x : static_cast<float>(x); }
  std::vector<double> energies(std::int64_t count, double from, double to) const {
    std::vector<double> e;
    for (std::int64_t i = 0; i < count; ++i)
      e.push_back(rounded(from + (to - from) * static_cast<double>(i) / static_cast<double>(count)));
    return e;
  }

  std::int64_t nocc_ = 4, naux_ = 256, nvir_ = 128, left_ = 0;
  std::string dtype_ = "fp32", precision_ = "tf32x3";
};

}  // namespace

std::unique_ptr<Operation> pair_energy_operation() { return std::make_unique<PairEnergy>(); }

}  // namespace trn::tools

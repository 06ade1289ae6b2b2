// Factored tridiagonal systems for the command line: `trnsci bench sparse.tridiagonal --n 1024 --count 128`.
#include <cmath>

#include <trn/sparse/counts.hpp>
#include <trn/sparse/tridiagonal_programs.hpp>

#include "program_bench.hpp"

namespace trn::tools {

std::unique_ptr<Operation> sparse_tridiagonal_operation();

namespace {

class Tridiagonal final : public ProgramBench {
 public:
  std::string name() const override { return "sparse.tridiagonal.solve"; }
  std::string summary() const override { return "x = A^-1 b for factored tridiagonal systems"; }
  std::string error_note() const override { return "largest |b - A x|_i in units of (|L||U||x|)_i (tridiagonal.hpp)"; }
  void add_options(Options& options) override {
    options.number("--n", n_, "unknowns of a system");
    options.number("--count", count_, "systems");
    options.text("--order", order_, "unknowns of a system, or systems, side by side in memory",
                 {"systems", "unknowns"});
  }
  tile::Program program(const tile::Machine& machine) const override {
    const auto [row, column] = strides();
    return sparse::tridiagonal_program({n_, count_, row, column}, machine);
  }

 protected:
  BenchShape extents() const override { return {{"n", n_}, {"count", count_}, {"kernel", std::string("scan")}}; }
  double device_peak(const tile::Machine& machine) const override {  // two scans of a lane
    return static_cast<double>(machine.partitions) * machine.vector_hz / machine.timing.scan_cycles * 2;
  }
  double work() const override {
    return sparse::counts::tridiagonal(static_cast<double>(n_), static_cast<double>(count_), sizeof(float)).flops;
  }
  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    const std::int64_t size = n_ * count_;
    const auto numbers = [&](std::uint64_t state, float more) {
      std::vector<float> v(static_cast<std::size_t>(size));
      for (float& x : v) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        x = static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1) + more;
      }
      return v;
    };
    const std::vector<float> low = numbers(1, 0), mid = numbers(2, 4), up = numbers(3, 0), b = numbers(4, 0);
    const auto there = [&](const std::vector<float>& v) { return Array<float>::from_host(e, {size}, v); };
    const Array<float> l = there(low), d = there(mid), u = there(up), right = there(b), x = there(b);
    const auto [rs, cs] = strides();
    const auto view = [&, rows = rs, columns = cs](const Array<float>& a) {
      return MatrixView<float>(e, a.data(), n_, count_, rows, columns);
    };
    const sparse::TridiagonalPlan<float> plan(e, view(l), view(d), view(u));
    const Measured measured = measure(e, repeats, [&] {
      copy(View<const float>(right.view()), x.view());
      (void)plan.solve(view(x));
    });
    const std::vector<float> got = x.to_host();
    double largest = 0;
    for (std::int64_t k = 0; k < count_; k += std::max<std::int64_t>(1, count_ / 16)) {
      const auto at = [&, rows = rs, columns = cs](const std::vector<float>& v, std::int64_t i) -> long double {
        return i < 0 || i >= n_ ? 0 : v[static_cast<std::size_t>(i * rows + k * columns)];
      };
      long double pivot = 0, factor = 0, before = 0;
      for (std::int64_t i = 0; i < n_; ++i) {
        const long double lower = i > 0 ? at(low, i) : 0, upper = i + 1 < n_ ? at(up, i) : 0;
        pivot = at(mid, i) - lower * factor, factor = upper / pivot;
        const long double weight = std::abs(at(got, i)) + std::abs(factor * at(got, i + 1));
        const long double bound = std::abs(pivot) * weight + std::abs(lower) * before;
        before = weight;
        const long double r = at(b, i) - lower * at(got, i - 1) - at(mid, i) * at(got, i) - upper * at(got, i + 1);
        if (bound > 0) largest = std::max(largest, static_cast<double>(std::abs(r) / bound));
      }
    }
    row.error = largest;
    row.bound = 9 * 0x1p-24;
    return measured;
  }

 private:
  std::pair<std::int64_t, std::int64_t> strides() const {
    return order_ == "systems" ? std::pair{count_, std::int64_t{1}} : std::pair{std::int64_t{1}, n_};
  }
  std::int64_t n_ = 1024, count_ = 128;
  std::string order_ = "systems";
};

}  // namespace

std::unique_ptr<Operation> sparse_tridiagonal_operation() { return std::make_unique<Tridiagonal>(); }

}  // namespace trn::tools
